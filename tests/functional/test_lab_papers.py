# SPDX-License-Identifier: BSD-3-Clause
"""`surety-lab papers` in its short form: no row misses but those that are known to, with a reason (exit status 0).

All of gTFRC and TFRC/TCP/UDP; of the others what a minute allows. `surety-lab papers` runs the rest.
"""
import json
import pathlib
import subprocess

import pytest

LAB = pathlib.Path(__file__).parents[2] / "build/release/bin/surety-lab"
PAPERS = {
    "gtfrc": "*",
    "tfrc": "*",
    "csa": "csa-table2",
    "ard": "ard-tail-drop",
    "gtcp": "gtcp-basic",
}


def papers(*arguments):
    return subprocess.run([LAB, "papers", *arguments], text=True, capture_output=True, timeout=300)


MARKS = {"csa": pytest.mark.long("CSA's Table 2 takes as long as the other four papers")}


@pytest.mark.parametrize("paper", [pytest.param(p, marks=MARKS.get(p, ())) for p in PAPERS])
def test_no_row_misses_unexplained(paper):
    run = papers("--only", paper, "--quick", "--experiment", PAPERS[paper], "--json")
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert rows and [(r["experiment"], r["what"], r["x"], r["mean"], r["band"], r["verdict"]) for r in rows if r["fails"]] == []
    assert run.returncode == 0, run.stderr


def test_figures_and_rows_of_an_experiment(directory):
    options = ["--experiment", "gtfrc-fig11", "--seeds", "1", "--results", directory / "runs", "--report", directory / "report"]
    first, again = papers(*options), papers(*options)
    assert again.stdout == first.stdout and "near 800" not in first.stdout and "0 runs in" in again.stderr
    assert "gtfrc-fig11" in (directory / "report/summary.md").read_text()
    assert (directory / "report/gtfrc-fig11.svg").read_text().count("<svg") == 1
