# SPDX-License-Identifier: BSD-3-Clause
"""`tally.py DIRECTORY`: a table of what tests/run did there; the last line says N passed, N failed, N skipped.

STAGE.status   exit status of a stage and its seconds
STAGE/*.xml    its reports, as GoogleTest and pytest write them; a stage that failed though no test in them did counts as one
               failure (a crash, a sanitizer's word at exit), one without reports as one test
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def cases(file):
    try:
        return [(f"{c.get('classname', '')}.{c.get('name')}", outcome(c)) for c in ElementTree.parse(file).iter("testcase")]
    except ElementTree.ParseError:  # the program died while it wrote
        return [(file.stem, "failed")]


def stage(directory, name, status):
    results = [case for file in sorted((directory / name).glob("*.xml")) for case in cases(file)]
    if not results or (status != 0 and all(how != "failed" for _, how in results)):
        results.append((name, "passed" if status == 0 else "failed"))
    return results


def main(directory):
    directory = pathlib.Path(directory)
    total, failed, rows = collections.Counter(), [], []
    for file in sorted(directory.glob("*.status"), key=lambda f: f.stat().st_mtime_ns):
        status, seconds = map(int, file.read_text().split())
        results = stage(directory, file.stem, status)
        count = collections.Counter(how for _, how in results)
        failed += [f"{file.stem}: {case}" for case, how in results if how == "failed"]
        rows.append(f"{file.stem:12} {seconds:5} s {count['passed']:7} {count['failed']:7} {count['skipped']:8}")
        total += count
    print(f"{'stage':12} {'time':>7} {'passed':>7} {'failed':>7} {'skipped':>8}", *rows, sep="\n")
    print(*(f"failed: {line}" for line in failed), sep="\n", end="\n" if failed else "")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
