# SPDX-License-Identifier: BSD-3-Clause
"""`surety-lab papers` in its short form: no row misses but those that are known to, with a reason (exit status 0).

Of each paper what takes seconds; `tests/run --all` has the rest (stage `papers`).
"""
import json
import pathlib
import statistics
import subprocess

import pytest

LAB = pathlib.Path(__file__).parents[2] / "build/release/bin/surety-lab"
SCENARIOS = pathlib.Path(__file__).parents[1] / "lab/papers/scenarios"
PAPERS = [("gtfrc", "gtfrc-fig2*"), ("gtfrc", "gtfrc-beyond*"), ("tfrc", "*"), ("ard", "ard-tail-drop"), ("gtcp", "gtcp-start")]


def papers(*arguments):
    return subprocess.run([LAB, "papers", *arguments], text=True, capture_output=True, timeout=1200)


@pytest.mark.parametrize(("paper", "experiments"), PAPERS)
def test_no_row_misses_unexplained(paper, experiments):
    run = papers("--only", paper, "--quick", "--experiment", experiments, "--json")
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert rows and [(r["experiment"], r["what"], r["x"], r["mean"], r["band"], r["verdict"]) for r in rows if r["fails"]] == []
    assert run.returncode == 0, run.stderr


def test_a_congested_core_costs_a_long_path_nothing_of_its_rate():
    """Case D of CSA's Table 3 at RTT 130 ms; alpha alone gives a RoS of 88 % and 1,440 kbit/s."""
    delays = (f"links.{link}.delay=32.5 ms" for link in ("edge.up~core.assured", "plain.up~core.plain", "core.out~sink"))
    settings = ["duration=60 s", "measure=20 s - 60 s", "hosts.be.times=40", *delays,
                *(f"routers.edge.services.{phb}.{key}" for phb in ("phb1", "phb3") for key in ("alpha.control=search", "out_from_backlog=on"))]
    run = subprocess.run([LAB, "run", SCENARIOS / "csa-scenario2.yaml", "--json", "--set", *settings], text=True, capture_output=True,
                         timeout=1200, check=True)
    flows = [flow for flow in json.loads(run.stdout)["flows"] if flow["name"].startswith("af1#")]
    assert len(flows) == 13 and statistics.fmean(flow["ros"] for flow in flows) >= 0.98
    assert statistics.fmean(flow["delivered_bps"] for flow in flows) >= 0.98 * 1600e3


def test_figures_and_rows_of_an_experiment(directory):
    options = ["--experiment", "gtfrc-fig11", "--seeds", "1", "--results", directory / "runs", "--report", directory / "report"]
    first, again = papers(*options), papers(*options)
    assert again.stdout == first.stdout and "near 800" not in first.stdout and "0 runs in" in again.stderr
    assert "gtfrc-fig11" in (directory / "report/summary.md").read_text()
    assert (directory / "report/gtfrc-fig11.svg").read_text().count("<svg") == 1


def test_four_shards_print_the_bytes_of_one_run(directory):
    options = ["--experiment", "gtfrc-fig6", "--seeds", "1"]
    shards = [papers(*options, "--shard", f"{index}/4", "--results", directory / f"shard{index}") for index in range(4)]
    assert [shard.returncode for shard in shards] == [0] * 4 and all(": 0 of 0 runs" not in shard.stdout for shard in shards)
    merged, one = papers("merge", *directory.glob("shard*")), papers(*options, "--results", directory / "one")
    assert merged.stdout == one.stdout and (merged.returncode, merged.stderr) == (one.returncode, "") and "gtfrc-fig6" in one.stdout
