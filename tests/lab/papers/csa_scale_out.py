# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper: an edge of two routers, and what happens to contracts when flows move between them (scale_out.md).

Eight flows of 1 Mbit/s onto 10 Mbit/s. A move may give a flow its in-bucket of 15 kB once more, and, with a CSA contract, the IN part
of what waits at the old edge: at most 20 packets, 30 kB.
"""
from .lab import Case
from .rows import Experiment, delivered, fairness, model, ros, row

base = Case("scale-out")
MOVES = {"routes": "[{to: dm, by: agg.e2, at: 60 s}, {to: m, by: core.e2, at: 60 s}]"}
PAPERS_TCP = {f"senders.{s}.{key}": "off" for s in "ms" for key in ("sack", "ecn")}
KINDS = {  # settings; bounds of IN beyond the rate in kB, and of packets out of order
    "NewReno, CSA": (PAPERS_TCP, 45, 20),
    "gTFRC, CSA": ({"senders.m.protocol": "gtfrc", "senders.s.protocol": "gtfrc"}, 45, 20),
    "NewReno, token bucket": ({**PAPERS_TCP, **{f"routers.{edge}.classify.0.service": "bucket" for edge in ("one", "two")}}, 15, 0),
}
SPLITS = {
    "all by one edge": {},
    "4 and 4": {"routes": "[{to: dm, by: agg.e2}, {to: m, by: core.e2}]"},
    "2 and 6": {"routes": "[{to: dm, by: agg.e2}, {to: m, by: core.e2}, {to: ds#1, by: agg.e2}, {to: ds#2, by: agg.e2},"
                          " {to: s#1, by: core.e2}, {to: s#2, by: core.e2}]"},
    "4 and 4, all signals to the first": {"routes": "[{to: dm, by: agg.e2}]"},
}


def extra(run):
    """Most IN of a flow beyond 5 s of its rate, in kB."""
    return max(f["contract_in_bytes"] for f in run.flows("m#*")) / 1000 - 625


def late(run):
    return max(f["reordered_packets"] for f in run.flows("m#*"))


def move():
    rows = []
    for kind, (settings, bucket, order) in KINDS.items():
        for what, more in (("stay", {}), ("move", MOVES)):
            case = base.set({"duration": "66 s", **settings, **more})
            bands = (model(98) if "CSA" in kind else None, model(high=bucket), model(high=order)) if more else (None, None, None)
            rows += [row(f"{kind}, {what}: RoS", "%", ros("m#*"), case, band=bands[0]),
                     row(f"{kind}, {what}: throughput", "kbit/s", delivered("m#*"), case),
                     row(f"{kind}, {what}: most IN of a flow beyond 5 s of its rate", "kB", extra, case, band=bands[1], every=True),
                     row(f"{kind}, {what}: most packets of a flow out of order", "", late, case, band=bands[2], every=True),
                     row(f"{kind}, {what}: RoS of the four that stay", "%", ros("s#*"), case)]
    return Experiment("csa-scale-out-move", "Beyond the paper: four of eight flows move to the other edge; the 5 s after it", rows,
                      seeds=(20, 3), beyond=True, breaks="records that move with full buckets twice")


def split():
    rows = []
    for name, settings in SPLITS.items():
        case = base.set({"measure": "20 s - 120 s", **PAPERS_TCP, **settings})
        rows += [row(f"{name}: least RoS of a flow", "%", lambda run: 100 * min(f["ros"] for f in run.flows()), case, band=model(98)),
                 row(f"{name}: throughput, s#3 and s#4 at the first edge", "kbit/s", delivered("s#[34]"), case),
                 row(f"{name}: throughput, flows m", "kbit/s", delivered("m#*"), case),
                 row(f"{name}: Jain's index", "", fairness(), case),
                 row(f"{name}: all together", "kbit/s", lambda run: sum(f["delivered_bps"] for f in run.flows()) / 1000, case),
                 row(f"{name}: signals to the first edge", "", lambda run: run.signals("one", "applied"), case),
                 row(f"{name}: signals to the second edge", "", lambda run: run.signals("two", "applied"), case)]
    return Experiment("csa-scale-out-split", "Beyond the paper: how the flows are split over two edges, and where the signals go", rows,
                      seeds=(20, 3), beyond=True, breaks="signals that reach neither edge")


SCALE_OUT = [move(), split()]
