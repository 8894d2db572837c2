# SPDX-License-Identifier: BSD-3-Clause
"""`tally.py DIRECTORY`: counts what tests/run left there; the last line says N passed, N failed, N skipped.

STAGE.status            exit status of a stage; a stage without reports counts as one test
STAGE/ctest.junit       CTest's report; a program that wrote its own PROGRAM.xml (GoogleTest) counts by that
STAGE/pytest.xml
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

REPORTS = {"unit_release": "release", "unit_asan": "asan", "unit_tsan": "tsan", "scripts": "scripts",
           "functional": "functional"}


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
        return "failed"
    if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
        return "skipped"
    return "passed"


def cases(file):
    """{(class, name): outcome} would hide repeated names: a list of (full name, outcome)."""
    try:
        root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError:  # the program died while it wrote
        return []
    return [(f"{c.get('classname', '')}.{c.get('name')}", outcome(c)) for c in root.iter("testcase")]


def ctest(directory):
    """A program that failed though none of its own tests did (a sanitizer's word at exit, a crash) is a failure."""
    results = []
    for program, how in cases(directory / "ctest.junit"):
        name = program.split(".", 1)[1]
        own = cases(directory / f"{name}.xml") if (directory / f"{name}.xml").exists() else []
        results += own
        if not own or (how == "failed" and all(o != "failed" for _, o in own)):
            results.append((name, how))
    return results


def stage(directory, name, status):
    reports = directory / REPORTS.get(name, name)
    results = []
    if (reports / "ctest.junit").exists():
        results = ctest(reports)
    elif (reports / "pytest.xml").exists():
        results = cases(reports / "pytest.xml")
    elif name not in REPORTS:
        results = [(name, "passed" if status == 0 else "failed")]
    if status != 0 and all(o != "failed" for _, o in results):
        results.append((name, "failed"))
    return results


def tally(directory):
    results = []
    for file in sorted(directory.glob("*.status")):
        name = file.stem
        results += [(f"{name}: {case}", how) for case, how in stage(directory, name, int(file.read_text()))]
    return results


def main(directory):
    results = tally(pathlib.Path(directory))
    count = collections.Counter(how for _, how in results)
    for case, how in results:
        if how == "failed":
            print(f"failed: {case}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
