# SPDX-License-Identifier: BSD-3-Clause
"""Many routes, and many changes of them. The sizes here are small enough for every run; those of tests/bench/README.md are
tests/bench/routes_scale.py's, which does the same with a full table."""
import os
import threading
import time

import pytest
from scapy.layers.l2 import Ether

from bgp_speaker import BgpSpeaker
from frr import Frr, installed
from harness import Router, UdpSource, Wire, udp_to, wait_for
from pair import Pair, ports
from route_flood import Batch, commands, load, prefixes
from router import waited

V4, V6 = 40_000, 8_000
PORT = 7100
PATIENCE = 120
LATENCY = 0.1  # seconds: from the kernel to the data plane, but for what the router and this process wait for a core
FEW = 10
GATEWAY, GATEWAY6 = "10.2.0.", "2001:db8:2::"
BGP = """router bgp 64512
 bgp router-id 192.0.2.1
 no bgp ebgp-requires-policy
 neighbor 10.2.0.1 remote-as 64513
 neighbor 10.2.0.1 passive
 address-family ipv6 unicast
  neighbor 10.2.0.1 activate
 exit-address-family
"""


class Flooded(Pair):
    def __init__(self):
        super().__init__()
        self.c = self.host("c", "wan1", ["10.3.0.1/24", "2001:db8:3::1/64"], ["10.3.0.254", "2001:db8:3::fe"])


def three_ports():
    return ports() + '  wan1: {device: af_xdp wan1, addresses: [10.3.0.254/24, "2001:db8:3::fe/64"], trust: core}\n'


def dpdk(routes):
    return f"dpdk: {{hugepages: off, max_routes: {routes}}}\n"


@pytest.fixture(scope="module")
def routes():
    return prefixes(V4), prefixes(V6, family=6)


@pytest.fixture
def lab():
    with Flooded() as made:
        yield made


def routes_are(router, n, patience=PATIENCE):
    """But for the host routes of neighbours that come and go."""
    router.until(lambda m: abs(m.value("surety_routes") - n) < FEW, patience)


def own_routes(router):
    """Of addresses and subnets, before any flood."""
    return router.until(lambda m: m.value("surety_routes") > 0).value("surety_routes")


def test_what_the_kernel_has_is_loaded_at_start_changed_and_withdrawn(lab, routes):
    v4, v6 = routes
    with Router(lab.router, three_ports() + dpdk(V4 + 1024)) as running:
        own = own_routes(running)
        load(lab.router, commands("add", v4, GATEWAY) + commands("add", v6, GATEWAY6))
        routes_are(running, own + V4 + V6)
        lab.router.ip("route", "flush", "root", "0.0.0.0/0", "proto", "boot")
        lab.router.ip("-6", "route", "flush", "root", "::/0", "proto", "boot")
        routes_are(running, own)


def test_table_already_there_and_a_single_change_in_it(lab, routes):
    v4, v6 = routes
    with Router(lab.router, three_ports() + dpdk(V4 + 1024)):
        pass  # gives the ports their addresses for a moment; the links stay up
    for port, address in (("wan0", "10.2.0.254/24"), ("wan0", "2001:db8:2::fe/64")):
        lab.router.add_address(port, address)
    load(lab.router, commands("add", v4, GATEWAY) + commands("add", v6, GATEWAY6))
    with Router(lab.router, three_ports() + dpdk(V4 + 1024)) as running:
        running.until(lambda m: m.value("surety_routes") >= V4 + V6, PATIENCE)
        delays = single_changes(lab, running, 20)
        assert sorted(delays)[len(delays) // 2] <= LATENCY, delays
        running.settle()


def waits(running):
    return sum(sum(waited(pid).values()) for pid in (running.process.pid, os.getpid()))


def single_changes(lab, running, times):
    """Seconds from the kernel's having a changed route until packets follow it."""
    far, gateways = "198.51.100.0/24", ("10.2.0.1", "10.3.0.1")
    delays = []
    with UdpSource(lab.a, "198.51.100.1", PORT) as source, Wire(lab.b) as to_b, Wire(lab.c) as to_c:
        for gateway in gateways:
            lab.a.namespace.run("ping", "-n", "-c", "1", "-w", "20", gateway)
        for turn in range(times):
            wire = (to_b, to_c)[turn % 2]
            lab.router.ip("route", "replace", far, "via", gateways[turn % 2])
            start, late = time.monotonic(), waits(running)
            wire.drain()
            while not any(udp_to(PORT)(Ether(f)) for f in wire.drain()):
                source.send(b"x")
                time.sleep(0.001)
                assert time.monotonic() - start < PATIENCE
            delays.append(time.monotonic() - start - (waits(running) - late))
    lab.router.ip("route", "del", far)
    return delays


def test_routes_beyond_the_ceiling_are_refused_and_counted(lab):
    ceiling = 1000
    lines = commands("add", prefixes(5000), GATEWAY)
    with Router(lab.router, three_ports() + dpdk(ceiling)) as running:
        load(lab.router, lines)
        full = running.until(lambda m: m.value("surety_routes") + m.value("surety_routes_rejected") >= 5000, PATIENCE)
        assert full.value("surety_routes") >= ceiling and full.value("surety_routes_rejected") > 0
        lab.router.ip("route", "flush", "root", "0.0.0.0/0", "proto", "boot")
        running.until(lambda m: m.value("surety_routes_rejected") == 0 and m.value("surety_routes") < 100, PATIENCE)


class Answers(threading.Thread):
    """Whether packets whose TTL ends here are answered: they go through the control thread."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self._lab, self._ended = lab, threading.Event()
        self.answered = self.asked = 0
        self.start()

    def run(self):
        while not self._ended.wait(0.1):
            said = self._lab.a.namespace.run("ping", "-n", "-c", "1", "-t", "1", "-W", "1", "10.2.0.1", check=False)
            self.asked += 1
            self.answered += "From 10.1.0.254" in said.stdout

    def stop(self):
        self._ended.set()
        self.join(10)


def test_a_storm_of_flaps_ends_in_the_right_state(lab):
    rate, seconds = 10_000, 5
    flapping = prefixes(500)
    lines = []
    for _ in range(rate * seconds // 1000):
        lines += commands("replace", flapping, GATEWAY) + commands("del", flapping, GATEWAY)
    lines += commands("replace", flapping[:250], "10.3.0.")
    with Router(lab.router, three_ports()) as running:
        own = own_routes(running)
        lab.a.namespace.run("ping", "-n", "-c", "1", "-w", "20", "10.2.0.1")
        answers = Answers(lab)
        with Batch(lab.router) as batch:
            batch.paced(lines, rate)
        answers.stop()
        routes_are(running, own + 250)
        assert answers.asked >= 10 and answers.answered >= answers.asked - 1, "the control thread had no time"


def test_a_neighbour_that_vanishes_and_comes_back(lab):
    with Router(lab.router, three_ports()) as running, Wire(lab.b) as to_b, \
            UdpSource(lab.a, "198.51.100.1", PORT) as source:
        lab.router.ip("route", "add", "198.51.100.0/24", "via", "10.2.0.1")

        def arrives():
            source.send(b"x")
            return to_b.find(udp_to(PORT), 0.05)
        wait_for(arrives)
        lab.b.namespace.ip("link", "set", "eth0", "arp", "off")
        lab.router.ip("neigh", "flush", "dev", "wan0")

        def unresolved():
            source.send(b"x")
            return running.metrics().drops("lan0").get("neighbor_unresolved", 0) > 20
        wait_for(unresolved, 20)
        lab.b.namespace.ip("link", "set", "eth0", "arp", "on")
        wait_for(arrives, 20)
        running.settle()


@pytest.mark.skipif(not installed(), reason="needs frr")
def test_a_table_from_bgp(lab, routes):
    v4, v6 = routes
    with Router(lab.router, three_ports() + dpdk(V4 + 1024)) as running:
        own = own_routes(running)
        with Frr(lab.router, bgpd=BGP):
            with BgpSpeaker(lab.b.namespace, "10.2.0.254", 64513) as speaker:
                for i in range(8):
                    speaker.announce(v4[i::8], f"10.2.0.{i + 1}")
                    speaker.announce(v6[i::8], f"2001:db8:2::{i + 1}")
                routes_are(running, own + V4 + V6)
            routes_are(running, own)  # the session has ended: so have its routes
