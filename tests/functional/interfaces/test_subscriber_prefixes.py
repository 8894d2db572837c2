# SPDX-License-Identifier: BSD-3-Clause
"""Subscribers on one untagged link, known by their addresses: each with its contract upstream, and its shaper downstream."""
import contextlib
import json
import threading
import time

import pytest

from edge import EdgeRouter
from harness import UdpSink, UdpSource, law, wait_for
from pair import MBIT, Pair, ports

pytestmark = pytest.mark.paced("measures rates")

ACME, GLOBEX, OTHER = "10.1.0.11", "10.1.0.12", "10.1.0.1"
BEHIND_GLOBEX = "198.51.100.1"  # a router of its own
ACME6 = "2001:db8:1::11"
UP, DOWN = {"small": 1, "large": 2}, {"small": 2, "large": 4}  # Mbit/s by plan
OFFERED = 5  # Mbit/s to each address, and from each


def configuration(acme="small", more=""):
    shapes = {plan: f"shape: {rate} Mbit/s, burst: 5 kB" for plan, rate in DOWN.items()}
    return ports() + f"""
routes: [{{to: 198.51.100.0/24, via: {GLOBEX}}}]
services:
  small: {{conditioner: police, rate: {UP["small"]} Mbit/s, bucket: 50 kB}}
  large: {{conditioner: police, rate: {UP["large"]} Mbit/s, bucket: 50 kB}}
queues:
  down: [{{name: all, dscp: [BE], limit: 50 packets}}]
plans:
  small: {{service: small, {shapes["small"]}, queues: down}}
  large: {{service: large, {shapes["large"]}, queues: down}}
subscribers:
  acme: {{plan: {acme}, port: lan0, prefixes: [{ACME}, "{ACME6}"]{more}}}
  globex: {{plan: small, port: lan0, prefixes: [{GLOBEX}, 198.51.100.0/24]}}
"""


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        for address in (ACME, GLOBEX):
            pair.add_source(f"{address}/24")
        pair.add_source(f"{ACME6}/64")
        pair.add_source(f"{BEHIND_GLOBEX}/32")
        yield pair


@pytest.fixture(params=["", "workers: {cores: [0, 1]}\n"], ids=["one worker", "two workers"])
def router(lab, request):
    # A reload keeps what begins with `dpdk:`.
    with EdgeRouter(lab.router, f"{configuration()}dpdk: {{hugepages: off, max_routes: 1024}}\n{request.param}") as running:
        lab.meet()
        for address in (ACME, GLOBEX, ACME6):  # known as neighbors
            wait_for(lambda: lab.a.namespace.run("ping", "-n", "-c", 1, "-W", 1, "-I", address, lab.b.address(6 if ":" in address else 4),
                                                 check=False).returncode == 0)
        yield running


class Stream:
    """UDP at an even pace until it is left; how many Mbit/s arrive."""

    def __init__(self, source, sink, address, bind=None):
        self._sink = UdpSink(sink, address, 4100)
        self._source = UdpSource(source, address, 4100, bind=(bind, 0) if bind else None)
        self._done, self._thread = threading.Event(), threading.Thread(target=self._send)
        self._count, self._at = 0, time.monotonic()

    def _send(self):
        while not self._done.is_set():
            self._source.pace(bytes(972), OFFERED * MBIT / 1000, 50)

    def rate(self):
        """Since the last call."""
        count, now = self._sink.drain(), time.monotonic()
        rate = (count - self._count) * 1000 / MBIT / (now - self._at)
        self._count, self._at = count, now
        return rate

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()
        for end in (self._sink, self._source):
            end.__exit__()


def rates(streams, seconds=1.5):
    for s in streams.values():
        s.rate()
    time.sleep(seconds)
    return {name: s.rate() for name, s in streams.items()}


def contracts(router):
    return {row["customer"]: row for row in json.loads(router.show("contracts", "--json").stdout)}


def test_each_has_its_plan(lab, router):
    with contextlib.ExitStack() as stack:
        down = {name: stack.enter_context(Stream(lab.b, lab.a, address))
                for name, address in {"acme": ACME, "globex": GLOBEX, "behind": BEHIND_GLOBEX, "other": OTHER}.items()}
        time.sleep(0.5)
        got = rates(down)
        assert got["acme"] == pytest.approx(DOWN["small"], rel=0.05)
        assert got["globex"] + got["behind"] == pytest.approx(DOWN["small"], rel=0.05) and got["behind"] > 0.2, "one subscriber"
        assert got["other"] > 0.9 * OFFERED, "has no plan"
        law(router.reload(configuration("large")))
        time.sleep(0.5)
        got = rates(down)
        assert got["acme"] == pytest.approx(DOWN["large"], rel=0.05) and got["globex"] + got["behind"] == pytest.approx(DOWN["small"], rel=0.05)
        law(router.reload(configuration(more=", suspended: yes")))
        wait_for(lambda: rates(down, 0.3)["acme"] == 0)
        assert rates(down)["other"] > 0.9 * OFFERED
        law(router.reload(configuration()))
    with contextlib.ExitStack() as stack:
        up = {name: stack.enter_context(Stream(lab.a, lab.b, lab.b.address(4), bind=address)) for name, address in {"acme": ACME}.items()}
        time.sleep(0.8)  # its bucket
        assert rates(up)["acme"] == pytest.approx(UP["small"], rel=0.05)
        row = contracts(router)["acme"]
        assert (row["service"], row["contract"], row["committed_bytes_per_second"]) == ("small", "acme", UP["small"] * MBIT)
    shown = {row["name"]: row for row in json.loads(router.show("interfaces", "--json").stdout)}
    assert shown["acme"]["shape_bytes_per_second"] == DOWN["small"] * MBIT and shown["acme"]["tx_packets"] > 0
    router.settle()


def test_ipv6_has_the_same(lab, router):
    with Stream(lab.b, lab.a, ACME6) as down, Stream(lab.b, lab.a, ACME) as v4:
        time.sleep(0.5)
        got = rates({"v6": down, "v4": v4})
        assert got["v6"] + got["v4"] == pytest.approx(DOWN["small"], rel=0.05) and min(got.values()) > 0.2
