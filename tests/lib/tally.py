# SPDX-License-Identifier: BSD-3-Clause
"""Reports on what tests/run did, from the files of its results:

tally.py DIRECTORY SECONDS           a table of the stages and of the whole, SECONDS long, beside their budget; the last line says
                                     N passed, N failed, N skipped
tally.py --slowest DIRECTORY STAGE   the ten slowest tests of a stage, or objects where it compiled
tally.py --compare DIRECTORY...      the tests that did not end the same way in each run

STAGE.status    exit status of a stage and its seconds
STAGE.started   when it began, in ns
STAGE/*.xml     its reports, as GoogleTest and pytest write them; a stage that failed though no test in them did counts as one
                failure (a crash, a sanitizer's word at exit), one without reports as one test
"""
import collections
import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGET = ROOT / "tests/budget"
BUILT = {"release": "release", "asan": "asan", "debug": "debug", "tsan": "tsan"}  # by stage, the directory of its build
YELLOW, PLAIN = "\033[33m", "\033[0m"
SLOWEST = 10


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun":
        return "skipped"
    return "passed"


def cases(file):
    """(name, outcome, seconds) of each test in a report."""
    try:
        return [(f"{c.get('classname', '')}.{c.get('name')}", outcome(c), float(c.get("time", 0))) for c in ElementTree.parse(file).iter("testcase")]
    except ElementTree.ParseError:  # the program died while it wrote
        return [(file.stem, "failed", 0.0)]


def stage(directory, name, status):
    results = [case for file in sorted((directory / name).glob("*.xml")) for case in cases(file)]
    if not results or (status != 0 and all(how != "failed" for _, how, _ in results)):
        results.append((name, "passed" if status == 0 else "failed", 0.0))
    return results


def stages(directory):
    """(name, exit status, seconds) in the order in which they ended."""
    for file in sorted(directory.glob("*.status"), key=lambda f: f.stat().st_mtime_ns):
        status, seconds = map(int, file.read_text().split())
        yield file.stem, status, seconds


def budgets():
    lines = (line.split() for line in BUDGET.read_text().splitlines() if not line.startswith("#"))
    return {name: int(seconds) for name, seconds in lines}


def row(name, seconds, budget, columns, colours):
    allowed = budget.get(name)
    over = allowed is not None and seconds > 1.5 * allowed
    text = f"{name:12} {seconds:5} s {f'{allowed} s' if allowed is not None else '':>8} {columns}{'  over budget' if over else ''}"
    return f"{YELLOW}{text}{PLAIN}" if over and colours else text


def main(directory, seconds=None):
    directory, budget, colours = pathlib.Path(directory), budgets(), sys.stdout.isatty()
    total, failed, rows = collections.Counter(), [], []
    for name, status, took in stages(directory):
        results = stage(directory, name, status)
        count = collections.Counter(how for _, how, _ in results)
        failed += [f"{name}: {case}" for case, how, _ in results if how == "failed"]
        rows.append(row(name, took, budget, f"{count['passed']:7} {count['failed']:7} {count['skipped']:8}", colours))
        total += count
    if seconds is not None:
        budget["total"] = budget["all" if os.environ.get("ALL") else "total"]
        rows.append(row("total", seconds, budget, f"{total['passed']:7} {total['failed']:7} {total['skipped']:8}", colours))
    left = sorted(file.stem for file in directory.glob("*.left"))
    print(f"{'stage':12} {'time':>7} {'budget':>8} {'passed':>7} {'failed':>7} {'skipped':>8}", *rows, sep="\n")
    print(*(f"not run, since a stage before it failed: {name}" for name in left), sep="\n", end="\n" if left else "")
    print(*(f"failed: {line}" for line in failed), sep="\n", end="\n" if failed else "")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


def objects(log, since):
    """(name, seconds) of what ninja made since then: begin, end [ms], time of the file [ns], name, hash."""
    lines = [line.split("\t") for line in log.read_text().splitlines() if not line.startswith("#")] if log.exists() else []
    return {fields[3]: (int(fields[1]) - int(fields[0])) / 1000 for fields in lines if int(fields[2]) >= since}.items()


def slowest(directory, name):
    directory = pathlib.Path(directory)
    since = int((directory / f"{name}.started").read_text())
    if name in BUILT:
        found = objects(ROOT / "build" / BUILT[name] / ".ninja_log", since)
    else:
        found = [(case, seconds) for file in (directory / name).glob("*.xml") for case, _, seconds in cases(file)]
    for what, seconds in sorted(found, key=lambda item: -item[1])[:SLOWEST]:
        if seconds >= 0.1:
            print(f"{seconds:8.1f} s  {what}")
    return 0


def compare(directories):
    ended = collections.defaultdict(list)
    for directory in map(pathlib.Path, directories):
        for name, status, _ in stages(directory):
            for case, how, _ in stage(directory, name, status):
                ended[f"{name}: {case}"].append(how)
    differ = {case: hows for case, hows in ended.items() if len(set(hows)) > 1}
    print(*(f"not the same each time: {case}: {', '.join(hows)}" for case, hows in sorted(differ.items())), sep="\n", end="\n" if differ else "")
    failed = sum(hows.count("failed") for hows in ended.values())
    counts = collections.Counter(how for hows in ended.values() for how in hows)
    print(f"{len(directories)} runs, {len(differ)} tests not the same each time")
    print(f"{counts['passed']} passed, {failed} failed, {counts['skipped']} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    option, *rest = sys.argv[1:]
    if option == "--slowest":
        sys.exit(slowest(*rest))
    sys.exit(compare(rest) if option == "--compare" else main(option, *map(int, rest)))
