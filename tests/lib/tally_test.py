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
