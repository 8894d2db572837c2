# SPDX-License-Identifier: BSD-3-Clause
"""CSA at other round-trip times, at all of them together, and with Reno; gTFRC and GTCP through it instead of a plain marker."""
from . import ard_spread
from .csa_cases import ACTS, PROVISIONED, SHORT, cases_of, missed, rows_of
from .lab import Case
from .rows import Experiment, arriving, delivered, model, paper, row, sweep

FIXED = ((1381, 1381, 1346, 1157, 907), (98.7, 98.7, 97.3, 86.5, 70.4))
CSA = ((1381.32, 1381.31, 1040.13, 1013.19, 1004.72), (98.70, 98.70, 99.71, 99.31, 98.42))
VARIANTS = {"fixed alpha 0.4": {"alpha": {"fixed": 0.4}}, "CSA": {"alpha.control": "paper"}, "search": {}}


def at_rtt(name, title, common, fixed_bands=None, fixed_missed=None, judged=True, **more):
    """Scenario 1 elsewhere. The paper's promise is judged unless TCP itself fails there; its numbers are of one RTT only."""
    cases = cases_of(VARIANTS, common)
    promise, ours = ((PROVISIONED, paper(98)), (model(1000), model(98))) if judged else ((None, None), (None, None))
    off = {"off": ("fixed alpha 0.4", cases["fixed alpha 0.4"]), "acts": ACTS} if judged else {}
    rows = [*rows_of("fixed alpha 0.4", cases["fixed alpha 0.4"], *FIXED, None, fixed_bands, (None, fixed_missed), off=("CSA", cases["CSA"])),
            *rows_of("CSA", cases["CSA"], *CSA, *promise, (None, missed(f"{name}: `search` keeps it in the same network", 25, 30) if judged else None), **off),
            *rows_of("search", cases["search"], *CSA, *ours, **off)]
    full = {n: model(1150) for n in (20, 25)} if judged else None
    rows.append(sweep("N", "search: the link is filled", "kbit/s", delivered("f#*"), cases["search"], bands=full))
    return Experiment(name, title, sum(rows, []), quick=SHORT, beyond=True, breaks="alpha fixed at 0", **more)


DELAY, RENO = "links.edge.up~sink.delay", {"senders.f.protocol": "reno"}
SERVICES = "routers.edge.services"


def conditioners(rates, out, **more):
    return {f"{SERVICES}.{name}": {"conditioner": "csa", "rate": rate, "out_bucket": "1500 B", "mark": {"in": "AF11", "out": out}, **more}
            for name, rate in rates.items()}


def gtfrc():
    base = Case("csa-gtfrc")
    csa = conditioners({"long": "800 kbit/s", "short": "200 kbit/s"}, "AF13", in_bucket="10 kB")
    tfrc = {"senders.long.protocol": "tfrc", "senders.short.protocol": "tfrc"}

    def in_share(run):
        return 100 * sum(f["in_throughput_bps"] for f in run.flows()) / sum(f["throughput_bps"] for f in run.flows())
    rows = []
    for name, case, bands in (("TFRC, plain marker", base.set(tfrc), (None, None, None)), ("gTFRC, plain marker", base, (None, None, None)),
                              ("TFRC through CSA", base.set(csa).set(tfrc), (None, None, None)),
                              ("gTFRC through CSA", base.set(csa), (model(770), model(195, 230), model(94)))):
        rows += [row(f"{name}: long flow (800)", "kbit/s", delivered("long"), case, band=bands[0]),
                 row(f"{name}: short flow (200)", "kbit/s", delivered("short"), case, band=bands[1]),
                 row(f"{name}: IN of what arrives", "%", in_share, case, band=bands[2])]
    return Experiment("csa-gtfrc", "Beyond the paper: gTFRC through the CSA conditioner (gTFRC paper's Fig. 2)", rows,
                      quick={"duration": "100 s"}, beyond=True, breaks="TFRC through CSA: its row")


def gtcp():
    reserved = {"f0": 4, "f1": 2, "f2": 1}
    base = Case("csa-gtcp")
    csa = base.set(conditioners({name: f"{rate} Mbit/s" for name, rate in reserved.items()}, "BE", in_bucket="30 kB"))

    def least(run):
        return 100 * min(run.flow(name)["delivered_bps"] / (1e6 * rate) for name, rate in reserved.items())
    rows = []
    for name, case in (("plain marker", base), ("CSA", csa)):
        rows += [*(row(f"{name}: {flow} ({rate}, ideal {rate + 0.5})", "Mbit/s", delivered(flow, 1e6), case)
                   for flow, rate in reserved.items()),
                 row(f"{name}: f0 arriving", "Mbit/s", arriving("f0", 1e6), case),
                 row(f"{name}: best-effort flows (ideal 0.5)", "Mbit/s", delivered("be#*", 1e6), case)]
    rows.append(row("CSA: least share of the reservation", "%", least, csa, band=model(100)))
    return Experiment("csa-gtcp", "Beyond the paper: GTCP through the CSA conditioner (GTCP paper's network, tight, RTT 50 ms)", rows,
                      quick={"duration": "60 s", "measure": "20 s - 60 s"}, beyond=True, breaks="buckets below rate x RTT")


def auto():
    """What `max: auto` comes to is what is left of the link, as a part of the contracts. A link of more would not be filled: a window of
    64 KB is 273 kbit/s at 1920 ms."""
    rows, queue = [], "er/up/assured"
    for rate, left in ((5.5, 0.1), (6, 0.2)):
        case = ard_spread.base.set(ard_spread.csa("auto")).set({"routers.er.ports.up.shape": f"{rate} Mbit/s",
                                                                "links.er.up~cr1.in.rate": f"{rate} Mbit/s"})
        rows += [*ard_spread.judged(f"{rate} Mbit/s", case, queue, model(0.99), model(98)),
                 row(f"{rate} Mbit/s: least of a flow's contract", "%", least_of_contract, case),
                 row(f"{rate} Mbit/s: mean alpha", "", lambda run: run.domain(queue)["alpha_mean"], case, band=model(high=left))]
    return Experiment("csa-alpha-auto", "Beyond the paper: `max: auto`, 20 contracts of 0.25 Mbit/s over RTT 20 to 1920 ms, no ARD", rows,
                      quick={"duration": "200 s", "measure": "100 s - 200 s"}, beyond=True, breaks="alpha fixed at 0.4: ard-rtt-spread")


def least_of_contract(run):
    return 100 * min(f["delivered_bps"] / f["committed_bps"] for f in run.flows())


BEYOND = [
    at_rtt("csa-rtt2", "Scenario 1 at RTT 2 ms, NewReno", {DELAY: "1 ms"}, {30: model(0, 80)}),
    at_rtt("csa-rtt60", "Scenario 1 at RTT 60 ms, NewReno", {DELAY: "30 ms"}),
    at_rtt("csa-reno60", "Scenario 1 at RTT 60 ms, Reno", {DELAY: "30 ms", **RENO}, {30: model(70, 82)},
           missed("open: the seeds spread by 6 points; which TCP and ticks the model has is not known", 30), full_only=True),
    # Reno at 2 to 20 ms suffers whatever alpha does: whole windows lost, coarse timeouts.
    at_rtt("csa-reno20", "Scenario 1 at RTT 20 ms, Reno", RENO, judged=False, full_only=True),
    at_rtt("csa-reno2", "Scenario 1 at RTT 2 ms, Reno", {DELAY: "1 ms", **RENO}, judged=False, full_only=True),
    auto(), gtfrc(), gtcp(),
]
