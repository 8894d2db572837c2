# SPDX-License-Identifier: BSD-3-Clause
"""CSA (Giacomazzi, Musumeci, Verticale): Tables 2 and 3, Figs. 7 and 8; README.md has the setting.

`CSA` is the paper's own control of alpha to the letter (`control: paper`; Table 3: internal routers report events), `CSA, T2 runs on` the
same with a T2 that restarts in congestion too (`control: periodic`; Table 3: samples and reminders), `search` the product's default. A promise
of the paper's text (never less than the rate that was bought, respect of service above so much) is a band of its own beside the number of its
table.
"""
import dataclasses
import statistics

from .csa_appendices import APPENDICES
from .csa_beyond import BEYOND
from .csa_cases import ACTS, CLOCK, LOST_RENO, N, ON, PROVISIONED, READINGS, RENO10, SHORT, cases_of, missed, rows_of, zeros
from .csa_round_trips import ROUND_TRIP_EXPERIMENTS
from .csa_scale_out import SCALE_OUT
from .lab import Case
from .rows import Experiment, Figure, Paper, Series, delivered, model, near, paper, points, ros, row, sweep, twofold

IDLE = ("open: the paper's buckets hand out 98.7, 99.1 and 99.5 % of their tokens; in ours TCP always has a packet waiting: tried Reno and NewReno, RTT 0 "
        "to 20 ms, delayed ACKs, windows and buffers; there are no timeouts")
LOSSES = ("open: tried tokens on a common clock, Reno and an average that stays while the queue is idle, RTT 20 ms: P_inb 0.13 to 0.26 where there is "
          "some, P_nc of CSA 0.11, 0.93 and 7.3, no P_c: IN never averages 70 packets")
PRINTED = {  # Table 2: kbit/s, RoS, and losses in thousandths: at the input buffers, of OUT and of IN packets at the RIO queue
    "fixed alpha 0.4": ((1381, 1381, 1346, 1157, 907), (98.7, 98.7, 97.3, 86.5, 70.4),
                        (0.37, 0.37, 0.037, 0, 0), (0, 0, 4.51, 8.43, 12.0), (0, 0, 0, 0.0008, 0.14)),
    "fixed alpha 0.2": ((1188, 1188, 1181, 1148, 811), (99.09, 99.09, 98.78, 96.77, 70.07),
                        (0.41, 0.41, 0.08, 0, 0), (0, 0, 2.59, 5.77, 10.1), (0, 0, 0, 0.00078, 0.13)),
    "fixed alpha 0": ((994.97, 994.97, 994.97, 995.37, 994.44), (99.49, 99.49, 99.49, 99.53, 99.44),
                      (0.47, 0.47, 0.47, 0.44, 0.20), None, (0, 0, 0, 0.0009, 0.12)),
    "CSA": ((1381.32, 1381.31, 1040.13, 1013.19, 1004.72), (98.70, 98.70, 99.71, 99.31, 98.42),
            (0.37, 0.37, 0.26, 0.0905, 0.0164), (0, 0, 0.035, 0.35, 0.92), (0, 0, 0, 0.000886, 0.16)),
}
MISSED = {"fixed alpha 0.4": (missed(CLOCK, 30), missed(CLOCK, 20, 25, 30)), "fixed alpha 0.2": (missed(CLOCK, 30), missed(CLOCK, 25, 30)),
          "fixed alpha 0": (None, None), "CSA": (missed(CLOCK, 20, 25), None)}
PRINTED["CSA, T2 runs on"], MISSED["CSA, T2 runs on"] = PRINTED["CSA"], MISSED["CSA"]
one = cases_of({**{f"fixed alpha {alpha}": {"alpha": {"fixed": alpha}} for alpha in (0.4, 0.2, 0)},
                "CSA": {"alpha.control": "paper"}, "CSA, T2 runs on": {"alpha.control": "periodic"}, "search": {}})


def lost(*places):
    """Packets in thousandths of those sent: at the input buffers, or of a precedence at the RIO queue."""
    def value(run):
        sent = sum(f["sent_packets"] for f in run.flows())
        if places == ("buffer",):
            return 1000 * sum(f["buffer_drops"] for f in run.flows()) / sent
        counts = run.queue("edge/up/assured")[places[0]]
        return 1000 * (counts["early_drops"] + counts["forced_drops"]) / sent
    return value


def alpha(run):
    return statistics.fmean(d["alpha_mean"] for d in run.json["domains"])


def idle_tokens(run):
    """Percent of the tokens of both buckets that no packet took."""
    return 100 - ros("f#*")(run)


ANOTHER = {"fixed alpha 0.4": "fixed alpha 0", "fixed alpha 0.2": "fixed alpha 0", "fixed alpha 0": "fixed alpha 0.4", "CSA": "fixed alpha 0.4",
           "CSA, T2 runs on": "fixed alpha 0.4"}


def table2():
    figures, rows = {"kbit/s": {}, "RoS (%)": {}}, []
    for name, (rates, respect, *losses) in PRINTED.items():
        off, acts, beyond = (ANOTHER[name], one[ANOTHER[name]]), ACTS if "CSA" in name else None, "T2" in name
        own = rows_of(name, one[name], rates, respect, near, points, MISSED[name], off=off, acts=acts, beyond=beyond)
        figures["kbit/s"][name], figures["RoS (%)"][name] = own
        rows += own[0] + own[1]
        for what, value, printed in zip(("P_inb", "P_nc", "P_c"), (lost("buffer"), lost("out"), lost("in")), losses):
            rows += zeros(sweep("N", f"{name}: {what}", "10^-3", value, one[name], printed, twofold,
                                CLOCK if what == "P_nc" and "fixed" in name else LOSSES, acts=acts, beyond=beyond,
                                breaks=BREAKS[what == "P_inb"]), "edge") if printed else []
    for name, printed in (("fixed alpha 0.4", 1.3), ("fixed alpha 0.2", 0.91), ("fixed alpha 0", 0.51)):
        rows += sweep("N", f"{name}: tokens without a packet, 100 - RoS", "%", idle_tokens, {10: one[name][10]}, (printed,), twofold, IDLE,
                      breaks="a TCP that always has a packet waiting")
    rows += sweep("N", "fixed alpha 0, guarantee: RoS", "%", ros("f#*"), one["fixed alpha 0"], ["greater than 99"] * len(N), paper(99),
                  off=("alpha 0.4", one["fixed alpha 0.4"]))
    filled = {n: model(1150 if n in (20, 25) else 1000) for n in N}  # 30.8 Mbit/s over N flows
    # What the product's own control keeps is not the paper's doing.
    for name, bands, whys in (("CSA", (PROVISIONED, paper(98.4)), (None, missed("unknown", 30))),
                              ("search", (model(1000), model(98.4)), (None, None))):
        promise = rows_of(f"{name}, guarantee", one[name], None, None, *bands, whys, off=("fixed alpha 0.4", one["fixed alpha 0.4"]),
                          acts=ACTS, beyond=name == "search")
        rows += promise[0] + promise[1] + sweep("N", f"{name}: mean alpha", "", alpha, one[name])
        figures["kbit/s"]["search"], figures["RoS (%)"]["search"] = promise
    rows += sweep("N", "search: the link is filled", "kbit/s", delivered("*"), one["search"], bands=filled, beyond=True,
                  off=("alpha fixed at 0", one["fixed alpha 0"]))
    series = {name: (one[name][25], alpha_over_time) for name in ("CSA", "search")}
    return Experiment("csa-table2", "Table 2, Figs. 7 and 8: N flows of AF_PHB_2, NewReno, RTT 20 ms", rows, (
        Figure("Fig. 7: throughput", "number of AF sources", "kbit/s", figures["kbit/s"], levels={"provisioned": 1000}),
        Figure("Fig. 8: respect of service", "number of AF sources", "RoS (%)", figures["RoS (%)"]),
        Series("alpha at N = 25", "alpha", series)), quick=SHORT, breaks="a queue that is full, or a TCP that waits for timeouts: csa-reno20")


def alpha_over_time(run):
    values = run.domain("edge/up/assured")["alpha_series"]
    return [(n + 1) * run.json["sample_s"] for n in range(len(values))], values


# Table 3: by case, of AF_PHB_1, AF_PHB_3 and BE, with the CSA of the internal router off and on.
CLASSES = {"AF_PHB_1": "af1#*", "AF_PHB_3": "af3#*", "BE": "be#*"}
RATES = {"off": {"AF_PHB_1": (1945.3, 1574.8, 1683.4, 1330.3), "AF_PHB_3": (554.7, 428.4, 531.2, 456.1),
                 "BE": (1216.5, 297.1, 397.7, 157.7)},
         "on": {"AF_PHB_1": (1965.2, 1639.2, 1631.4, 1623.6), "AF_PHB_3": (548.1, 408.35, 410.5, 408.3),
                "BE": (1237.5, 271.1, 415.7, 59.1)}}
RESPECT = {"off": {"AF_PHB_1": (97.5, 93.2, 86.8, 72.4), "AF_PHB_3": (99.2, 97.9, 95.8, 83.9)},
           "on": {"AF_PHB_1": (98.5, 99.5, 97.6, 98.7), "AF_PHB_3": (99.7, 99.7, 98.9, 99.8)}}
# In thousandths, of case A, B, C, D: at the input buffers, of OUT and of IN packets at the border, of the same at the internal
# router; of BE all together.
COLUMNS = {"P_inb": ("buffer",), "P_nc,br": ("edge", "out"), "P_c,br": ("edge", "in"), "P_nc,ir": ("core", "out"), "P_c,ir": ("core", "in")}
LOST = {"off": {"AF_PHB_1": ((0, 0.0033, 0, 0), (0, 0.54, 0, 0.052), (0, 0, 0, 0), (0.6, 1.6, 4.3, 7.3), (0, 0.0028, 0, 0)),
                "AF_PHB_3": ((0.22, 0.0044, 0.32, 0), (0, 0.046, 0, 0.046), (0, 0, 0, 0), (0.9, 2.5, 7.5, 15), (0, 0.0087, 0, 0)),
                "BE": (4.5, 39, 26, 58)},
        "on": {"AF_PHB_1": ((0, 0.016, 0.0014, 0), (0, 0.054, 0, 0.069), (0, 0, 0, 0), (0.6, 0.56, 1.2, 1.7), (0, 0.0037, 0, 0)),
               "AF_PHB_3": ((0.35, 0.018, 0.59, 0), (0, 0.073, 0, 0.050), (0, 0, 0, 0), (0.73, 0.95, 1.0, 1.9), (0, 0.0023, 0, 0)),
               "BE": (4.5, 44, 25, 170)}}
BOUGHT = {"AF_PHB_1": 1600, "AF_PHB_3": 400}
SOURCES = {"A": (5, 5, 10), "B": (13, 12, 10), "C": (5, 5, 40), "D": (13, 12, 40)}


# Onset and end of each congestion period go to each of 25 sources: the limit must not take any.
EVENTS = {"report": "events", "queue_limit": 100000}


def two(control, signals, delay=None, tcp=None):
    """{case: scenario 2} with a control of alpha and the internal router's signals off or on, over links of that delay, with that TCP."""
    links = ("edge.up~core.assured", "plain.up~core.plain", "core.out~sink")
    settings = {**{f"routers.edge.services.{phb}.alpha.control": control for phb in ("phb1", "phb3")},
                **({"routers.core.signalling": False} if signals == "off" else
                   {"routers.core.signalling": EVENTS} if control == "paper" else {}),
                **({f"links.{link}.delay": delay for link in links} if delay else {}),
                **({f"senders.{host}.protocol": tcp for host in ("af1", "af3", "be")} if tcp else {})}
    return {name: Case("csa-scenario2").set({f"hosts.{h}.times": n for h, n in zip(("af1", "af3", "be"), counts)}).set(settings)
            for name, counts in SOURCES.items()}


BREAKS = ("a link of half the rate", "a buffer above the window of 122 packets: 0")  # losses at a router, and at the input buffers


def loss(pattern, place=None, precedence=None):
    """Of all packets sent of the class, in thousandths: wherever they were lost, at the input buffers, or at a router."""
    def lost_of(flow):
        if place in (None, "buffer"):
            return flow["buffer_drops" if place else "lost_packets"]
        return flow["drops"].get(place, {}).get(precedence, 0)
    return lambda run: 1000 * sum(map(lost_of, run.flows(pattern))) / sum(f["sent_packets"] for f in run.flows(pattern))


def gain(on, off):
    return ros("af1#*")(on) - ros("af1#*")(off)


def losses(name, phb, cases, printed, bands=None, whys=None):
    if phb == "BE":
        return sweep("case", f"{name}: loss of BE", "10^-3", loss(CLASSES[phb]), cases, printed, bands, whys, beyond=not bands)
    return sum((zeros(sweep("case", f"{name}: {phb} {column}", "10^-3", loss(CLASSES[phb], *place), cases, numbers, bands, whys, beyond=not bands,
                            breaks=BREAKS[column == "P_inb"]), *({"edge", "core"} & {*place} or ("edge", "core")))
                for (column, place), numbers in zip(COLUMNS.items(), printed)), [])


def as_printed(name, cases, signals, judged, rates_whys=None, ros_whys=None, losses_whys=None, off=None):
    """Rows with the paper's numbers, judged by them or not. `off`: but for case A, of which the paper says that it changes nothing there."""
    rows, more = [], {"beyond": not judged, "off": off and (off[0], {case: off[1][case] for case in "BCD"})}
    for phb, pattern in CLASSES.items():
        rates = (twofold if phb == "BE" else near) if judged else None
        rows += sweep("case", f"{name}: {phb} throughput", "kbit/s", delivered(pattern), cases, RATES[signals][phb], rates, rates_whys, **more)
        if phb in BOUGHT:
            rows += sweep("case", f"{name}: {phb} RoS", "%", ros(pattern), cases, RESPECT[signals][phb], points if judged else None,
                          ros_whys, **more)
        rows += losses(name, phb, cases, LOST[signals][phb], twofold if judged else None, losses_whys)
    return rows


def promised(name, cases, origin, off):
    rows, more = [], {"off": off, "beyond": origin is model}
    for phb, bought in BOUGHT.items():
        rows += sweep("case", f"{name}, guarantee: {phb} throughput", "kbit/s", delivered(CLASSES[phb]), cases, bands=origin(bought), **more)
        rows += sweep("case", f"{name}, guarantee: {phb} RoS", "%", ros(CLASSES[phb]), cases, bands=origin(97), **more)
    if origin is paper:
        rows += [row(f"{name}, guarantee: {phb} RoS of case B", "%", ros(CLASSES[phb]), cases["B"], paper="greater than 99", band=paper(99),
                     off=(off[0], off[1]["B"])) for phb in BOUGHT]
    return rows


def without_signals(name, off, on):
    """What the text says of Table 3."""
    signals, af1, af3 = "signals on", CLASSES["AF_PHB_1"], CLASSES["AF_PHB_3"]
    rows = [row(f"{name}: AF_PHB_{n} throughput of case {case}", "kbit/s", delivered(pattern), off[case], paper=said, band=band, why=RENO10,
                off=(signals, on[case]) if "not" in said else None)
            for n, pattern, case, said, band in ((1, af1, "B", "not guaranteed", paper(high=1600)), (1, af1, "C", "guaranteed", paper(1600)),
                                                 (1, af1, "D", "not guaranteed", paper(high=1600)), (3, af3, "D", "guaranteed", paper(400)))]
    return rows + [row(f"{name}: {phb} RoS of case A, more with signals", "%", gain_of(CLASSES[phb]), on["A"], off["A"], paper="negligible",
                       band=paper(-2, 2)) for phb in BOUGHT]


def gain_of(pattern):
    return lambda on, off: ros(pattern)(on) - ros(pattern)(off)


def table3():
    rows = []
    for reading, control in READINGS.items():
        first, judged = len(rows), control != "search"
        off, on = two(control, "off"), two(control, "on")
        for_off = missed(RENO10, *"BCD") if judged else None
        for_rates, for_ros = (missed(ON, *cases) if judged else None for cases in ("A", "C"))
        rows += as_printed(f"{reading}off", off, "off", judged, for_off, for_off, LOST_RENO)
        rows += as_printed(f"{reading}on", on, "on", judged, for_rates, for_ros, LOST_RENO, ("no signals", off))
        rows += promised(f"{reading}on", on, paper if judged else model, ("no signals", off))
        rows += without_signals(f"{reading}off", off, on) if judged else []
        rows.append(row(f"{reading}on: AF_PHB_1 RoS of case D, more than off", "%", gain, on["D"], off["D"], paper=26.3, band=model(2),
                        beyond=not judged))
        rows.append(row(f"{reading}off: AF_PHB_1 RoS of case D", "%", ros("af1#*"), off["D"], paper=72.4, band=model(85, 96), beyond=not judged,
                        off=("signals on", on["D"])))
        rows[first:] = [dataclasses.replace(row_, beyond=row_.beyond or reading != "") for row_ in rows[first:]]
    # Shorter runs do not show what case D loses without signals.
    return Experiment("csa-table3", "Table 3: assured and best-effort flows through an internal router, NewReno, RTT 20 ms", rows,
                      seeds=(20, 3), breaks="a TCP of another recovery or RTT: csa-table3-rtt2, csa-table3-rtt60")


def table3_at(milliseconds, delay, bands):
    """What the paper does not say: another round-trip time."""
    rows = []
    for name, control, signals in (("off", "paper", "off"), ("on", "paper", "on"), ("search, on", "search", "on")):
        cases = two(control, signals, delay)
        for phb, pattern in CLASSES.items():
            rows += sweep("case", f"{name}: {phb} throughput", "kbit/s", delivered(pattern), cases, bands=bands.get((name, phb)))
            rows += sweep("case", f"{name}: {phb} RoS", "%", ros(pattern), cases) if phb in BOUGHT else []
    return Experiment(f"csa-table3-rtt{milliseconds}", f"Table 3 at RTT {milliseconds} ms", rows, full_only=True, beyond=True,
                      breaks="signals on")


CASE_B = "csa-reno10: at the border alpha stays high, or falls to its minimum, by the seed"


def table3_reno():
    """The paper's TCP (RFC 2581) and the RTT that its losses imply; csa-reno10 has the same without signals."""
    off, on = (two("paper", signals, "2.5 ms", "reno") for signals in ("off", "on"))
    rows = as_printed("on", on, "on", True, missed(CASE_B, "B"), missed(CASE_B, "B"), LOST_RENO, off=("no signals", off))
    return Experiment("csa-table3-reno", "Table 3 with signals: Reno, RTT 10 ms", rows, full_only=True, beyond=True, breaks="no signals")


def signal_loss():
    case = Case("csa-signal-loss")
    off, half = case.set({"routers.core.signalling": False}), case.set({"links.edge.side~core.side.back": {"loss": 0.5}})
    return Experiment("csa-signal-loss", "Beyond the paper: case D where signals are lost on their way", [
        row("no signals: AF_PHB_1 RoS", "%", ros("af1#*"), off),
        row("half of them lost: AF_PHB_1 RoS", "%", ros("af1#*"), half, band=model(97)),
        row("none lost: AF_PHB_1 RoS", "%", ros("af1#*"), case, band=model(97)),
        row("half of them lost: AF_PHB_1 RoS, more than without", "%", gain, half, off, band=model(2)),
        row("half of them lost: signals sent", "", lambda run: run.signals("core", "sent"), half),
        row("half of them lost: signals that arrived", "", lambda run: run.signals("core", "sent") - run.signals("links", "lost"), half),
    ], beyond=True, breaks="no signals: its first row")


PAPER = Paper("csa", "CSA, Giacomazzi, Musumeci, Verticale", (20, 2), [
    table2(), table3(), table3_at(60, "15 ms", {("off", "AF_PHB_1"): {"D": model(0, 1600)}}), table3_at(2, "0.5 ms", {}), table3_reno(), signal_loss(),
    *APPENDICES, *BEYOND, *ROUND_TRIP_EXPERIMENTS, *SCALE_OUT])
