# SPDX-License-Identifier: BSD-3-Clause
"""What tests/run counts, from reports as GoogleTest and pytest write them."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tally  # noqa: E402

GTEST = """<testsuites><testsuite name="Rio">
<testcase name="Accepts" status="run" result="completed" classname="Rio"/>
<testcase name="Drops" status="run" result="completed" classname="Rio">{}</testcase>
<testcase name="Later" status="notrun" result="suppressed" classname="Rio"/>
</testsuite></testsuites>"""
PYTEST = """<testsuites><testsuite><testcase classname="t" name="a"/>
<testcase classname="t" name="b"><skipped/></testcase><testcase classname="t" name="c"><error/></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize("status, report, last", [
    (0, GTEST.format(""), "2 passed, 0 failed, 1 skipped"),
    (8, GTEST.format("<failure/>"), "1 passed, 1 failed, 1 skipped"),
    (8, GTEST.format(""), "2 passed, 1 failed, 1 skipped"),  # a sanitizer spoke at exit
    (8, GTEST[:60], "0 passed, 1 failed, 0 skipped"),  # died while it wrote
    (1, PYTEST, "1 passed, 1 failed, 1 skipped"),
    (0, None, "1 passed, 0 failed, 0 skipped"),
    (3, None, "0 passed, 1 failed, 0 skipped"),
])
def test_a_stage(tmp_path, capsys, status, report, last):
    (tmp_path / "unit.status").write_text(f"{status} 12")
    if report:
        (tmp_path / "unit").mkdir()
        (tmp_path / "unit/unit_aqm.xml").write_text(report)
    assert tally.main(tmp_path) == (0 if status == 0 else 1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == last
    assert lines[1].split()[:3] == ["unit", "12", "s"]
    assert any(line.startswith("failed: unit: ") for line in lines) == (status != 0)


def test_nothing_run_is_no_success(tmp_path):
    assert tally.main(tmp_path) == 1


@pytest.mark.parametrize("everything, total", [("", 100), ("yes", 20)])
def test_a_stage_far_over_its_budget_is_told_and_is_no_failure(tmp_path, capsys, monkeypatch, everything, total):
    budget = tmp_path / "budget"
    budget.write_text("# comment\nunit 10\nfuzz 10\ntotal 100\nall 20\n")
    monkeypatch.setenv("ALL", everything)
    monkeypatch.setattr(tally, "BUDGET", budget)
    (tmp_path / "unit.status").write_text("0 15")
    (tmp_path / "fuzz.status").write_text("0 16")
    assert tally.main(tmp_path, 31) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "over budget" in rows["fuzz"] and "over budget" not in rows["unit"]
    assert ("over budget" in rows["total"]) == (31 > 1.5 * total)
    assert rows["unit"].split()[3:5] == ["10", "s"] and rows["total"].split()[1:5] == ["31", "s", str(total), "s"]


def test_what_was_left_out_is_told(tmp_path, capsys):
    (tmp_path / "release.status").write_text("1 5")
    (tmp_path / "functional.left").touch()
    assert tally.main(tmp_path) == 1
    assert "not run, since a stage before it failed: functional" in capsys.readouterr().out


def test_the_slowest_of_a_stage(tmp_path, capsys):
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit.started").write_text("0")
    cases = "".join(f'<testcase classname="t" name="n{n}" time="{n}.5"/>' for n in range(12))
    (tmp_path / "unit/a.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    tally.slowest(tmp_path, "unit")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == tally.SLOWEST and lines[0].split() == ["11.5", "s", "t.n11"]


def test_of_a_build_the_objects_of_this_run(tmp_path):
    log = tmp_path / ".ninja_log"
    log.write_text("# ninja log v5\n0\t1500\t100\told.o\tff\n10\t2510\t200\tnew.o\tff\n")
    assert list(tally.objects(log, 150)) == [("new.o", 2.5)]


def test_runs_that_end_differently_are_named(tmp_path, capsys):
    for run, failure in (("1", ""), ("2", "<failure/>")):
        (tmp_path / run / "unit").mkdir(parents=True)
        (tmp_path / run / "unit.status").write_text(f"{8 if failure else 0} 1")
        (tmp_path / run / "unit/unit_aqm.xml").write_text(GTEST.format(failure))
    assert tally.compare([tmp_path / "1", tmp_path / "2"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["not the same each time: unit: Rio.Drops: passed, failed", "2 runs, 1 tests not the same each time"]
