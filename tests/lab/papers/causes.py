# SPDX-License-Identifier: BSD-3-Clause
"""Why rows of the other pages miss: the same tables with what the papers' simulators did and the papers do not say.

Each experiment is the reason (Row.why) of rows that miss. The settings come from the numbers that a paper prints, or from its simulator;
the bands are those of the paper's numbers all the same, and what misses here stays a miss.
"""
import dataclasses

from . import ard, csa, gtfrc, tfrc
from .csa_cases import LOST_RENO, N, cases_of, missed, rows_of
from .rows import Experiment, Series, aggregate_series, delivered, model, near, paper, points, ros, row, sweep

# --- CSA: RFC 2581 is Reno; a token comes each packet / r from time 0 on, the same for all flows (Table 2's N = 10, 15 and 20 agree to
# five digits), so that the flows send together; the average stays while the queue is idle between two such bursts. The clock alone, and an
# average that counts the arriving packet, too, are printed beside it.
CLOCK = {"routers.edge.services.af2.tokens": "ticks", "senders.f.protocol": "reno"}
BORDER_CLOCK = {f"routers.edge.services.{phb}.tokens": "ticks" for phb in ("phb1", "phb3")}
STAYS = {"routers.edge.queues.atm.assured.rio.idle_decay": False}
COUNTS = {"routers.edge.queues.atm.assured.rio.count_arriving": True}
SETTINGS = {", no idle decay": STAYS, "": {}, ", no idle decay, the arrival counted": {**STAYS, **COUNTS}}  # the first is judged
BORDER = ("csa-reno10: with a common clock at the border alpha falls to its minimum there, in some seeds (RoS 99), and stays in others (RoS 67); "
          "the paper is between")
ROS_C = "open: tried Reno at RTT 10, 40 and 80 ms: 98.2 to 99.3"
BETWEEN = ("open: the paper is between an average that stays while the queue is idle, 90 and 77, and one that decays, 66 and 59; tried a fifteenth of the "
           "decay, 71 and 60, the arrival counted, 88 and 80, and RTT 22 and 24 ms, 90 and 81")
SEEDS = "open: from 49 to 87 by the seed, 71 in the mean of three seeds; nothing was tried"
CLOCK_MISSED = {"fixed alpha 0.4": (None, missed(BETWEEN, 25, 30)), "fixed alpha 0.2": (None, missed(SEEDS, 30))}
CLOCK_LOST = {
    "fixed alpha 0.4": ("open: the paper is between this and an independent model, which gives 4.14, 7.70 and 10.6; tried RTT 22 and 24 ms, the arrival "
                        "counted, buckets that hand out 98.7 % of their tokens as the paper's do: 4.8 to 6.0 at N = 20"),
    "fixed alpha 0.2": ("open: as with alpha 0.4, where the paper is between this and an independent model; tried RTT 22 and 24 ms, the arrival counted, "
                        "buckets that hand out 99.0 % of their tokens as the paper's do: 2.9 to 3.9 at N = 20"),
    "CSA": ("open: the paper's buckets do not hand out all of their tokens, so that it loses less on a full link: 3.5 at N = 30 with 98.7 % of them; RTT 22 "
            "and 24 ms: 7.3 and 6.7"),
}
ALPHA = {"fixed alpha 0.4": {"alpha": {"fixed": 0.4}}, "fixed alpha 0.2": {"alpha": {"fixed": 0.2}}, "CSA": {"alpha.control": "paper"}}


def csa_clock():
    rows = []
    for setting, more in SETTINGS.items():
        for name, cases in cases_of(ALPHA, {**CLOCK, **more}).items():
            rates, respect, _, out_lost, _ = csa.PRINTED[name]
            judged = (near, points, CLOCK_MISSED.get(name, (None, None))) if more == STAYS else ()
            own = rows_of(f"{name}{setting}", cases, rates, respect, *judged)
            lost = {n: near(printed) for n, printed in zip(N, out_lost) if printed} if judged else None
            rows += [*own[0], *own[1], *sweep("N", f"{name}{setting}: P_nc", "10^-3", csa.lost("out"), cases, out_lost, lost,
                                              missed(CLOCK_LOST[name], *lost) if judged else None)]
    return Experiment("csa-clock", "Table 2 with tokens on a common clock: Reno, RTT 20 ms", rows, quick=csa.SHORT)


def csa_reno10():
    off = {name: case.set({f"senders.{flow}.protocol": "reno" for flow in ("af1", "af3", "be")})
           for name, case in csa.two("paper", "off", "2.5 ms").items()}
    rows = csa.as_printed("off", off, "off", True, missed(BORDER, "B"), {"B": BORDER, "C": ROS_C}, LOST_RENO)
    for setting, more in (("common clock and no idle decay at the border", STAYS), ("the arrival counted, too", {**STAYS, **COUNTS})):
        case = off["B"].set({**BORDER_CLOCK, **more})
        for phb, pattern in csa.CLASSES.items():
            rows.append(row(f"{setting}, off, case B: {phb} throughput", "kbit/s", delivered(pattern), case, paper=csa.RATES["off"][phb][1]))
            if phb in csa.BOUGHT:
                rows.append(row(f"{setting}, off, case B: {phb} RoS", "%", ros(pattern), case, paper=csa.RESPECT["off"][phb][1]))
        rows.append(row(f"{setting}, off, case B: mean alpha", "", csa.alpha, case))
        rows.append(row(f"{setting}, off, case B: seeds in which alpha falls to its minimum", "%", falls, case))
    return Experiment("csa-reno10", "Table 3 without signals: Reno, RTT 10 ms; case B with tokens on a common clock, too", rows, seeds=(20, 3))


def falls(run):
    return 100 if csa.alpha(run) < 0.1 else 0


# --- gTFRC: 32 bytes of header above the 1500, which the rates do not count, and a guarantee from the first decrease of the rate on.
MTU = {f"routers.{router}.ports.{port}.mtu": 1600 for router, port in
       (("edge", "a"), ("edge", "b"), ("edge", "up"), ("core", "in"), ("core", "out"))}


def with_header(case, *flows):
    return case.set({**MTU, **{f"senders.{flow}.{key}": value for flow in flows
                               for key, value in (("header", "32 B"), ("guarantee", "after-slow-start"))}})


def gtfrc_header():
    rows = []
    for name, case, flows, *printed in (
            ("Table 1(b)", gtfrc.gtfrc, ("long", "short"), 94.1, 0.09, 53.8, 0.9),
            ("Table 2(b)", gtfrc.gtfrc_against_tcp, ("long",), 94.6, 0.07, 56.3, 1.0),
            ("Table 3(b)", gtfrc.gtfrc.set(gtfrc.OVER), ("long", "short"), 76.9, 0, 0.6, 4.2)):
        rows += gtfrc.table(name, with_header(case, *flows), *printed, (points(printed[0]), None, None, None))
    return Experiment("gtfrc-header", "Tables 1(b) to 3(b): 32 bytes above the packet, the guarantee after slow start", rows)


# --- ARD: the band of the drops without randomness is of a model that counts OUT packets alone.
PHASES = "ard-decoupled: the phases of their windows lock flows out; where chance loses 0.1 % it is in the band"


def ard_decoupled():
    rows, decoupled = [], {"routers.cr1.queues.q.assured.aqm": "decoupled-tail-drop"}
    chance = ard.networks({**decoupled, "links.h~er.lan.loss": "0.001"})["a"]
    rows += sweep("scheme", "(a) Jain's index, 0.1 % lost on the hosts' lines", "", ard.fairness("f#*"), chance, bands=model(0.91, 0.99))
    for n, cases in ard.networks(decoupled).items():
        rows += [*sweep("scheme", f"({n}) Jain's index", "", ard.fairness("f#*"), cases, ard.JAIN[n], model(0.91, 0.99),
                        PHASES if n == "a" else None),
                 *sweep("scheme", f"({n}) utilisation", "%", ard.utilisation(ard.QUEUE), cases)]
    return Experiment("ard-decoupled", "Drops without randomness: OUT refused from max_out OUT packets in the queue on, as in the band's model",
                      rows)


def poisson_level(rate, taken, depth):
    """Mean tokens of a leaky bucket from which packets take one each at Poisson times (M/D/1): hosts that mark are smoother."""
    load = taken / rate
    return depth - load / (2 * (1 - load))


def ard_level():
    """Fig. 7: the paper says that IN rises to TPR and keeps the level below T_rd; here IN does not, and that level needs a TPR below lambda_in."""
    rows, drawn = [], []
    for n, case in {n: cases["ARD"] for n, cases in ard.networks({"sample": "100 ms"}).items()}.items():
        tpr, metered, _ = ard.METERED[n]
        for what, rate in (("the paper's TPR", tpr), ("the paper's lambda_in as TPR", metered), ("nine tenths of it as TPR", 0.9 * metered)):
            held = case.set({"routers.er.aggregates.tcp.rate": f"{rate:g} kbit/s", "routers.er.aggregates.tcp.interval": "1000 s"})
            # Our lambda_in is 460 kbit/s in (a), and above the paper's TPR in (b).
            band = model(poisson_level(tpr, metered, 60), 60) if (n, rate) == ("a", tpr) else None
            rows += [row(f"({n}) {what}: token level", "packets", ard.aggregate("tokens_mean_bytes"), held, paper="0 - 15", band=band),
                     row(f"({n}) {what}: time with less than T_rd", "%", ard.aggregate("below_threshold", 0.01), held, paper="stays there")]
            drawn.append(Series(f"Fig. 7, ARD, {ard.FLOWS[n]} flows, TPR {rate:g} kbit/s: token level", "tokens (packets)",
                                {what: (held, aggregate_series("tcp"))}, levels={"T_rd": 15, "b": 60}))
        rows.append(row(f"({n}) tokens that the paper's TPR brings in 100 s beyond its lambda_in", "packets",
                        lambda _, more=tpr - metered: more * 100 / 8, held, paper="a level of 0 - 15, of at most 60"))
    return Experiment("ard-level", "Fig. 7: the bucket's level where TPR is held", rows, tuple(drawn))


# --- TFRC: the simulator's first data packet leaves 12 ms after ours; its least RTO is 1 s.
def tfrc_later():
    later = {x: tfrc.pairs[x].set({"senders.tfrc.start": "112 ms"}) for x in (2, 3, 4)}
    return Experiment("tfrc-later", "Table 2 with TFRC's first data 12 ms later, Table 3 with a least RTO of 1 s", [
        *sweep("Mbit/s", "Table 2: TFRC sent", "packets", tfrc.sent("tfrc"), later, (24971, 37458, 49944), tfrc.within_three),
        row("Table 3, 1 Mbit/s: UDP received", "packets", tfrc.received("udp"), tfrc.floods[1].set({"senders.tcp.min_rto": "1 s"}),
            paper=12438, band=paper(12430, 12490)),
    ])


def beside(*experiments):
    """A number of a paper counts once, where it misses."""
    return [dataclasses.replace(each, beyond=True, breaks=each.breaks or "the settings of the rows that it explains") for each in experiments]


CAUSES = {"csa": beside(csa_clock(), csa_reno10()), "gtfrc": beside(gtfrc_header()), "ard": beside(ard_decoupled(), ard_level()),
          "tfrc": beside(tfrc_later())}
