# SPDX-License-Identifier: BSD-3-Clause
"""What is compared with a paper: rows, and the bands that they are held against.

A row is a function of one run (of several cases: of one run of each, by the same seed), judged by its mean over the seeds.
"""
import dataclasses
import functools
import json
import math
import statistics

from . import counting

ORIGINS = ("paper", "ns-2", "model", "pin", "nothing")  # of bands
REPRODUCED = ("paper", "ns-2")
PIN_SEEDS, PIN = 20, 0.1


@dataclasses.dataclass(frozen=True)
class Band:
    origin: str
    low: float
    high: float

    def holds(self, value):
        return self.low <= value <= self.high  # never of what is not a number

    def __str__(self):
        if self.low == self.high:
            return f"= {shown(self.low)}"
        if math.isinf(self.high):
            return f">= {shown(self.low)}"
        return f"<= {shown(self.high)}" if math.isinf(self.low) else f"{shown(self.low)} - {shown(self.high)}"


def paper(low=-math.inf, high=math.inf):
    """What the paper prints or says."""
    return Band("paper", low, high)


def ns2(low=-math.inf, high=math.inf):
    """Independent runs of ns-2."""
    return Band("ns-2", low, high)


def model(low=-math.inf, high=math.inf):
    """An independent model of the algorithm as printed, or arithmetic: a bucket's depth, a link's capacity."""
    return Band("model", low, high)


def near(printed, part=0.1):
    """The paper's number, within so much of it."""
    return paper(printed * (1 - part), printed * (1 + part))


def points(printed, by=2):
    """The paper's percentage, within so many points."""
    return paper(printed - by, printed + by)


def twofold(printed):
    return paper(printed / 2, printed * 2) if printed else paper(0, 0)


def pin(mean):
    """Our own mean over 20 seeds: it guards, it claims nothing."""
    return Band("pin", mean * (1 - PIN), mean * (1 + PIN))


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    name: str
    unit: str
    value: object  # function of a Run of each case
    cases: tuple
    paper: object = None  # what the paper prints: a number, or words
    band: Band = None
    why: str = ""  # known to miss: "EXPERIMENT: what it shows", "open: what was tried", or "unknown"
    every: bool = False  # the band is one for each seed, not for their mean
    at: tuple = ()  # (label, x) of a sweep
    off: tuple = None  # (what is changed, cases): the run in which this row must fail
    breaks: str = ""  # how the row could fail, where no run of its own shows it; default: the experiment's
    acts: tuple = None  # (mechanism, function of a Run): true if the mechanism acted
    derived: str = ""  # the row follows from what it is compared with, or from other rows: how
    contradicts: str = ""  # the value is arithmetic on the paper's other numbers, and does not give the printed one: how
    beyond: bool = False  # the paper has no such claim, or another row counts for it, and this one shows why that misses


@dataclasses.dataclass(frozen=True)
class Figure:
    """Rows over a sweep, with the paper's numbers beside ours; `guides`: further lines, a number for each point."""
    title: str
    x: str
    y: str
    lines: dict
    guides: dict = dataclasses.field(default_factory=dict)
    levels: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Series:
    """A case's first seed over time, or over what `x` says: name: (case, function of its run)."""
    title: str
    y: str
    lines: dict
    x: str = "time (s)"
    levels: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    rows: list
    figures: tuple = ()
    seeds: tuple = None  # (all, --quick); none: the paper's
    quick: dict = None  # settings of --quick
    full_only: bool = False
    breaks: str = ""  # Row.breaks of the rows that have none
    beyond: bool = False  # Row.beyond of all rows

    def cases(self, quick):
        drawn = [case for figure in self.figures if isinstance(figure, Series) for case, _ in figure.lines.values()]
        rows = [case for row in self.rows for case in (*row.cases, *self.failing(row, quick))]
        return dict.fromkeys(self.shortened(case, quick) for case in [*rows, *drawn])

    def failing(self, row, quick):
        """The cases of Row.off; with --quick only if other rows have them."""
        cases = row.off[1] if row.off else ()
        return cases if not quick or self.own.issuperset(cases) else ()

    @functools.cached_property
    def own(self):
        return {case for row in self.rows for case in row.cases}

    def shortened(self, case, quick):
        return case.set(self.quick) if quick and self.quick else case


@dataclasses.dataclass(frozen=True)
class Paper:
    name: str
    title: str
    seeds: tuple
    experiments: list


def row(name, unit, value, *cases, off=None, band=None, **more):
    return Row(name, unit, value, cases, band=band, off=(off[0], together(off[1])) if off and band else None, **more)


def together(cases):
    return cases if isinstance(cases, tuple) else (cases,)


def sweep(label, name, unit, value, cases, papers=None, bands=None, whys=None, off=None, **more):
    """A row for each x of {x: case, or cases}. `bands`: one for all, by x, or a function of the paper's number; `whys` the same. `off`:
    (what is changed, {x: case, or cases})."""
    rows = []
    for number, (x, case) in enumerate(cases.items()):
        printed = papers[number] if papers else None
        band = bands.get(x) if isinstance(bands, dict) else bands(printed) if callable(bands) else bands
        why = (whys.get(x, "") if isinstance(whys, dict) else whys or "") if band else ""
        changed = (off[0], together(off[1][x])) if off and band and x in off[1] else None
        rows.append(Row(name, unit, value, together(case), printed, band, why, at=(label, x), off=changed, **more))
    return rows


def arithmetic(name, unit, value, printed, band, how):
    """The paper contradicts itself: its other numbers give `value`, not what it prints."""
    return Row(name, unit, lambda: value, (), printed, band, contradicts=how)


@dataclasses.dataclass
class Result:
    row: Row
    experiment: Experiment
    wanted: int  # seeds
    values: list = dataclasses.field(default_factory=list)
    error: str = ""
    off: list = dataclasses.field(default_factory=list)  # values of Row.off
    outcomes: list = dataclasses.field(default_factory=list)  # of each seed, what tells the runs of the cases from others
    acted: bool = False  # Row.acts, in any seed
    uncounted: str = ""  # why the row does not count (counting.py)

    @property
    def mean(self):
        return statistics.fmean(self.values) if self.values else math.nan

    @property
    def sd(self):
        return statistics.stdev(self.values) if len(self.values) > 1 else math.nan

    @property
    def origin(self):
        return self.row.band.origin if self.row.band else "nothing"

    @property
    def verdict(self):
        if self.error:
            return "broken"
        if not self.values:
            return "not run"
        if self.uncounted:
            return "not counted"
        if self.row.contradicts:
            return "broken" if self.holds else "contradicted"
        return self.judged

    @property
    def holds(self):
        return all(map(self.row.band.holds, self.values if self.row.every else [self.mean]))

    @property
    def judged(self):
        """The verdict before it is known whether the row counts."""
        band = self.row.band
        if not band or (band.origin == "pin" and len(self.values) < PIN_SEEDS):
            return "printed"
        return "met" if self.holds else "open" if self.row.why.startswith("open:") else "missed"

    @property
    def beyond(self):
        return self.row.beyond or self.experiment.beyond

    @property
    def breaks(self):
        """How the row could fail; measured if there is a run that shows it."""
        if self.row.off:
            return self.row.off[0]
        return (self.row.breaks or self.experiment.breaks) if self.row.band and not self.row.contradicts else ""

    @property
    def fails(self):
        """A miss that nobody has looked at."""
        return self.verdict == "broken" or self.verdict == "missed" and not self.row.why


def evaluate(experiment, lab, seeds, quick):
    """A Result for each row, over the seeds whose runs are there."""
    results = [Result(row, experiment, seeds) for row in experiment.rows]
    for seed in range(1, seeds + 1):
        runs, outcomes = {}, {}

        def runs_of(cases):
            cases = [experiment.shortened(case, quick) for case in cases]
            for case in cases:
                if case not in runs:
                    runs[case] = lab.result(case, seed)
                    outcomes[case] = runs[case] and hash(json.dumps(runs[case].json["flows"], sort_keys=True))
            return [runs[case] for case in cases], tuple(outcomes[case] for case in cases)

        for result in results:
            own, outcome = runs_of(result.row.cases)
            if all(own):
                _add(result, result.values, own)
                result.outcomes.append(outcome)
                result.acted = result.acted or bool(result.row.acts) and any(map(result.row.acts[1], own))
            failing = experiment.failing(result.row, quick)
            if failing and all(other := runs_of(failing)[0]):
                _add(result, result.off, other)
    counting.settle(results)
    return results


def _add(result, values, runs):
    try:
        value = result.row.value(*runs)
        values.append(math.nan if value is None else float(value))
    except (LookupError, TypeError, ValueError, ZeroDivisionError) as error:
        result.error = f"{type(error).__name__}: {error}"


def shown(value):
    """Four digits or so; counts without decimals."""
    if not isinstance(value, (int, float)):
        return "" if value is None else str(value)
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "never"
    value, size = round(value, 9), abs(value)
    return f"{value:.0f}" if value == round(value) else f"{value:.{0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3}f}"


def known(values):
    return [value for value in values if value is not None]


def jain(values):
    values = list(values)
    return sum(values) ** 2 / (len(values) * sum(v * v for v in values))


# Functions of runs, of the flows of a name.

def delivered(pattern, scale=1e3):
    """Mean of what the applications got, in kbit/s of IP bytes; `scale`: 1e6 for Mbit/s."""
    return lambda run: statistics.fmean(f["delivered_bps"] for f in run.flows(pattern)) / scale


def arriving(pattern, scale=1e3):
    return lambda run: statistics.fmean(f["throughput_bps"] for f in run.flows(pattern)) / scale


def ros(pattern):
    """Mean respect of service, in percent."""
    return lambda run: 100 * statistics.fmean(f["ros"] for f in run.flows(pattern))


def fairness(pattern="*"):
    return lambda run: jain(f["delivered_bps"] for f in run.flows(pattern))


def utilisation(queue):
    return lambda run: 100 * run.queue(queue)["utilisation"]


def flow_series(name, scale=1e3, key="throughput_series"):
    return lambda run: _timed(run, run.flow(name)[key], scale)


def queue_series(name, key="average_total_series"):
    return lambda run: _timed(run, run.queue(name)[key], 1)


def aggregate_series(name, key="tokens_series", scale=1e3):
    return lambda run: _timed(run, run.aggregate(name)[key], scale)


def _timed(run, values, scale):
    step = run.json["sample_s"]
    return [(n + 1) * step for n in range(len(values))], [math.nan if v is None else v / scale for v in values]
