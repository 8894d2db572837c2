# SPDX-License-Identifier: BSD-3-Clause
"""gTFRC (Lochin, Dairaine, Jourjon): Figs. 2 and 4-11, Tables 1-3; README.md has the setting.

TFRC is RFC 3448's, which the paper follows "entirely"; RFC 5348's stands beside it. Where the paper is silent, its simulator's
defaults: TCP begins with two packets, least RTO 200 ms, no timestamps. The paper's "edrops" are early drops, its "ldrops" forced drops
and overflows. Bands of ns-2 are independent runs of it.
"""
import math

from .gtfrc_beyond import BEYOND
from .lab import Case
from .rows import (Experiment, Figure, Paper, Series, arithmetic, arriving, delivered, flow_series, known, model, near, ns2, paper, pin, points,
                   row, sweep, twofold, utilisation)

QUEUE = "core/out/assured"


def tcp(sender, **more):
    settings = dict(protocol="newreno", window="1000 packets", initial_window="2 packets", min_rto="200 ms", timestamps="off", sack="off", ecn="off", tfrc=None, **more)
    return {f"senders.{sender}.{key}": value for key, value in settings.items()}


def both(protocol):
    return {"senders.long.protocol": protocol, "senders.short.protocol": protocol}


def rfc5348(name, case, *flows, **bands):
    """Rows of the same with RFC 5348's TFRC, which the paper does not have; `bands`: by flow."""
    newer = case.set({f"senders.{flow}.tfrc": "rfc5348" for flow in flows})
    return [row(f"{name} of RFC 5348, {flow} flow", "kbit/s", delivered(flow), newer, band=bands.get(flow)) for flow in flows]


def in_share(run):
    arrivals = {p: run.queue(QUEUE)[p]["arrivals"] for p in ("in", "out")}
    return 100 * arrivals["in"] / sum(arrivals.values())


def drops(precedence, *kinds):
    """Percent of the precedence's packets that were dropped so."""
    def value(run):
        counts = run.queue(QUEUE)[precedence]
        return 100 * sum(counts[f"{kind}_drops"] for kind in kinds) / counts["arrivals"]
    return value


LDROPS, EDROPS, ALL = ("forced", "overflow"), ("early",), ("early", "forced", "overflow")


NO_IN = ns2(0, 0.4)  # percent of IN dropped: the tables have 0 to 0.09
RED = {"routers.core.queues.q.assured.rio.in": {"min": 10, "max": 20, "pmax": 0.1}}  # IN is dropped as OUT is


def table(name, case, shares, in_drops, out_ldrops, out_edrops, bands, whys=("", "", "", ""), off=None):
    """Rows of a table of packets: what the paper prints for each, and our bands."""
    changed = {"IN drops": ("RED: IN dropped as OUT is", case.set(RED)),
               "OUT edrops": ("p_max of OUT 1", case.set({"routers.core.queues.q.assured.rio.out.pmax": "1"}))}
    wanted = (("IN packets", in_share, shares), ("IN drops", drops("in", *ALL), in_drops),
              ("OUT ldrops", drops("out", *LDROPS), out_ldrops), ("OUT edrops", drops("out", *EDROPS), out_edrops))
    return [row(f"{name}, {what}", "%", value, case, paper=printed, band=band, why=why, off=changed.get(what, off))
            for (what, value, printed), band, why in zip(wanted, bands, whys)]


def most_of_short(in_share, *out_lost):
    """What a short flow of 200 kbit/s can get of a full link, all of the OUT included, by the packets of a table, in percent."""
    arriving_out = (100 - in_share) / 100
    out = arriving_out * (1 - sum(out_lost) / 100)
    return 200 + 1000 * out / (in_share / 100 + out)


def target_time(flow):
    """In seconds; a flow that is never at its target: infinite."""
    return lambda run: math.inf if (time := run.flow(flow)["time_to_target_s"]) is None else time


def over_time(title, case):
    return Series(title, "throughput (kbit/s)", {name: (case, flow_series(name)) for name in ("long", "short")})


two = Case("gtfrc-two-flows")
gtfrc = two.set(both("gtfrc"))
against_tcp, gtfrc_against_tcp = two.set(tcp("short")), gtfrc.set(tcp("short"))
tcp_only = two.set({**tcp("long"), **tcp("short")})
window20 = tcp_only.set({f"senders.{s}.{key}": value for s in ("long", "short")
                         for key, value in (("packet", "1040 B"), ("window", "20 packets"))})
OVER = {"routers.edge.services.long.rate": "600 kbit/s", "senders.long.target": "600 kbit/s"}
long, short = delivered("long"), delivered("short")

HEADER = "gtfrc-header: 32 bytes above the packet, and the guarantee after slow start"
LDROPS_OPEN = ("open: of OUT, with 32 bytes of header above the packet and the guarantee after slow start: ldrops 43 % in Table 1(b), 47 in 2(b), edrops "
               "there 4.7; with early drops rare, as in the paper's simulator once count x p_b exceeds 1: 45, 50 and 0.8")
GTFRC, TFRC = ("gTFRC", gtfrc), ("TFRC", two)
fig2 = Experiment("gtfrc-fig2", "Fig. 2 and Table 1: 800 kbit/s at 640 ms and 200 kbit/s at 40 ms", [
    row("(a) TFRC, long flow", "kbit/s", long, two, band=ns2(630, 700), off=GTFRC),
    row("(a) TFRC, short flow", "kbit/s", short, two, paper=354, band=ns2(300, 370), off=GTFRC),
    *rfc5348("(a) TFRC", two, "long", "short", short=pin(293)),
    row("(b) gTFRC, long flow", "kbit/s", long, gtfrc, paper="near 800", band=ns2(770), off=TFRC),
    row("(b) gTFRC, short flow", "kbit/s", short, gtfrc, paper="near 200", band=ns2(195, 230), off=TFRC),
    # "Much faster": by the first decrease of the rate, at 11 s.
    row("(b) gTFRC, long flow at its target", "s", target_time("long"), gtfrc, paper="by 11", band=paper(0, 11), off=TFRC),
    row("(a) TFRC, long flow at its target", "s", target_time("long"), two, paper="much later", band=paper(22), off=GTFRC),
    # The printed 23.1 and 49.0 % are most likely 2.31 and 4.90: the text calls Tables 1 and 2 similar.
    *table("Table 1(a)", two, 83.5, 0.03, "23.1 (2.31?)", "49.0 (4.90?)", (ns2(80, 88), NO_IN, ns2(1, 8), ns2(3.5, 7)), off=GTFRC),
    arithmetic("Table 1(a), 23.1 and 49.0 % of OUT lost: short flow at most", "kbit/s", most_of_short(83.5, 23.1, 49.0), 354, near(354),
               f"200 of IN and all OUT that is left of a full link; with 2.31 and 4.90 %: {most_of_short(83.5, 2.31, 4.9):.0f}"),
    *table("Table 1(b)", gtfrc, 94.1, 0.09, 53.8, 0.9, (ns2(94), NO_IN, points(53.8), points(0.9)), ("", "", LDROPS_OPEN, ""), TFRC),
], (over_time("Fig. 2(a): TFRC", two), over_time("Fig. 2(b): gTFRC", gtfrc)), breaks="a TFRC of another RFC")

steady = two.set(measure="100 s - 300 s")
STEADY = ("gTFRC", steady.set(both("gtfrc")))
fig2_steady = Experiment("gtfrc-fig2-steady", "Fig. 2(a) from 100 s on, beside ns-2 2.35 (tests/bench/ns2/gtfrc_fig2a.tcl, 8 seeds)", [
    row("TFRC, long flow (ns-2: 744)", "kbit/s", long, steady, band=ns2(720, 765), off=STEADY),
    row("TFRC, short flow (ns-2: 256)", "kbit/s", short, steady, band=ns2(235, 280), off=STEADY),
    *rfc5348("TFRC", steady, "long", "short"),
], beyond=True)

BEST = most_of_short(87.1, 0)  # with no OUT lost at all
GTFRC4, TFRC4 = ("gTFRC", gtfrc_against_tcp), ("TFRC", against_tcp)
fig4 = Experiment("gtfrc-fig4", "Fig. 4 and Table 2: the same against NewReno on the short way", [
    row("(a) TFRC, long flow", "kbit/s", long, against_tcp, band=ns2(630, 710), off=GTFRC4),
    arithmetic("Table 2(a): NewReno, short flow at most", "kbit/s", BEST, 387, near(387),
               "200 of IN and all OUT of a full link, even if none of it were lost"),
    row("(a) NewReno, short flow", "kbit/s", short, against_tcp, paper=387, band=model(200, BEST), off=GTFRC4),
    row("(a) NewReno / TFRC in its place", "", lambda run, tfrc: short(run) / short(tfrc), against_tcp, two, paper="same order of magnitude",
        band=paper(0.5, 2), breaks="one that displaces the other"),
    *rfc5348("(a) TFRC", against_tcp, "long"),
    row("(b) gTFRC, long flow", "kbit/s", long, gtfrc_against_tcp, paper="near 800", band=ns2(770), off=TFRC4),
    row("(b) NewReno, short flow", "kbit/s", short, gtfrc_against_tcp, paper="near 200", band=ns2(190, 230),
        why="gtfrc-fig4: what arrives is in the band, but part of it had arrived before", off=TFRC4),
    row("(a) NewReno, short flow arriving", "kbit/s", arriving("short"), against_tcp),
    row("(b) NewReno, short flow arriving", "kbit/s", arriving("short"), gtfrc_against_tcp),
    *table("Table 2(a)", against_tcp, 87.1, 0.04, 3.0, 5.0, (ns2(82, 91), NO_IN, points(3), points(5)), off=GTFRC4),
    *table("Table 2(b)", gtfrc_against_tcp, 94.6, 0.07, 56.3, 1.0, (points(94.6), NO_IN, points(56.3), points(1)),
           (HEADER, "", LDROPS_OPEN, LDROPS_OPEN), TFRC4),
], (over_time("Fig. 4(a): TFRC and NewReno", against_tcp), over_time("Fig. 4(b): gTFRC and NewReno", gtfrc_against_tcp)))

# The text speaks of (a) alone. Its own claim, that the round-trip times decide and not the contracts, needs the other way round.
EXCHANGED = {"routers.edge.services.long.rate": "200 kbit/s", "senders.long.target": "200 kbit/s",
             "routers.edge.services.short.rate": "800 kbit/s", "senders.short.target": "800 kbit/s"}
exchanged, exchanged20 = tcp_only.set(EXCHANGED), window20.set(EXCHANGED)
no_early = window20.set({"routers.core.queues.q.assured.rio.out.pmax": "0.000001"})
LARGE = ("large window", tcp_only)
fig5 = Experiment("gtfrc-fig5", "Fig. 5: two NewReno flows; the paper's 200 kbit/s is a window of 20 packets", [
    row("window of 20 packets, long flow", "kbit/s", long, window20, paper=200, band=ns2(195, 210), off=LARGE,
        why="gtfrc-fig5: without early drops of OUT (ns-2's RIO makes none once count x p_b exceeds 1) it is in the band"),
    row("window of 20 packets, long flow: our mean", "kbit/s", long, window20, band=pin(222), off=LARGE, beyond=True),
    row("the same without early drops of OUT, long flow", "kbit/s", long, no_early, paper=200, band=ns2(195, 210), off=LARGE, beyond=True),
    row("window of 20 packets, short flow", "kbit/s", short, window20),
    row("large window, long flow", "kbit/s", long, tcp_only, paper=200, band=ns2(500, 590), off=("window of 20 packets", window20),
        beyond=True),
    row("large window, short flow", "kbit/s", short, tcp_only),
    *(row(f"(b) {window}, {name} flow", "kbit/s", delivered(name), case)
      for window, case in (("window of 20 packets", exchanged20), ("large window", exchanged)) for name in ("long", "short")),
], (over_time("Fig. 5(a): NewReno, window of 20 packets", window20), over_time("Fig. 5(a): NewReno, large window", tcp_only),
    over_time("Fig. 5(b): NewReno, window of 20 packets", exchanged20), over_time("Fig. 5(b): NewReno, large window", exchanged)))

UNTRIED = "open: nothing was tried"
over, gtfrc_over = two.set(OVER), gtfrc.set(OVER)
GTFRC6, TFRC6 = ("gTFRC", gtfrc_over), ("TFRC", over)
fig6 = Experiment("gtfrc-fig6", "Fig. 6 and Table 3: over-provisioned, 600 kbit/s at 640 ms and 200 kbit/s at 40 ms", [
    row("(a) TFRC, long flow", "kbit/s", long, over, paper="never reaches 600", band=ns2(520, 590), off=GTFRC6),
    row("(a) TFRC, short flow", "kbit/s", short, over, paper="above 200", band=paper(200), breaks="OUT refused"),
    *rfc5348("(a) TFRC", over, "long", "short"),
    row("(b) gTFRC, long flow", "kbit/s", long, gtfrc_over, paper="reaches 600", band=ns2(590, 620), off=TFRC6),
    row("(b) gTFRC, short flow", "kbit/s", short, gtfrc_over),
    *table("Table 3(a)", over, 74.6, 0, 0.5, 3.7, (points(74.6), NO_IN, twofold(0.5), points(3.7)), ("", "", UNTRIED, ""),
           ("800 kbit/s: Fig. 2(a)", two)),
    *table("Table 3(b)", gtfrc_over, 76.9, 0, 0.6, 4.2, (points(76.9), NO_IN, twofold(0.6), points(4.2)), ("", "", UNTRIED, ""),
           ("800 kbit/s: Fig. 2(b)", gtfrc)),
], (over_time("Fig. 6(a): TFRC", over), over_time("Fig. 6(b): gTFRC", gtfrc_over)))

a, b = against_tcp.set(OVER), gtfrc_against_tcp.set(OVER)
fig7 = Experiment("gtfrc-fig7", "Fig. 7: over-provisioned, against NewReno on the short way", [
    row("(a) TFRC, long flow", "kbit/s", long, a, band=ns2(515, 590), off=("gTFRC", b)),
    row("(a) NewReno, short flow", "kbit/s", short, a, paper=400, band=ns2(370, 450), off=("800 kbit/s: Fig. 4(a)", against_tcp)),
    *rfc5348("(a) TFRC", a, "long"),
    row("(b) gTFRC, long flow", "kbit/s", long, b, band=ns2(590, 620), off=("TFRC", a)),
    row("(b) NewReno, short flow", "kbit/s", short, b, paper=400, band=ns2(370, 450), off=("800 kbit/s: Fig. 4(b)", gtfrc_against_tcp)),
], (over_time("Fig. 7(a): TFRC and NewReno", a), over_time("Fig. 7(b): gTFRC and NewReno", b)))

ten = Case("gtfrc-ten-flows")
ten_tfrc = ten.set({"senders.f.protocol": "tfrc"})


def each(reduce):
    return lambda run: reduce(f["delivered_bps"] for f in run.flows()) / 1000


def target_times(run):
    return [f["time_to_target_s"] for f in run.flows()]


def last(run):
    return max(math.inf if time is None else time for time in target_times(run))


def ten_over_time(title, case):
    return Series(title, "throughput (kbit/s)", {f"{40 + 100 * n} ms": (case, flow_series(f"f#{n}")) for n in (1, 4, 7, 10)})


fig8 = Experiment("gtfrc-fig8", "Fig. 8: ten flows of 100 kbit/s, RTT 140 to 1040 ms", [
    row("(b) gTFRC, least flow", "kbit/s", each(min), ten, paper=100, band=ns2(96), off=("TFRC", ten_tfrc)),
    row("(b) gTFRC, largest flow", "kbit/s", each(max), ten, paper=100, band=ns2(0, 106), off=("TFRC", ten_tfrc)),
    row("(b) gTFRC, last at its target", "s", last, ten, paper="< 10", band=paper(0, 10),
        off=("TFRC", ten_tfrc)),
    row("(a) TFRC, last at its target of those that get there", "s", lambda run: max(known(target_times(run))), ten_tfrc, band=ns2(15),
        off=("gTFRC", ten)),
    row("(a) TFRC, flows that never get there", "", lambda run: target_times(run).count(None), ten_tfrc),
    row("(a) TFRC, least flow", "kbit/s", each(min), ten_tfrc),
    row("(a) TFRC, largest flow", "kbit/s", each(max), ten_tfrc),
], (ten_over_time("Fig. 8(a): TFRC", ten_tfrc), ten_over_time("Fig. 8(b): gTFRC", ten)))

KINDS = {"gTFRC": {}, "TFRC": {"senders.f.protocol": "tfrc"}, "NewReno": tcp("f")}


def one_flow(label, cases):
    """{kind: rows over the loads}, of {load: case}."""
    return {kind: sweep(label, kind, "kbit/s", delivered("f"), {x: case.set(settings) for x, case in cases.items()})
            for kind, settings in KINDS.items()}


def least(cases):
    return lambda *runs: min(run.flow("f")["delivered_bps"] for run in runs) / 1000


load = Case("gtfrc-load")
cbr = {percent: load.set({"senders.load.rate": f"{10 * percent} kbit/s"} if percent else {"senders.load": None})
       for percent in range(0, 81, 10)}
lines = one_flow("CBR load (% of the link)", cbr)
fig9 = Experiment("gtfrc-fig9", "Fig. 9: 600 kbit/s at 200 ms against OUT CBR of 0 to 80 % of the link, 100 s", [
    row("gTFRC, least over the loads", "kbit/s", least(cbr), *cbr.values(), paper="~600", band=ns2(585),
        off=("TFRC", tuple(case.set(KINDS["TFRC"]) for case in cbr.values()))),
    row("TFRC at 80 %", "kbit/s", delivered("f"), cbr[80].set(KINDS["TFRC"]), band=ns2(430, 560), off=("gTFRC", cbr[80])),
    *rfc5348("TFRC at 80 %", cbr[80].set(KINDS["TFRC"]), "f"),
    row("NewReno at 80 %", "kbit/s", delivered("f"), cbr[80].set(KINDS["NewReno"]), band=ns2(430, 560), off=("gTFRC", cbr[80])),
    *sum(lines.values(), []),
], (Figure("Fig. 9", "CBR load (% of the link)", "throughput (kbit/s)", lines, levels={"target": 600}),))

aggregate = load.set({**tcp("load"), "senders.load.rate": None})
flows = {n: aggregate.set({"senders.load.flows": str(n)}) for n in range(1, 21)}
lines10 = one_flow("NewReno flows", flows)
fig10 = Experiment("gtfrc-fig10", "Fig. 10: the same flow against 1 to 20 NewReno flows at 80 ms", [
    row("gTFRC, least over the numbers", "kbit/s", least(flows), *flows.values(), paper="~600", band=ns2(590),
        off=("TFRC", tuple(case.set(KINDS["TFRC"]) for case in flows.values()))),
    *(row(f"{kind} beside {n}", "kbit/s", delivered("f"), flows[n].set(KINDS[kind]), band=ns2(0, 520), why=why,
          off=("gTFRC", flows[n]))
      for kind, why in (("TFRC", "gtfrc-fig10: at the edge of the band: the standard error of 20 seeds is 6"), ("NewReno", "")) for n in (16, 20)),
    *rfc5348("TFRC beside 20", flows[20].set(KINDS["TFRC"]), "f"),
    *sum(lines10.values(), []),
], (Figure("Fig. 10", "NewReno flows", "throughput (kbit/s)", lines10, levels={"target": 600}),), seeds=(20, 5))

SMALL = {"duration": "180 s", "senders.long.packet": "1000 B", "senders.short.packet": "1000 B"}
a11, b11 = two.set(SMALL), gtfrc.set(SMALL)
fig11 = Experiment("gtfrc-fig11", "Fig. 11: Fig. 2 with packets of 1000 bytes, 180 s (the same on the wire: surety-lab live)", [
    row("(a) TFRC, long flow", "kbit/s", long, a11),
    row("(a) TFRC, short flow", "kbit/s", short, a11),
    *rfc5348("(a) TFRC", a11, "long", "short"),
    row("(b) gTFRC, long flow", "kbit/s", long, b11, band=ns2(770), off=("TFRC", a11)),
    row("(b) gTFRC, short flow", "kbit/s", short, b11),
], (over_time("Fig. 11(a): TFRC", a11), over_time("Fig. 11(b): gTFRC", b11)))

MORE = (1, 1.2, 1.5)  # what a sender says of its g, over what it bought


def saying(case, flow, bought):
    """{factor: the case with this flow's g}"""
    return {part: case.set({f"senders.{flow}.target": f"{bought * part:g} kbit/s"}) for part in MORE}


def lost(flow):
    return lambda run: 100 * run.flow(flow)["lost_packets"] / run.flow(flow)["sent_packets"]


def in_rate(flow):
    return lambda run: run.flow(flow)["in_throughput_bps"] / 1000


def sum_of(flows):
    return lambda run: sum(f["delivered_bps"] for f in run.flows(flows)) / 1000


def gain(flow):
    """Percent that it gets above what it gets when it tells the truth."""
    return lambda run, honest: 100 * (run.flow(flow)["delivered_bps"] / honest.flow(flow)["delivered_bps"] - 1)


def overstating(setting, flow, cases, others, value, why="", **bands):
    """Section 3: no advantage to the flow itself, the contracts of others are kept, the rest is flooded. `bands`: of the others."""
    honest = cases[1]
    service = {"f": "contract"}.get(flow, flow)
    believed = {part: case.set({f"routers.edge.services.{service}.rate": dict(case.settings)[f"senders.{flow}.target"]})
                for part, case in cases.items() if part > 1}
    against_honest = {part: (case, honest) for part, case in cases.items() if part > 1}
    change = "an edge that marks by what is stated"
    return [*sweep("g stated / g ordered", f"{setting}, {flow} flow itself", "kbit/s", delivered(flow), cases),
            *sweep("g stated / g ordered", f"{setting}, {flow} flow's losses", "%", lost(flow), cases),
            *sweep("g stated / g ordered", f"{setting}, {flow} flow's gain", "%", gain(flow), against_honest,
                   ["no advantage"] * len(against_honest), paper(high=2), why,
                   off=(change, {part: (case, honest) for part, case in believed.items()})),
            *sweep("g stated / g ordered", f"{setting}, {others}", "kbit/s", value, cases, off=(change, believed), **bands)]


PROTECTED = [None, *["the IN traffic of others is protected"] * (len(MORE) - 1)]


def protected(band):
    """Nothing is overstated at a factor of 1: no band."""
    return {"papers": PROTECTED, "bands": dict.fromkeys(MORE[1:], band)}


UNSOLD = "gtfrc-overstated: it takes more of the uncommitted capacity; the IN of others is unchanged"
overstated = Experiment("gtfrc-overstated", "Section 3: a sender that states 20 and 50 % more than it ordered", [
    *overstating("Fig. 2(b)", "long", saying(gtfrc, "long", 800), "IN of the short flow", in_rate("short"),
                 **protected(paper(190))),
    *overstating("Fig. 2(b)", "short", saying(gtfrc, "short", 200), "IN of the long flow", in_rate("long"),
                 **protected(paper(760))),
    *overstating("Fig. 6(b)", "long", saying(gtfrc_over, "long", 600), "IN of the short flow", in_rate("short"), UNSOLD,
                 **protected(paper(190))),
    *overstating("Fig. 10", "f", saying(flows[10], "f", 600), "ten NewReno flows without a contract", sum_of("load*"), UNSOLD),
], breaks="IN dropped as OUT is")

# Section 4: 800 and 400 kbit/s are sold of 1 Mbit/s. Without theta both senders go on, so 200 of 1200 are dropped, of each its part.
SOLD = {"routers.edge.services.short.rate": "400 kbit/s", "senders.short.target": "400 kbit/s"}
under = {"off": gtfrc.set(SOLD), **{theta: gtfrc.set({**SOLD, "senders.long.theta": str(theta), "senders.short.theta": str(theta)})
                                    for theta in (1, 2, 4, 8)}}


def only_off(band):
    return {"off": band}


under_provisioned = Experiment("gtfrc-under", "Section 4: 120 % of the link is committed, with and without theta", [
    *sweep("theta", "long flow", "kbit/s", long, under, bands=only_off(model(633, 700))),
    *sweep("theta", "short flow", "kbit/s", short, under, bands=only_off(model(317, 350))),
    *sweep("theta", "IN dropped", "%", drops("in", *ALL), under, bands=only_off(model(16, 17.4))),
    *sweep("theta", "bottleneck used", "%", utilisation(QUEUE), under),
], (over_time("Without theta", under["off"]), over_time("theta = 2", under[2])), beyond=True, breaks="a sender that falls below g")

PAPER = Paper("gtfrc", "gTFRC, Lochin, Dairaine, Jourjon", (20, 20),
              [fig2, fig2_steady, fig4, fig5, fig6, fig7, fig8, fig9, fig10, fig11, overstated, under_provisioned, *BEYOND])
