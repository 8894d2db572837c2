# SPDX-License-Identifier: BSD-3-Clause
"""ARD (Hur): Figs. 4-8, Table 1 and the TPR of both networks, (a) and (b); README.md has the setting.

The paper's greedy flow is the one of the shortest RTT here (f#1), its damaged flow the one of the longest (f#4, f#20).
"""
import math
import statistics

from .ard_beyond import AGREEMENTS
from .ard_spread import SPREAD
from .lab import Case
from .rows import (Experiment, Figure, Paper, Series, aggregate_series, delivered, fairness, flow_series, model, near, paper, points, queue_series,
                   row, sweep, utilisation)

TWENTY = {
    "hosts.h.times": 20, "links.h~er.lan.delay": "11.2 ms", "links.h~er.lan.delay_step": "200 us",
    "links.cr1.out~cr2.rate": "6 Mbit/s", "routers.er.aggregates.tcp.rate": "6 Mbit/s",
    "routers.cr1.queues.q.assured.limit": "400 packets",
    "routers.cr1.queues.q.assured.rio.in": {"min": 180, "max": 240, "pmax": 0.02},
    "routers.cr1.queues.q.assured.rio.out": {"min": 80, "max": 160, "pmax": 0.05},
}
SCHEMES = {
    "RIO": {"routers.er.aggregates": None},
    "ARM": {"routers.er.aggregates.tcp.marker": "arm", "routers.er.aggregates.tcp.drop": None},
    "ARD": {},
}
JAIN = {"a": (0.786, 0.990, 0.999), "b": (0.852, 0.950, 0.991)}  # Table 1
FLOWS, FIRST, LAST, QUEUE = {"a": 4, "b": 20}, "f#1", {"a": "f#4", "b": "f#20"}, "cr1/out/assured"
TAIL = ("open: by the book RIO is fair, and nothing is left to mend; with drops without randomness (ard-tail-drop) Jain's index of RIO, ARM and ARD is "
        "0.714, 0.714 and 0.795 with 4 flows, 0.893, 0.888 and 0.904 with 20: unfair RIO, but ARM gains nothing")
DECOUPLED = "ard-decoupled: the band's model counts OUT packets alone against OUT; here all packets count"
TAIL_DROP = {"routers.cr1.queues.q.assured.aqm": "out-tail-drop"}
FAIRER = {"a": ("RIO",), "b": ("RIO", "ARM")}  # than the paper's
LINK = {"a": 1200, "b": 6000}  # kbit/s
METERED = {"a": (570, 494, 546), "b": (1727, 1658, 4102)}  # TPR, lambda_in, lambda_out after the first interval, kbit/s


def networks(settings=None):
    """{network: {scheme: case}}"""
    base = {"a": Case("ard-paper"), "b": Case("ard-paper").set(TWENTY)}
    return {name: {scheme: case.set(own).set(settings or {}) for scheme, own in SCHEMES.items()} for name, case in base.items()}


def sd(key):
    return lambda run: statistics.stdev(f[key] for f in run.flows()) / 1000


def total(key):
    return lambda run: sum(f[key] for f in run.flows()) / 1000


def aggregate(key, scale=1000):
    return lambda run: run.aggregate("tcp")[key] / scale


def equation2(run):
    """TPR over what equation 2 makes of the metered rates, but not less than lambda_in (section 2.2), in percent."""
    a = run.aggregate("tcp")
    equation = a["tpr_max_bps"] * a["lambda_in_bps"] / (a["lambda_in_bps"] + a["lambda_out_bps"])
    return 100 * a["tpr_bps"] / max(equation, min(a["lambda_in_bps"], a["tpr_max_bps"]))


def part(key):
    """Of the IN packets that came to the marker, in percent."""
    return lambda run: 100 * run.aggregate("tcp")[key] / sum(run.aggregate("tcp")[k] for k in ("passed_in", "remarked", "dropped"))


def marked(cases):
    return {scheme: case for scheme, case in cases.items() if scheme != "RIO"}


SUM = ("open: lambda_in and lambda_out are 87 % of the paper's link; ours are 100 to 102 % with host buckets of 1 to 10 packets, windows of 10 to 40, "
       "delayed ACKs, packets of 500 bytes, a least RTO of 1 s and drops without randomness")
WITHOUT_CHANCE = "ard-tail-drop: with drops without randomness it is the paper's"
METERED_WHY = {("a", "TPR"): SUM, ("a", "lambda_out"): SUM, ("b", "TPR"): WITHOUT_CHANCE, ("b", "lambda_in"): WITHOUT_CHANCE}
METERS = {"TPR": "tpr_bps", "lambda_in": "lambda_in_bps", "lambda_out": "lambda_out_bps"}
FITTED = "the hosts' bucket of 2 packets, which is not given, was chosen by this number"
THROTTLES = {f"routers.er.aggregates.tcp.{key}": value for key, value in (("remark", "1"), ("threshold", "60 packets"))}


def metered(n, cases, whys):
    """What the marker has measured in the first interval; the hosts' bucket was chosen by the lambda_in of the first network."""
    rows, large = [], ("host bucket of 10 kB", networks({"senders.f.mark.bucket": "10 kB"})[n])
    for (what, key), printed in zip(METERS.items(), METERED[n]):
        rows += sweep("scheme", f"({n}) {what} after the first interval", "kbit/s", aggregate(key), marked(cases), (printed, printed), near,
                      dict.fromkeys(SCHEMES, whys.get((n, what), "")), off=large, derived=FITTED if (n, what) == ("a", "lambda_in") else "")
    return rows


def used_sum(run):
    """Percent of the link."""
    a = run.aggregate("tcp")
    return 100 * (a["lambda_in_bps"] + a["lambda_out_bps"]) / a["tpr_max_bps"]


def of_other(measure):
    return lambda run, other: 100 * measure(run) / measure(other)


def spread(index):
    """The deviation of the throughputs over their mean, of Jain's index."""
    return math.sqrt(1 / index - 1)


def fairer(n, cases):
    """Fig. 8(a), (b): the deviations fall from RIO to ARM and from ARM to ARD. Judged: by half at least of what Table 1 makes of it."""
    rows = []
    for what, key in (("total", "delivered_bps"), ("IN", "in_throughput_bps")):
        for (less, more), (there, here) in zip((("ARM", "RIO"), ("ARD", "ARM")), zip(JAIN[n], JAIN[n][1:])):
            printed = 100 * spread(here) / spread(there)
            rows.append(row(f"({n}) Fig. 8: sd of the {what} throughputs, {less} / {more}", "%", of_other(sd(key)), cases[less], cases[more],
                            paper=f"{printed:.0f}, by Table 1" if what == "total" else "lower", band=paper(high=(100 + printed) / 2), why=TAIL,
                            breaks="a marker without effect: 100"))
    return rows


def without_loss(n, cases):
    """Fig. 8(c), (d): "no large decrease" under the markers; and the flows come to the fair share."""
    rows = []
    for scheme, case in marked(cases).items():
        drops = {"routers.er.aggregates.tcp.drop": "1"} if scheme == "ARD" else {}
        throttled = ("every IN packet refused unless the bucket is full", (case.set({**THROTTLES, **drops}), cases["RIO"]))
        rows += [row(f"({n}) Fig. 8: {what} throughput, {scheme} / RIO", "%", of_other(total(key)), case, cases["RIO"], paper="no large decrease",
                     band=paper(95), off=throttled) for what, key in (("total", "delivered_bps"), ("IN", "in_throughput_bps"))]
        rows += [row(f"({n}) Figs. 5 and 6: {what} flow, {scheme}", "kbit/s", delivered(flow), case, paper="300, the fair share", band=near(300),
                     off=("RIO alone", cases["RIO"])) for what, flow in (("greedy", FIRST), ("damaged", LAST[n]))]
    return rows


def fig4_to_8():
    rows, drawn, of, chanceless = [], [], networks(), networks(TAIL_DROP)
    for n, cases in of.items():
        limits = {"min_out": 20, "max_out": 40} if n == "a" else {"min_out": 80, "max_out": 160}
        index = sweep("scheme", f"({n}) Table 1: Jain's index", "", fairness("f#*"), cases, JAIN[n],
                      lambda printed: points(printed, 0.02), dict.fromkeys(FAIRER[n], TAIL),
                      off=("RIO alone", {scheme: cases["RIO"] for scheme in marked(cases)}))
        deviation = [sweep("scheme", f"({n}) Fig. 8: sd of the {what} throughputs", "kbit/s", sd(key), cases)
                     for what, key in (("total", "delivered_bps"), ("IN", "in_throughput_bps"))]
        totals = [sweep("scheme", f"({n}) Fig. 8: {what} throughput", "kbit/s", total(key), cases)
                  for what, key in (("total", "delivered_bps"), ("IN", "in_throughput_bps"))]
        chance = ("drops without randomness", chanceless[n])
        rows += [*index, *sweep("scheme", f"({n}) Jain's index by the book", "", fairness("f#*"), cases, bands=model(0.98), off=chance),
                 *sweep("scheme", f"({n}) utilisation", "%", utilisation(QUEUE), cases, bands=model(99)), *sum(deviation + totals, []),
                 *fairer(n, cases), *without_loss(n, cases),
                 row(f"({n}) Fig. 4: average queue, RIO", "packets", lambda run: run.queue(QUEUE)["average_total_mean"], cases["RIO"],
                     paper=f"around {limits['min_out']}", band=near(limits["min_out"]), why="open: nothing was tried",
                     off=("drops without randomness", chanceless[n]["RIO"])),
                 *metered(n, cases, METERED_WHY),
                 *sweep("scheme", f"({n}) lambda_in + lambda_out / the link", "%", used_sum, marked(cases), [100 * sum(METERED[n][1:]) / LINK[n]] * 2,
                        near, SUM if n == "a" else "", breaks="less of the first interval used"),
                 *sweep("scheme", f"({n}) TPR / equation 2 of the metered rates, at least lambda_in", "%", equation2, marked(cases),
                        bands=model(99, 101), every=True, breaks="TPR left at its maximum"),
                 *sweep("scheme", f"({n}) IN packets remarked", "%", part("remarked"), marked(cases)),
                 *sweep("scheme", f"({n}) IN packets dropped by the marker", "%", part("dropped"), marked(cases))]
        for number, (scheme, case) in enumerate(cases.items(), 4):
            drawn += [Series(f"Fig. {number}, {scheme}, {FLOWS[n]} flows: average queue at CR1", "packets",
                             {"average": (case, queue_series(QUEUE))}, levels=limits),
                      Series(f"Fig. {number}, {scheme}, {FLOWS[n]} flows: greedy and damaged flow", "throughput (kbit/s)",
                             {"shortest RTT": (case, flow_series(FIRST)), "longest RTT": (case, flow_series(LAST[n]))},
                             levels={"contract": 250, "fair share": 300})]
        drawn += [Figure(f"Fig. 8: standard deviations, {FLOWS[n]} flows", "", "kbit/s", dict(zip(("total", "IN"), deviation))),
                  Figure(f"Fig. 8: aggregate throughputs, {FLOWS[n]} flows", "", "kbit/s", dict(zip(("total", "IN"), totals))),
                  Figure(f"Table 1: Jain's index, {FLOWS[n]} flows", "", "index", {"ours": index})]
    return Experiment("ard-paper", "Figs. 4-8 and Table 1: RIO alone, with ARM and with ARD; a: 4 flows on 1.2 Mbit/s, b: 20 on 6 Mbit/s",
                      rows, tuple(drawn), breaks="OUT dropped below min_out")


def left(precedence, also, sign):
    """Bytes of the second interval (100 s of 1000-byte packets) that left ER, in bit/s, but for what the marker made of them."""
    def value(run):
        packets = run.queue("er/up/assured")[precedence]["arrivals"] + sign * sum(run.aggregate("tcp")[key] for key in also)
        return 100 * run.aggregate("tcp")[f"lambda_{precedence}_bps"] / (80 * packets)
    return value


def leaky_bucket(n, duration="200 s", sample="100 ms"):  # tau
    """Fig. 7's cases. RIO alone under a bucket that only looks on: what it remarks, AF12, is IN at CR1."""
    cases = networks({"sample": sample, "duration": duration})[n]
    watched = cases["ARM"].set({"routers.er.aggregates.tcp.mark": {"out": "AF12"},
                                "routers.cr1.queues.q.assured.dscp": {"in": ["AF11", "AF12"], "out": ["AF13", "BE"]}})
    return {**cases, "RIO": watched}


LEVEL = {"a": "open: the paper says that IN rises to TPR; here it does not: where TPR is held at the paper's 570 the bucket is nearly full, at a tenth "
              "below lambda_in it has 16 packets (ard-level)",
         "b": "open: the paper says that IN rises to TPR; here it does not: where TPR is held at the paper's 1727, below our lambda_in, the level is 11 "
              "packets (ard-level)"}


def fig7():
    rows, drawn = [], []
    for n in FLOWS:
        cases = leaky_bucket(n)
        rows += [*sweep("scheme", f"({n}) token level", "packets", aggregate("tokens_mean_bytes"), cases, (None, None, "0 - 15"),
                        {"ARD": paper(0, 15)}, LEVEL[n]),
                 *sweep("scheme", f"({n}) time with less than T_rd", "%", aggregate("below_threshold", 0.01), cases,
                        (None, None, "stays there"), {"ARD": points(100)}, LEVEL[n])]
        drawn += [Series(f"Fig. 7, {scheme}, {FLOWS[n]} flows: token level", "tokens (packets)",
                         {scheme: (case, aggregate_series("tcp"))}, levels={"T_rd": 15, "b": 60}) for scheme, case in cases.items()]
    return Experiment("ard-fig7", "Fig. 7: the level of the leaky bucket in the second interval, every tau; RIO: under one that only looks on",
                      rows, tuple(drawn), breaks="a TPR above what arrives")


def against_equation(key):
    """The marker's count against what P_drop and equation 1 make of the IN packets at the token levels that the lab saw, in percent."""
    def value(run):
        a = run.aggregate("tcp")
        return 100 * a[key] / a[f"expected_{key}"] if a[key] or a[f"expected_{key}"] else 100
    return value


def counts():
    rows = []
    for n in FLOWS:
        # Few are remarked, and fewer dropped: five intervals. The levels are those of every 1 ms, less than a packet's time even in (b): one
        # that several packets share, each of which lowers it, says too few. Drops are too few for a band.
        cases = leaky_bucket(n, "500 s", "10 ms")
        rows += [*sweep("scheme", f"({n}) remarked / equation 1", "%", against_equation("remarked"), marked(cases), bands=model(90, 110)),
                 row(f"({n}) dropped by ARD / P_drop below T_rd", "%", against_equation("dropped"), cases["ARD"])]
    return Experiment("ard-counts", "Remarks and early drops against equation 1 and P_drop at the levels that the IN packets met", rows,
                      seeds=(20, 2), breaks="MAX_rem halved")


def meters():
    rows = []
    for n, cases in networks({"duration": "201 s"}).items():
        for what, value in (("TPR / equation 2 of the metered rates, at least lambda_in", equation2),
                            ("lambda_in / IN that left ER or was remarked or dropped", left("in", ("remarked", "dropped"), 1)),
                            ("lambda_out / OUT that left ER but for the remarked", left("out", ("remarked",), -1))):
            rows += sweep("scheme", f"({n}) {what}", "%", value, marked(cases), bands=model(99, 101), every=True)
    return Experiment("ard-meters", "The second interval at the marker: meters, TPR and counts (one second longer, so that it is closed)",
                      rows, seeds=(20, 2), breaks="a meter that misses what is remarked")


def tail_drop():
    rows, drawn, red = [], [], networks()
    for n, cases in networks(TAIL_DROP).items():
        index = sweep("scheme", f"({n}) Jain's index", "", fairness("f#*"), cases, JAIN[n], model(0.91, 0.99), DECOUPLED,
                      off=("RED's chance", red[n]))
        rows += [*index, *metered(n, cases, {("a", what): SUM for what in METERS}), *sweep("scheme", f"({n}) sd of the throughputs", "kbit/s", sd("delivered_bps"), cases),
                 *sweep("scheme", f"({n}) utilisation", "%", utilisation(QUEUE), cases)]
        drawn.append(Figure(f"Deterministic drops, {FLOWS[n]} flows: Jain's index", "", "index", {"ours": index}))
    return Experiment("ard-tail-drop", "Drops without randomness: OUT refused from max_out packets in the queue on", rows, tuple(drawn), beyond=True)


def phases():
    """What would free a flow that is locked out: a window that is never full, chance, another recovery, other times."""
    alone, rows = networks(TAIL_DROP)["a"]["RIO"], []
    for what, own in {"as it is": {}, "window of 10 packets": {"senders.f.window": "10 packets"},
                      "window of 40 packets": {"senders.f.window": "40 packets"}, "large window": {"senders.f.window": "1000 packets"},
                      "0.1 % lost on the hosts' lines": {"links.h~er.lan.loss": "0.001"}, "NewReno": {"senders.f.protocol": "newreno"},
                      "SACK": {"senders.f.protocol": "newreno", "senders.f.sack": "on"}, "delayed ACKs": {"senders.f.ack": "delayed"},
                      "equal RTTs": {"links.h~er.lan.delay_step": "0 s"}, "RTTs 20 ms apart": {"links.h~er.lan.delay_step": "10 ms"},
                      "hosts' lines of 100 Mbit/s": {"links.h~er.lan.rate": "100 Mbit/s"}}.items():
        case = alone.set(own)
        rows += [row(f"{what}: Jain's index", "", fairness("f#*"), case),
                 row(f"{what}: timeouts", "", lambda run: sum(f["timeouts"] for f in run.flows("f#*")), case),
                 row(f"{what}: the fastest flow", "kbit/s", lambda run: max(f["delivered_bps"] for f in run.flows("f#*")) / 1000, case)]
    return Experiment("ard-phases", "Drops without randomness, 4 flows, RIO alone: one thing changed at a time", rows, beyond=True)


def settings():
    rows = []
    alone = networks()["a"]["RIO"]
    for what, own in {"host bucket of 10 kB": {"senders.f.mark.bucket": "10 kB"}, "large window": {"senders.f.window": "1000 packets"},
                      "timestamps": {"senders.f.timestamps": "on"}, "all start at once": {"senders.f.start": "0 s"}}.items():
        rows += [row(f"{what}: Jain's index", "", fairness("f#*"), alone.set(own), paper=0.786, band=model(0.98)),
                 row(f"{what}: IN that reaches CR1", "kbit/s", lambda run: run.queue(QUEUE)["in"]["arrivals"] * 8 / 100, alone.set(own))]
    return Experiment("ard-settings", "What the paper leaves open does not bring its unfair RIO back: 4 flows, RIO alone", rows,
                      full_only=True, beyond=True, breaks="drops without randomness: ard-tail-drop")


PAPER = Paper("ard", "ARD, Hur", (20, 3), [fig4_to_8(), fig7(), counts(), meters(), tail_drop(), phases(), settings(), AGREEMENTS, *SPREAD])
