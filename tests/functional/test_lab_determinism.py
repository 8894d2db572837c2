# SPDX-License-Identifier: BSD-3-Clause
"""A run of the lab is a function of (scenario, seed): the same bytes from the release build and from the one with sanitizers,
which another compiler makes without optimisation, with one core and with two."""
import os
import pathlib

import pytest

from namespaces import sh
from router import ROOT

LAB = pathlib.Path(os.environ.get("SURETY_LAB", ROOT / "build/release/bin/surety-lab"))
OTHER = pathlib.Path(os.environ.get("SURETY_LAB_OTHER", ROOT / "build/asan/bin/surety-lab"))
needs_lab = pytest.mark.skipif(not LAB.exists(), reason=f"no {LAB}; build it, or name it with SURETY_LAB=")
needs_other = pytest.mark.skipif(not OTHER.exists(),
                                 reason=f"no {OTHER}: `cmake --build --preset asan --target surety-lab` builds it")
pytestmark = needs_lab

EXAMPLES = sorted((ROOT / "config/examples").glob("lab-*.yaml"))
# A quarter of them: they are many and alike.
PAPERS = sorted((ROOT / "tests/lab/papers/scenarios").glob("*.yaml"))[::4]
SHORT = ["--set", "duration=5 s", "--set", "measure=null"]  # `null`: the whole run


def run(program, scenario, *arguments):
    done = sh(program, "run", scenario, *SHORT, *arguments, timeout=120)
    assert done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def release():
    """Each scenario's output as JSON, made once."""
    made = {}

    def of(scenario):
        if scenario not in made:
            made[scenario] = run(LAB, scenario, "--json", "--seeds", "3", "--threads", "1")
        return made[scenario]
    return of


def test_there_are_scenarios_to_compare():
    assert EXAMPLES


@pytest.mark.parametrize("scenario", EXAMPLES + PAPERS, ids=lambda path: path.stem)
def test_two_cores_and_another_process_change_nothing(release, scenario):
    assert run(LAB, scenario, "--json", "--seeds", "3", "--threads", "2") == release(scenario)


@needs_other
@pytest.mark.parametrize("scenario", EXAMPLES + PAPERS, ids=lambda path: path.stem)
def test_another_compiler_changes_nothing(release, scenario):
    assert run(OTHER, scenario, "--json", "--seeds", "3", "--threads", "1") == release(scenario)


@needs_other
@pytest.mark.parametrize("scenario", EXAMPLES, ids=lambda path: path.stem)
def test_text_and_report_are_the_same_too(scenario, tmp_path):
    assert (run(OTHER, scenario, "--seeds", "2", "--report", tmp_path / "other") ==
            run(LAB, scenario, "--seeds", "2", "--report", tmp_path / "release"))
    names = {path.name for path in (tmp_path / "release").iterdir()}
    assert "index.html" in names and names == {path.name for path in (tmp_path / "other").iterdir()}
    for name in names:
        assert (tmp_path / "other" / name).read_bytes() == (tmp_path / "release" / name).read_bytes(), name
