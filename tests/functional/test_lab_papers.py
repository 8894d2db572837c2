# SPDX-License-Identifier: BSD-3-Clause
"""The papers' rows in their short form: every band that we claim is met, and every pin holds (exit status 0).

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


@pytest.mark.parametrize("paper", [pytest.param(p, marks=[pytest.mark.long("CSA's Table 2 takes as long as the other four papers")]
                                                if p == "csa" else []) for p in PAPERS])
def test_every_claimed_band_and_pin_holds(paper):
    run = subprocess.run([LAB, "papers", "--only", paper, "--quick", "--experiment", PAPERS[paper], "--json"], text=True,
                         capture_output=True, timeout=300)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    failed = [(r["experiment"], r["what"], r["mean"], r["band"], r["pin"], r["verdict"]) for r in rows
              if r["verdict"] not in ("met", "pinned", "printed", "not run")]
    assert rows and failed == []
    assert run.returncode == 0, run.stderr
