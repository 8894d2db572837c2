# SPDX-License-Identifier: BSD-3-Clause
"""What the papers' runner promises, with a program in the place of surety-lab: nothing that was done is lost, nothing is claimed kindly."""
import errno
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from papers import command, lab, rows, table  # noqa: E402

PROGRAM = """#!/usr/bin/python3
import json, pathlib, sys, time
here = pathlib.Path(sys.argv[0]).resolve().parent
first, last = map(int, sys.argv[sys.argv.index("--seeds") + 1].split("-"))
for seed in range(first, last + 1):
    if (here / f"bad{seed}").exists():
        sys.exit(f"seed {seed} is bad")
    if (here / f"slow{seed}").exists():
        time.sleep(60)
    with (here / "log").open("a") as log:
        print(seed, file=log)
    print(json.dumps({"seed": seed, "flows": [{"name": "f", "delivered_bps": 1000 * seed}]}), flush=True)
print(json.dumps({"seeds": 2, "statistics": {}}))
"""
CASE = lab.Case("tfrc-dumbbell").set({"senders.tfrc.rate": "1 Mbit/s", "senders.udp": None})


class Bench:
    def __init__(self, here):
        self.here, self.program, self.results = here, here / "surety-lab", here / "results"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)

    def lab(self):
        return lab.Lab(self.program, self.results, 2)

    def run(self, seeds, case=CASE):
        """A Lab that has run them, and the seeds that were really run."""
        made, log = self.lab(), self.here / "log"
        log.write_text("")
        for future in made.start(case, seeds):
            future.result()
        return made, sorted(map(int, log.read_text().split()))


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def delivered(made, seed):
    run = made.result(CASE, seed)
    return run and run.flow("f")["delivered_bps"]


# --- what was done is kept ---

def test_what_was_run_once_is_not_run_again(bench):
    assert bench.run(7)[1] == [1, 2, 3, 4, 5, 6, 7]
    made, again = bench.run(9)
    assert again == [8, 9] and [delivered(made, seed) for seed in (1, 9)] == [1000, 9000] and made.fresh == 2


@pytest.mark.parametrize("change", ["settings", "program", "file"])
def test_what_may_have_changed_is_run_again(bench, change):
    bench.run(2)
    if change == "program":
        bench.program.write_text(PROGRAM + "# of another build\n")
    if change == "file":
        for file in bench.results.iterdir():
            file.write_text(file.read_text()[:20])
    assert bench.run(2, CASE.set(duration="9 s") if change == "settings" else CASE)[1] == [1, 2]


def test_a_seed_that_fails_is_told_and_takes_no_other_with_it(bench):
    (bench.here / "bad3").touch()
    made, ran = bench.run(5)
    assert ran == [1, 2, 4, 5] and delivered(made, 3) is None
    [told] = made.failures.values()
    assert "tfrc-dumbbell, seed 3: exit status 1: seed 3 is bad" in told and "1 Mbit/s" in told
    (bench.here / "bad3").unlink()
    made, ran = bench.run(5)
    assert ran == [3] and not made.failures


def test_on_a_full_disk_the_results_are_used_and_the_disk_is_named(bench, monkeypatch):
    bench.run(2)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(os, "replace", full)
    made, _ = bench.run(4)
    assert [delivered(made, seed) for seed in (1, 4)] == [1000, 4000] and made.unkept == f"{bench.results}: No space left on device"
    assert len(list(bench.results.iterdir())) == 2  # and nothing half written


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_what_there_is(bench, number):
    (bench.here / "slow3").touch()
    process = subprocess.Popen([sys.executable, "-B", HERE, "--lab", bench.program, "--results", bench.results, "--only", "tfrc",
                                "--experiment", "tfrc-end", "--seeds", "4", "--threads", "2", "--json"], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not len(list(bench.results.glob("*.json"))) == 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 128 + number and len(list(bench.results.iterdir())) == 4
    assert [json.loads(line)["experiment"] for line in out.splitlines()] == ["tfrc-end"] * len(EXPERIMENTS["tfrc-end"].rows)


# --- what is claimed ---

def judged(values, **more):
    return rows.Result(rows.row("r", "", None, **more), None, 20, values)


@pytest.mark.parametrize("values, more, verdict, fails", [
    ([9, 11], {"band": rows.paper(9, 11)}, "met", False), ([9, 14], {"band": rows.ns2(9, 11)}, "missed", True),
    ([9, 14], {"band": rows.ns2(9, 11), "why": "unknown"}, "missed", False),
    ([9, 14], {"band": rows.model(11), "every": True}, "missed", True),
    ([10, math.nan], {"band": rows.paper(0)}, "missed", True), ([], {"band": rows.paper(0)}, "not run", False), ([1], {}, "printed", False),
    ([10] * 20, {"band": rows.pin(10.5)}, "met", False), ([10] * 20, {"band": rows.pin(12)}, "missed", True),
    ([10] * 19, {"band": rows.pin(12)}, "printed", False)])
def test_verdicts(values, more, verdict, fails):
    assert (judged(values, **more).verdict, judged(values, **more).fails) == (verdict, fails)


def test_bands_as_written():
    assert list(map(str, (rows.near(387), rows.points(98), rows.paper(5, 5), rows.ns2(770), rows.model(high=0.4), rows.pin(300)))) == [
        "348.3 - 425.7", "96 - 100", "= 5", ">= 770", "<= 0.400", "270 - 330"]


def test_a_value_that_cannot_be_had_is_broken():
    class OneRun:
        def result(self, *_):
            return lab.Run('{"flows": []}')
    experiment = rows.Experiment("e", "", [rows.row("r", "", rows.delivered("f"), CASE)])
    [result] = rows.evaluate(experiment, OneRun(), 1, False)
    assert result.verdict == "broken" and result.fails and "0 are called f" in result.error


EXPERIMENTS = {experiment.name: experiment for paper in command.papers() for experiment in paper.experiments}


def test_experiments_are_told_apart():
    assert len(EXPERIMENTS) == sum(len(paper.experiments) for paper in command.papers())


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_every_claim_says_where_it_comes_from(experiment):
    assert all(case.path.exists() for case in experiment.cases(quick=False))
    drawn = [row for figure in experiment.figures if isinstance(figure, rows.Figure) for line in figure.lines.values() for row in line]
    assert {*map(id, drawn)} <= {*map(id, experiment.rows)}
    for row in experiment.rows:
        assert not row.band or row.band.origin in rows.ORIGINS[:-1]
        # A reason is an experiment that shows it, or says what was tried.
        assert not row.why or row.band and (row.why == "unknown" or row.why.partition(":")[0] in {*EXPERIMENTS, "open"}), row.why


# --- what counts ---

def two_runs(first, second):
    """Of CASE and of OTHER: what the flow f delivers, seed by seed."""
    class Runs:
        def result(self, case, seed):
            values = second if "duration" in dict(case.settings) else first
            return lab.Run(json.dumps({"flows": [{"name": "f", "delivered_bps": 1000 * values[seed - 1]}], "acted": values[seed - 1] > 50}))
    return Runs()


OTHER = CASE.set(duration="9 s")


def counted(first, second, *judged_rows, **more):
    return rows.evaluate(rows.Experiment("e", "", [*judged_rows], **more), two_runs(first, second), len(first), False)


def rate(band, *cases, **more):
    return rows.row("rate", "kbit/s", rows.delivered("f"), *(cases or (CASE,)), band=band, **more)


@pytest.mark.parametrize("second, band, verdict", [
    ([20, 21], rows.paper(20, 30), "not counted"),  # the same runs of another case
    ([20, 22], rows.paper(20, 30), "met"), ([20, 22], rows.paper(30, 40), "missed"),
    ([20, 21], rows.paper(30, 40), "missed")])  # what does not act where the paper's does is a miss
def test_a_row_whose_runs_are_those_of_another_case_does_not_count(second, band, verdict):
    results = counted([20, 21], second, rate(rows.paper(10, 30)), rate(band, OTHER))
    assert [result.verdict for result in results] == ["met", verdict]


def test_a_miss_is_counted_once():
    first, second = counted([20, 21], [20, 21], rate(rows.paper(30, 40)), rate(rows.paper(30, 40), OTHER))
    assert first.verdict == "missed" and first.fails
    assert second.verdict == "not counted" and second.uncounted == "as rate: the runs are the same to the last digit"


@pytest.mark.parametrize("band, verdict", [(rows.paper(9, 31), "not counted"), (rows.paper(12, 31), "met")])
def test_a_claim_that_follows_from_another_does_not_count(band, verdict):
    assert counted([20, 21], [], rate(rows.paper(10, 30)), rate(band))[1].verdict == verdict


def test_other_measures_of_the_same_runs_count():
    both = [rows.row(name, "kbit/s", rows.delivered(name), CASE, band=rows.paper(10, 30)) for name in ("f", "f*")]
    assert [result.verdict for result in counted([20], [], *both, both[0])] == ["met", "met", "not counted"]


@pytest.mark.parametrize("broken, verdict", [([25, 9], "not counted"), ([5, 6], "met")])
def test_a_row_that_is_met_without_the_mechanism_does_not_count(broken, verdict):
    [result] = counted([20, 21], broken, rate(rows.paper(10, 30), off=("no mechanism", OTHER)))
    assert result.verdict == verdict and result.breaks == "no mechanism" and result.off == broken
    assert "| no mechanism: " in "|".join([" ", *table.markdown([(rows.Paper("p", "", (1, 1), []), result)]).splitlines()])


def test_a_comparison_of_equal_runs_or_without_the_mechanism_does_not_count():
    def ratio(run, other):
        return run.flow("f")["delivered_bps"] / other.flow("f")["delivered_bps"]
    row = rows.row("ratio", "", ratio, CASE, OTHER, band=rows.paper(0.9, 1.1))
    assert [counted([20, 21], second, row)[0].verdict for second in ([20, 21], [20, 22])] == ["not counted", "met"]
    acts = ("alpha", lambda run: run.json["acted"])
    assert [counted(values, [], rate(rows.paper(0), acts=acts))[0].verdict for values in ([20, 21], [20, 60])] == ["not counted", "met"]
    assert counted([20, 21], [], rate(rows.paper(30), acts=acts))[0].verdict == "missed"


def test_a_row_made_from_what_it_is_compared_with_does_not_count():
    [result] = counted([20], [], rate(rows.paper(10, 30), derived="the rate is the paper's count"))
    assert result.verdict == "not counted" and table.as_json(rows.Paper("p", "", (1, 1), []), result)["why"] == "the rate is the paper's count"


def test_a_contradiction_is_shown_by_arithmetic():
    shown = rows.arithmetic("a", "", 250, 354, rows.near(354), "Table 1")
    agreeing = rows.arithmetic("b", "", 350, 354, rows.near(354), "Table 1")
    assert [(result.verdict, result.fails) for result in counted([20], [], shown, agreeing)] == [("contradicted", False), ("broken", True)]


def test_what_is_open_is_a_miss_with_what_was_tried():
    results = counted([20], [], *(rate(band, why="open: tried RTT 2 to 60 ms") for band in (rows.paper(30), rows.paper(10))))
    assert [(result.verdict, result.fails) for result in results] == [("open", False), ("met", False)]


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_every_claim_is_judged_and_can_fail(experiment):
    for row in experiment.rows:
        beyond = row.beyond or experiment.beyond
        # What the paper says is judged: by a band, by its own arithmetic, or by the row that it is made from.
        assert row.paper is None or row.band or row.derived or beyond, row.name
        assert not row.band or row.off or row.breaks or row.contradicts or row.derived or experiment.breaks, row.name
        assert not row.band or row.band.low > 0 or row.band.high < math.inf, row.name


def test_the_cases_of_a_row_include_the_one_in_which_it_fails():
    experiment = rows.Experiment("e", "", [rate(rows.paper(0), off=("none", OTHER))])
    assert list(experiment.cases(False)) == [CASE, OTHER]


# --- the page ---

def test_misses_come_first_and_neighbours_are_one_line(tmp_path):
    sweep = rows.sweep("N", "rate", "kbit/s", None, dict.fromkeys((10, 20, 30), CASE), (100, 200, 300), rows.near)
    experiment = rows.Experiment("e", "", sweep)
    results = [rows.Result(row, experiment, 1, [value]) for row, value in zip(sweep, (101, 150, 199))]
    paper = rows.Paper("p", "", (1, 1), [experiment])
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    table.write_between_marks(page, [(paper, result) for result in results], {"e": "p"})
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| p | 3 | 1 | 2 |" in text
    assert "| e | rate, N 20 30 (kbit/s) | 2 | 200, 300 | 150, 199 | 180 - 220, 270 - 330 |  |  |" in text
    assert text.index("**Missed, band of the paper: 2**") < text.index("**Met, band of the paper: 1**")


def test_experiments_that_were_not_run_keep_their_rows(tmp_path):
    papers, page = {"one": "p", "two": "p", "three": "q"}, tmp_path / "page.md"

    def told(name, *values):
        own = [rate(rows.paper(10, 30), why="one: a | b"[:6]), rate(rows.model(10, 30), beyond=True), rate(None), rate(None)]
        experiment = rows.Experiment(name, "", own, breaks="half the rate")
        return [(rows.Paper(papers[name], "", (1, 1), []), rows.Result(row, experiment, 1, [value])) for row, value in zip(own, values)]
    old = {name: told(name, 20, 40, 1, 2) for name in papers}
    page.write_text(f"{table.BEGIN}\n{table.END}\n")
    table.write_between_marks(page, sum(old.values(), []), papers)
    whole = page.read_text()
    for name in papers:
        table.write_between_marks(page, old[name], papers)
        assert page.read_text() == whole
    new = told("two", 5, 20, 1, 2)
    table.write_between_marks(page, new, papers)
    partial = page.read_text()
    page.write_text(f"{table.BEGIN}\n{table.END}\n")
    table.write_between_marks(page, old["one"] + new + old["three"], papers)
    assert partial == page.read_text() != whole
    table.write_between_marks(page, old["one"], {"one": "p"})  # one that is no more is not kept
    assert "| two |" not in page.read_text()


def test_rows_of_another_form_are_not_lost(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"{table.BEGIN}\n\n**Missed: 1**\n\n| experiment | row |\n|---|---|\n| one | r |\n{table.END}\n")
    before = page.read_text()
    with pytest.raises(OSError, match="another form"):
        table.write_between_marks(page, [], {"one": "p"})
    assert page.read_text() == before


def test_a_page_without_marks_stays(tmp_path):
    (tmp_path / "page.md").write_text("text\n")
    with pytest.raises(OSError):
        table.write_between_marks(tmp_path / "page.md", [], {})
    assert (tmp_path / "page.md").read_text() == "text\n"
