# SPDX-License-Identifier: BSD-3-Clause
"""Rows that cannot fail do not count, whatever hides it; and what the experiments claim is judged."""
import json
import math
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from papers import command, lab, rows, table  # noqa: E402

CASE = lab.Case("tfrc-dumbbell")
EXPERIMENTS = {experiment.name: experiment for paper in command.papers() for experiment in paper.experiments}


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


def test_a_number_of_a_paper_counts_once():
    counted = {(name, row.name) for name, experiment in EXPERIMENTS.items() for row in experiment.rows if row.band and not (row.beyond or experiment.beyond)}
    assert not [name for name in counted if "T2 runs on" in name[1] or "search" in name[1]]
    assert ("gtfrc-fig5", "window of 20 packets, long flow") in counted and ("gtfrc-fig5", "large window, long flow") not in counted
    assert not [name for name in counted if name[0] == "gtfrc-fig2-steady"]


def test_a_link_that_is_read_off_a_column_does_not_count_for_it():
    rows_ = [row for row in EXPERIMENTS["tfrc-table3"].rows if row.name == "UDP received"]
    assert [bool(row.derived) for row in rows_] == [row.at[1] >= 1 for row in rows_] and len(rows_) == 8


def test_what_is_not_overstated_claims_nothing():
    assert not [row.name for row in EXPERIMENTS["gtfrc-overstated"].rows if row.band and row.at[1] == 1]


def test_the_cases_of_a_row_include_the_one_in_which_it_fails():
    experiment = rows.Experiment("e", "", [rate(rows.paper(0), off=("none", OTHER))])
    assert list(experiment.cases(False)) == [CASE, OTHER]
    assert list(experiment.cases(True)) == [CASE]  # unless another row has it
    assert list(rows.Experiment("e", "", [*experiment.rows, rate(None, OTHER)]).cases(True)) == [CASE, OTHER]
