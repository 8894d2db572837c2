# SPDX-License-Identifier: BSD-3-Clause
"""`surety-lab papers` in its short form: no row misses but those that are known to, with a reason (exit status 0).

Of each paper what takes seconds; `tests/run --all` has the rest (stage `papers`).
"""
import json
import pathlib
import subprocess

import pytest

LAB = pathlib.Path(__file__).parents[2] / "build/release/bin/surety-lab"
PAPERS = {"gtfrc": "gtfrc-fig2*", "tfrc": "*", "csa": "csa-signal-loss", "ard": "ard-tail-drop", "gtcp": "gtcp-basic"}


def papers(*arguments):
    return subprocess.run([LAB, "papers", *arguments], text=True, capture_output=True, timeout=300)


@pytest.mark.parametrize("paper", PAPERS)
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
