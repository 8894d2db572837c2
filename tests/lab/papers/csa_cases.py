# SPDX-License-Identifier: BSD-3-Clause
"""Scenario 1 of the CSA paper: N flows of 1000 kbit/s each, and the two rows that every table of it has."""
import dataclasses

from .lab import Case
from .rows import delivered, paper, ros, sweep

N = (10, 15, 20, 25, 30)
PROVISIONED = paper(1000)
# The paper's T2 to the letter, and as one that restarts in congestion too; then the product's own control, whose rows the paper's numbers
# stand beside and do not judge.
READINGS = {"": "paper", "T2 runs on, ": "periodic", "search, ": "search"}
SHORT = {"duration": "50 s", "measure": "20 s - 50 s"}  # for --quick


def cases_of(variants, common=None):
    """{variant: {N: case}} of {variant: settings of the service}."""
    base = {n: Case("csa-scenario1").set({"hosts.source.times": n, **(common or {})}) for n in N}
    return {name: {n: case.set({f"routers.edge.services.af2.{key}": value for key, value in settings.items()})
                   for n, case in base.items()} for name, settings in variants.items()}


def rows_of(name, cases, rates, respect, rate_bands=None, respect_bands=None, whys=(None, None), **more):
    """[throughput over N, respect of service over N], with what the paper prints."""
    return [sweep("N", f"{name}: throughput", "kbit/s", delivered("f#*"), cases, rates, rate_bands, whys[0], **more),
            sweep("N", f"{name}: RoS", "%", ros("f#*"), cases, respect, respect_bands, whys[1], **more)]


def lowered(run):
    return any(domain["alpha_min"] < 0.4 for domain in run.json["domains"])


def zeros(rows, *routers):
    """Losses of none count where one of these routers drops packets: IN that is spared, not a queue that is empty."""
    def drops(run):
        return any(queue[which][f"{kind}_drops"] for queue in run.json["queues"] if queue["router"] in routers
                   for which in ("in", "out") for kind in ("early", "forced", "overflow"))
    return [dataclasses.replace(row, acts=("a router that drops", drops)) if row.paper == 0 else row for row in rows]


ACTS = ("the control of alpha", lowered)
CLOCK = "csa-clock: the paper's tokens come on one clock, so that flows send together, and its average stays while the queue is idle"
RENO10 = "csa-reno10: the paper's TCP is Reno, its RTT about 10 ms"
ON = "csa-table3-reno: the paper's TCP is Reno, its RTT about 10 ms"
LOST_RENO = ("open: tried Reno at RTT 10, 40 and 80 ms, without signals and with them: BE of case A loses 10.9, 5.5 and 2.5, AF_PHB_1 of case B 7.3, 4.4 and "
             "2.2 at the internal router without signals: each number of the paper has an RTT of its own, no IN packet is dropped there, and the "
             "input buffers drop packets at 80 ms alone")


def missed(why, *points):
    """What is known to miss."""
    return dict.fromkeys(points, why)
