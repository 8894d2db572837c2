# SPDX-License-Identifier: BSD-3-Clause
"""What tests/run counts, from reports as GoogleTest, CTest and pytest write them."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import tally  # noqa: E402

GTEST = """<testsuites><testsuite name="Rio">
<testcase name="Accepts" status="run" result="completed" classname="Rio"/>
<testcase name="Drops" status="run" result="completed" classname="Rio">{}</testcase>
<testcase name="Later" status="notrun" result="suppressed" classname="Rio"/>
</testsuite></testsuites>"""


def ctest(**programs):
    rows = "".join(f'<testcase name="{name}" classname="{name}" status="{status}"/>' for name, status in programs.items())
    return f"<testsuite>{rows}</testsuite>"


def write(directory, **files):
    for name, text in files.items():
        path = directory / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def outcomes(directory):
    return sorted(how for _, how in tally.tally(directory))


def test_counts_tests_and_not_programs(tmp_path):
    write(tmp_path, unit_release_dot_status="0", release__ctest_dot_junit=ctest(unit_aqm="run", config_schema="run"),
          release__unit_aqm_dot_xml=GTEST.format(""))
    assert outcomes(tmp_path) == ["passed", "passed", "passed", "skipped"]


def test_a_failed_test_counts_once(tmp_path):
    write(tmp_path, unit_release_dot_status="8", release__ctest_dot_junit=ctest(unit_aqm="fail"),
          release__unit_aqm_dot_xml=GTEST.format("<failure/>"))
    assert outcomes(tmp_path) == ["failed", "passed", "skipped"]


def test_a_sanitizer_that_speaks_at_exit_is_a_failure(tmp_path):
    write(tmp_path, unit_asan_dot_status="8", asan__ctest_dot_junit=ctest(unit_aqm="fail"),
          asan__unit_aqm_dot_xml=GTEST.format(""))
    assert outcomes(tmp_path) == ["failed", "passed", "passed", "skipped"]


def test_a_crash_leaves_half_a_report_or_none(tmp_path):
    write(tmp_path, unit_release_dot_status="8", release__ctest_dot_junit=ctest(unit_aqm="fail", unit_config="fail"),
          release__unit_aqm_dot_xml=GTEST[:60])
    assert outcomes(tmp_path) == ["failed", "failed"]


def test_a_stage_without_report_counts_as_one(tmp_path):
    write(tmp_path, format_dot_status="1", layering_dot_status="0", functional_dot_status="3")
    assert outcomes(tmp_path) == ["failed", "failed", "passed"]


def test_pytest(tmp_path):
    write(tmp_path, functional_dot_status="1", functional__pytest_dot_xml="""<testsuites><testsuite>
        <testcase classname="t" name="a"/><testcase classname="t" name="b"><skipped/></testcase>
        <testcase classname="t" name="c"><error/></testcase></testsuite></testsuites>""")
    assert outcomes(tmp_path) == ["failed", "passed", "skipped"]


def test_last_line_and_status(tmp_path, capsys):
    write(tmp_path, layering_dot_status="0")
    assert tally.main(tmp_path) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"
    write(tmp_path, format_dot_status="1")
    assert tally.main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == ["failed: format: format", "1 passed, 1 failed, 0 skipped"]


def test_nothing_run_is_no_success(tmp_path):
    assert tally.main(tmp_path) == 1
