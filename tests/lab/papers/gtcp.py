# SPDX-License-Identifier: BSD-3-Clause
"""GTCP (Zhu, Oladeji, Kim, Sivakumar): Figs. 4-9; README.md has the setting.

What is judged is what the applications got in order; what arrived stands beside it. Ideal is the reservation and an equal share of the
excess: the paper's numbers are its ideals (it says "close to"), since its results are drawn. `NewReno` is its default TCP in the same
place; best-effort flows are always NewReno. The paper's TCP has no SACK; `SACK` gives it to all flows, and `endpoints` all that endpoints
have by default (SACK, ECN, timestamps, least RTO of 1 s). Both stand beside the paper's own and are not judged.
"""
import math
import statistics

from .lab import Case
from .rows import Experiment, Figure, Paper, Series, arriving, delivered, flow_series, model, near, paper, row, sweep

RESERVED = {"f0": 4, "f1": 2, "f2": 1}  # of 10 Mbit/s
SENDERS = (*RESERVED, "be")
IDEAL = 0.12  # Figs. 7-9: how near the reserved flows come
six, equal = Case("gtcp-six"), Case("gtcp-equal")
STANDING = {"routers.edge.queues.q.assured.rio.out": {"min": 20, "max": 50, "pmax": 0.1},
            **{f"routers.edge.services.{f}.bucket": "10 kB" for f in RESERVED}}
SACK = {f"senders.{s}.sack": "on" for s in SENDERS}
NEWRENO = {f"senders.{f}.protocol": "newreno" for f in RESERVED}


def endpoints(senders):
    default = {"timestamps": "on", "sack": "on", "ecn": "on", "min_rto": "1 s"}
    return {f"senders.{s}.{key}": value for s in senders for key, value in default.items()}


def rates(name, cases, bands=None, least=None, off=None):
    """Delivered by each of the six flows, in Mbit/s, and what arrived of f0; `least`: of no seed less than this part of the ideal."""
    changed = off and (off[0], {50: off[1][50]})
    rows = []
    for flow, reserved in (*RESERVED.items(), ("be#*", 0)):
        what = f"{name}: {'best-effort flows' if flow == 'be#*' else flow} (ideal {reserved + 0.5})"
        rows += sweep("RTT", what, "Mbit/s", delivered(flow, 1e6), cases, bands={50: (bands or {}).get(flow)},
                      off=changed if bands else None)
        if least and reserved:
            rows.append(row(f"{what}, no seed less, RTT = 50", "Mbit/s", delivered(flow, 1e6), cases[50],
                            band=model(least * (reserved + 0.5)), every=True, off=changed and (changed[0], changed[1][50])))
    return rows + sweep("RTT", f"{name}: f0 arriving", "Mbit/s", arriving("f0", 1e6), cases)


def basic():
    def over_rtt(settings):
        return {rtt: six.set({"links.edge.up~sink.delay": f"{rtt // 2} ms"}).set(settings) for rtt in (20, 50, 100)}
    tight, tight_sack, tight_newreno = map(over_rtt, ({}, SACK, NEWRENO))
    standing, standing_sack, standing_newreno = (over_rtt({**STANDING, **more}) for more in ({}, SACK, NEWRENO))
    by_queue = {
        "tight": (rates("tight, GTCP", tight, {"f0": paper(4.14, 4.86), "f1": paper(2.25, 2.75), "f2": paper(1.35, 1.65),
                                               "be#*": model(0.4, 0.65)}, 0.8, ("NewReno", tight_newreno)),
                  rates("tight, GTCP with SACK", tight_sack),
                  rates("tight, NewReno", tight_newreno, {"f0": model(0, 4.05)}, off=("GTCP", tight))),
        "standing": (rates("standing, GTCP", standing, {"f0": model(3.6)}, off=("NewReno", standing_newreno)),
                     rates("standing, GTCP with SACK", standing_sack),
                     rates("standing, NewReno", standing_newreno, {"f0": model(2.3, 2.75), "f1": model(1.9, 2.25),
                                                                   "f2": model(1.65, 1.95)}, off=("GTCP", standing))),
    }
    parts = parts_of(tight[50], tight_newreno[50])
    drawn = []
    for name, cases in (("GTCP", tight), ("NewReno", tight_newreno)):
        case = cases[50]
        drawn += [Series(f"Fig. 4, {name}: throughput, tight, RTT 50 ms", "Mbit/s", {f: (case, flow_series(f, 1e6)) for f in RESERVED},
                         levels={f"ideal {f}": rate + 0.5 for f, rate in RESERVED.items()}),
                  Series(f"Fig. 5, {name}: compliant throughput, tight, RTT 50 ms", "Mbit/s",
                         {f: (case, flow_series(f, 1e6, "in_series")) for f in RESERVED}, levels=RESERVED),
                  Series(f"Fig. 6, {name}: non-compliant throughput, tight, RTT 50 ms", "Mbit/s",
                         {f"f{n}": (case, excess(f)) for n, f in enumerate((*RESERVED, "be#1", "be#2", "be#3"))},
                         levels={"fair share": 0.5})]
    for queue, both in by_queue.items():
        lines = {f"{f} {name}": [r for r in rows if f": {f} (" in r.name and r.at]
                 for f in RESERVED for name, rows in zip(("GTCP", "GTCP with SACK", "NewReno"), both)}
        drawn.append(Figure(f"{queue} queue: delivered over the RTT", "RTT (ms)", "Mbit/s", lines))
    return Experiment("gtcp-basic", "Figs. 4-6: 4, 2 and 1 Mbit/s reserved of 10, three best-effort flows; tight and standing queue",
                      [r for both in by_queue.values() for rows in both for r in rows] + parts, tuple(drawn))


def best_effort(flow):
    """Delivered beyond the compliant part, in Mbit/s."""
    return lambda run: delivered(flow, 1e6)(run) - compliant(flow)(run)


def compliant(flow):
    return lambda run: statistics.fmean(f["in_throughput_bps"] for f in run.flows(flow)) / 1e6


def of_neighbours(flow):
    """Its best-effort part beside that of the flows without a reservation, in percent."""
    return lambda run: 100 * best_effort(flow)(run) / delivered("be#*", 1e6)(run)


def parts_of(gtcp, newreno):
    """Figs. 5 and 6; design goal (c): the best-effort service is exactly that of a TCP flow without a reservation."""
    off, rows = ("NewReno", newreno), []
    for flow, reserved in RESERVED.items():
        rows += [row(f"Fig. 5: {flow}, compliant", "Mbit/s", compliant(flow), gtcp, paper=reserved, band=near(reserved, 0.05), off=off),
                 row(f"Fig. 6: {flow}, best effort", "Mbit/s", best_effort(flow), gtcp, paper="0.5, a fair share", band=near(0.5), off=off),
                 row(f"goal (c): {flow}, best effort / that of a best-effort flow", "%", of_neighbours(flow), gtcp, paper="exactly the same",
                     band=near(100), off=off),
                 row(f"{flow} at its reservation", "s", target_time(flow), gtcp, paper="from the start", band=paper(0, 2), off=off, why=START)]
    return rows


def target_time(flow):
    return lambda run: math.inf if (time := run.flow(flow)["time_to_target_s"]) is None else time


# The default slow-start threshold of the paper's simulator is a window of 20 packets; ours is as large as possible.
THRESHOLD = {f"senders.{s}.initial_ssthresh": "20 kB" for s in SENDERS}
START = "gtcp-start: a first slow start that ends at the simulator's 20 packets, and cwnd_G, does not overshoot"


def start():
    bounded = six.set(THRESHOLD)
    return Experiment("gtcp-start", "From the start: the slow-start threshold of the paper's simulator, 20 packets; tight, RTT 50 ms", [
        row(f"{flow} at its reservation", "s", target_time(flow), bounded, paper="from the start", band=paper(0, 2), off=("none", six))
        for flow in RESERVED], beyond=True)


def excess(flow):
    """Beyond the reservation, over time."""
    def value(run):
        times, whole = flow_series(flow, 1e6)(run)
        return times, [a - b for a, b in zip(whole, flow_series(flow, 1e6, "in_series")(run)[1])]
    return value


def ideal(run, target):
    """The reservation and an equal share of what nobody has reserved."""
    free = run.queue("edge/up/assured")["rate_bps"] - sum(f["target_bps"] for f in run.flows())
    return target + free / len(run.flows())


def of_ideal(pattern, key="delivered_bps"):
    """Percent; of several flows their mean."""
    def value(run):
        flows = run.flows(pattern)
        return 100 * statistics.fmean(f[key] for f in flows) / ideal(run, statistics.fmean(f["target_bps"] for f in flows))
    return value


NEAR_IDEAL = paper(100 - 100 * IDEAL, 100 + 100 * IDEAL)
FAR_BELOW = paper(high=100 - 100 * IDEAL)


def compared(label, variants, patterns, unit):
    """Rows over a sweep for each variant and flow, GTCP's judged, and a figure of what was delivered with the ideal."""
    rows, lines = [], {}
    for name, cases in variants.items():
        for flow, pattern in patterns.items():
            judged = name == "GTCP"
            rows += sweep(label, f"{name}: {flow} / ideal", "%", of_ideal(pattern), cases, bands=NEAR_IDEAL if judged else None,
                          off=("NewReno", variants["NewReno"]) if judged else None)
            if name == "GTCP":
                rows += sweep(label, f"{name}: {flow} arriving / ideal", "%", of_ideal(pattern, "throughput_bps"), cases)
            lines[f"{flow} {name}"] = sweep(label, f"{name}: {flow}", unit, delivered(pattern, 1e6), cases)
    return rows + sum(lines.values(), []), lines


def fig7():
    def link(times):
        return {"links.edge.up~sink.rate": f"{10 * times:g} Mbit/s", **{
            f"{what.format(f)}": f"{rate * times:g} Mbit/s" for f, rate in RESERVED.items()
            for what in ("routers.edge.services.{}.rate", "senders.{}.target")}}
    grown = {rate: six.set(link(rate / 10)) for rate in (10, 15, 20, 25, 30)}
    variants = {"GTCP": grown, "GTCP, endpoints": {r: c.set(endpoints(SENDERS)) for r, c in grown.items()},
                "NewReno": {r: c.set(NEWRENO) for r, c in grown.items()}}
    rows, lines = compared("link (Mbit/s)", variants, {f: f for f in RESERVED}, "Mbit/s")
    guides = {f"ideal {f}": [(own + 0.5) * rate / 10 for rate in grown] for f, own in RESERVED.items()}
    return Experiment("gtcp-fig7", "Fig. 7: the link from 10 to 30 Mbit/s, reservations in proportion; tight, RTT 50 ms", rows,
                      (Figure("Fig. 7", "link (Mbit/s)", "Mbit/s", lines, guides=guides),))


def least_of_reservation(run):
    return 100 * min(f["delivered_bps"] / f["target_bps"] for f in run.flows("res#*"))


def higher(run, other):
    return of_ideal("res#*")(run) - of_ideal("res#*")(other)


def scaled(name, title, label, counts, lower):
    """{x: (reserved flows, best-effort flows, reservation in kbit/s)}"""
    cases = {x: equal.set({"hosts.res.times": res, "hosts.be.times": be, "routers.edge.services.reserved.rate": f"{rate:g} kbit/s",
                           "senders.res.target": f"{rate:g} kbit/s"}) for x, (res, be, rate) in counts.items()}
    variants = {"GTCP": cases, "GTCP, endpoints": {x: c.set(endpoints(("res", "be"))) for x, c in cases.items()},
                "NewReno": {x: c.set({"senders.res.protocol": "newreno"}) for x, c in cases.items()}}
    rows, lines = compared(label, variants, {"reserved flows": "res#*"}, "Mbit/s")
    for variant in ("GTCP", "NewReno"):
        rows += sweep(label, f"{variant}: least reserved flow / its reservation", "%", least_of_reservation, variants[variant])
    first, last = min(counts), max(counts)
    if lower:  # the rates, as the flows are more
        rows += [row(f"NewReno: reserved flows / ideal, {last} flows, more than {first}", "%", higher, variants["NewReno"][last],
                     variants["NewReno"][first], paper="better when the target rate is lower", band=paper(1), breaks="a TCP that is as near at every rate"),
                 row(f"NewReno: reserved flows / ideal, {first} flows", "%", of_ideal("res#*"), variants["NewReno"][first],
                     paper="significantly worse", band=FAR_BELOW, off=("GTCP", cases[first]))]
    else:
        open_ = {"routers.edge.services.reserved.bucket": "10 kB", "links.edge.up~sink.delay": "50 ms"}  # what the paper does not give
        rows += [row(f"NewReno: reserved flows / ideal, {last} reserved flows{name}", "%", of_ideal("res#*"), variants["NewReno"][last].set(own),
                     paper="unable to achieve the target rate", band=FAR_BELOW, off=("GTCP", cases[last].set(own)), why=why, beyond=bool(own))
                 for name, own, why in (("", {}, "gtcp-fig9: with a marker of 10 kB and RTT 100 ms it is so; the paper gives neither"),
                                        (", marker of 10 kB, RTT 100 ms", open_, ""))]
    guides = {"ideal": [(rate + (10000 - res * rate) / (res + be)) / 1000 for res, be, rate in counts.values()]}
    return Experiment(name, title, rows, (Figure(title.split(":")[0], label, "Mbit/s a reserved flow", lines, guides=guides),))


def options():
    own = six.set(endpoints(SENDERS))
    cases = {"GTCP": own, "GTCP, window of 1 MB": own.set({f"senders.{f}.window": "1 MB" for f in RESERVED}), "NewReno": own.set(NEWRENO)}
    rows = [row(f"{name}: {flow}", "Mbit/s", delivered(flow, 1e6), case) for name, case in cases.items() for flow in (*RESERVED, "be#*")]
    return Experiment("gtcp-options", "The same flows with the TCP that endpoints have by default; tight, RTT 50 ms", rows, full_only=True, beyond=True)


PAPER = Paper("gtcp", "GTCP, Zhu, Oladeji, Kim, Sivakumar", (20, 6), [
    basic(), start(), fig7(),
    scaled("gtcp-fig8", "Fig. 8: 2 to 20 flows, every other one with a reservation, half of the link reserved; tight, RTT 50 ms", "flows",
           {2 * n: (n, n, 5000 / n) for n in range(1, 11)}, True),
    scaled("gtcp-fig9", "Fig. 9: 1 to 5 of 6 flows with a reservation of 2 Mbit/s; tight, RTT 50 ms", "flows with a reservation",
           {n: (n, 6 - n, 2000) for n in range(1, 6)}, False),
    options(),
])
