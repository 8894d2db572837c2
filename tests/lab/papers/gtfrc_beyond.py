# SPDX-License-Identifier: BSD-3-Clause
"""gTFRC beyond the paper: a guarantee that is delivered through losses (`repair`), and a fair share of the excess (`excess: fair`).

The paper's G = max(g, X) delivers g (1 - p), and has less than a TCP flow of what nobody bought: X is the rate of all its packets.
"""
from .lab import Case
from .rows import Experiment, delivered, model, row, sweep

load = Case("gtfrc-load").set({"senders.f.tfrc": "rfc5348"})

# A link with room that loses packets behind the marker: contract 2.2 Mbit/s, link 10 Mbit/s; no other traffic. g is 2 Mbit/s, so that
# repair stays within what was bought.
LOSS = 5
lossy = load.set({"senders.load": None, "senders.f.target": "2 Mbit/s", "routers.edge.services.contract.rate": "2.2 Mbit/s",
                  "routers.core.ports.out.shape": "10 Mbit/s", "links.3.loss": LOSS / 100, "measure": "20 s - 100 s"})
REPAIR = {"senders.f.repair": "2.2 Mbit/s"}
ONE_WAY = {30: "12 ms", 200: "97 ms", 640: "317 ms"}  # of the first link; the others add 3 ms


def at_each_rtt(case):
    return {rtt: case.set({"links.0.delay": delay}) for rtt, delay in ONE_WAY.items()}


repair = Experiment("gtfrc-beyond-repair", f"Beyond the paper: 2 Mbit/s through {LOSS} % of random loss", [
    row("the paper, RTT 200 ms", "kbit/s", delivered("f"), lossy),
    *sweep("RTT (ms)", "repair up to 2.2 Mbit/s", "kbit/s", delivered("f"), at_each_rtt(lossy.set(REPAIR)), bands=model(1980),
           off=("no repair", at_each_rtt(lossy))),
    *sweep("RTT (ms)", "repair and fair", "kbit/s", delivered("f"),
           at_each_rtt(lossy.set({**REPAIR, "senders.f.excess": "fair"})), bands=model(1980), off=("no repair", at_each_rtt(lossy))),
], seeds=(20, 3), beyond=True)

# Fig. 10's network with one round-trip time for all, 80 ms: 400 kbit/s are not bought.
TCP = {"protocol": "newreno", "window": "1000 packets", "initial_window": "2 packets", "min_rto": "200 ms", "timestamps": "off", "sack": "off",
       "ecn": "off", "rate": None}
beside = load.set({"links.0.delay": "37 ms", **{f"senders.load.{key}": value for key, value in TCP.items()}})
flows = {n: beside.set({"senders.load.flows": str(n)}) for n in (1, 2, 4, 8, 16)}
fair = {n: case.set({"senders.f.excess": "fair"}) for n, case in flows.items()}


def out_beside_tcp(run):
    """OUT that arrives of the gTFRC flow over what arrives of a TCP flow, which is all OUT."""
    f, others = run.flow("f"), run.flows("load*")
    return (f["throughput_bps"] - f["in_throughput_bps"]) / (sum(o["throughput_bps"] for o in others) / len(others))


share = Experiment("gtfrc-beyond-fair", "Beyond the paper: 600 of 1000 kbit/s beside n NewReno flows, all at 80 ms", [
    *sweep("NewReno flows", "the paper, OUT beside a TCP flow's", "", out_beside_tcp, flows),
    *sweep("NewReno flows", "fair, OUT beside a TCP flow's", "", out_beside_tcp, fair, bands=model(0.8, 1.1), off=("the paper's max(g, X)", flows)),
    *sweep("NewReno flows", "fair, the whole flow", "kbit/s", delivered("f"), fair, bands=model(594)),
], seeds=(20, 5), beyond=True, breaks="a guarantee that the share of the excess replaces")

BEYOND = [repair, share]
