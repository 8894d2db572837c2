# SPDX-License-Identifier: BSD-3-Clause
"""Who gets what below one shaped port: two groups, six interfaces, twelve classes, whoever is active, beside what a fluid would get."""
import contextlib
import itertools
import time

import pytest

from edge import CLASSES, INTERFACES, PORT, Edge, EdgeRouter, Load, address, behind_tags, edge_yaml, expected, steady_rates
from harness import TcpTransfer, law
from router import Lateness

pytestmark = pytest.mark.paced("measures rates")

COMBINATIONS = [c for n in range(1, len(INTERFACES) + 1) for c in itertools.combinations(INTERFACES, n)]
# Everybody alone, everybody together, each group, and of the others some with each pair in them.
FEW = [c for c in COMBINATIONS if len(c) in (1, 6)] + [("a", "b", "c"), ("d", "e", "f"), ("a", "d"), ("b", "e"), ("c", "f"), ("a", "c", "e"),
                                                        ("b", "d", "f"), ("a", "b", "f"), ("c", "d", "e"), ("b", "c", "d", "e")]
# Of TCP (test_lab_shares.py has all): a shaper of an interface, of a group, and of the port alone in the way; each group, everybody, and some
# across.
OF_TCP = [("c",), ("d",), ("a",), ("a", "b", "c"), ("d", "e", "f"), ("a", "d"), ("a", "c", "e"), ("c", "d", "e"), tuple(INTERFACES)]
TOLERANCE = 0.01  # of the port's rate
SETTLE, MEASURE = 0.2, 0.75  # s
ATTEMPTS, WAITED = 4, 0.1  # WAITED: s, a part of the time measured that medians do not bear
TCP_SETTLE, TCP_MEASURE = 0.7, 1.5  # a connection that begins has to find its rate


class Matrix:
    """Expected and measured rates of each class for each combination."""

    def __init__(self, title):
        self.title, self.rows = title, []

    def measure(self, active, router, rates):
        """rates(), again where the machine gave the router no core meanwhile (Lateness): such a measurement is of the machine."""
        for _ in range(ATTEMPTS):
            late, got = Lateness(router.process.pid), rates()
            rows = [("".join(active), label, wanted, got.get(label, 0.0)) for label, wanted in expected(active).items()]
            if self.worst(rows) < TOLERANCE or late.seconds() < WAITED:
                break
        self.rows += rows

    def worst(self, rows=None):
        return max(abs(got - wanted) / PORT for _, _, wanted, got in rows or self.rows)

    def report(self):
        print(f"\n{self.title}, Mbit/s: active, class, expected, measured, error in points of the port's rate")
        for active, label, wanted, got in self.rows:
            print(f"{active:<7}{label:<7}{wanted:>7.3f}{got:>8.3f}{(got - wanted) / PORT * 100:>+7.2f}")
        print(f"{self.title}: worst error {self.worst() * 100:.2f} points of {len(self.rows)}")


@pytest.fixture(scope="module")
def lab():
    with Edge() as made:
        yield made


def saturated(router, lab, listener, load, active):
    """Everybody asks for at least twice of his part, so that he always has something to send."""
    wanted = expected(active)
    load.demand({label: 2 * mbits + 1 for label, mbits in wanted.items()})
    time.sleep(SETTLE)
    listener.take()
    begin = time.time()
    time.sleep(MEASURE)
    m = router.metrics()
    law(m)
    load.stop()
    got = steady_rates(listener.take(), begin, MEASURE)
    router.until(lambda m: m.sum("surety_port_queued_packets", port="acc0") == 0)
    return got


ALL = pytest.param("af_xdp", COMBINATIONS, marks=pytest.mark.long("63 combinations; test_lab_shares.py has them in virtual time"))


@pytest.mark.parametrize("device, combinations", [("af_xdp", FEW), ("af_packet", FEW), ALL], ids=["af_xdp", "af_packet", "all"])
def test_udp_gets_what_a_fluid_would(lab, device, combinations):
    matrix = Matrix(f"UDP on {device}")
    with EdgeRouter(lab.router, edge_yaml(device)) as router, Load(lab) as load, behind_tags(lab) as listener:
        lab.meet()
        for active in combinations:
            matrix.measure(active, router, lambda: saturated(router, lab, listener, load, active))
        router.settle()
    matrix.report()
    assert matrix.worst() < TOLERANCE


def greedy(router, lab, listener, active):
    with contextlib.ExitStack() as stack:
        for name in active:
            for port, (_, dscp) in enumerate(CLASSES.values(), 7200):
                connection = TcpTransfer(lab.up, lab.inside[name], port, congestion="reno", address=address(name), traffic_class=dscp << 2)
                stack.callback(connection.abort)
        time.sleep(TCP_SETTLE)
        listener.take()
        begin = time.time()
        time.sleep(TCP_MEASURE)
        law(router.metrics())
        return steady_rates(listener.take(), begin, TCP_MEASURE)


def test_tcp_gets_what_a_fluid_would(lab):
    matrix = Matrix("TCP (reno) on af_xdp")
    with EdgeRouter(lab.router, edge_yaml()) as router, behind_tags(lab) as listener:
        lab.meet()
        for active in OF_TCP:
            matrix.measure(active, router, lambda: greedy(router, lab, listener, active))
        router.settle()
    matrix.report()
    assert matrix.worst() < TOLERANCE
