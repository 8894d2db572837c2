# SPDX-License-Identifier: BSD-3-Clause
"""Routes that FRR learns over the router's ports are the router's, whatever shape FRR gives them in the kernel."""
import itertools
import re
import threading

import pytest
from scapy.layers.inet import UDP
from scapy.layers.l2 import Ether

from frr import Frr, installed, ospf
from harness import ROOT, Router, UdpSource, Wire, sh, udp_to, wait_for
from pair import Pair, ports

pytestmark = pytest.mark.skipif(not installed(), reason="needs frr")

CONVERGE = 60  # seconds for sessions to come up and routes to spread
EXAMPLES = ROOT / "deploy/frr"
class Triangle(Pair):
    """Hosts b (wan0) and c (wan1) are routers of others, who speak to the one in the middle."""

    def __init__(self):
        super().__init__()
        self.c = self.host("c", "wan1", ["10.3.0.1/24", "2001:db8:3::1/64"], ["10.3.0.254", "2001:db8:3::fe"])


@pytest.fixture(scope="module")
def lab():
    yaml = ports() + '  wan1: {device: af_xdp wan1, addresses: [10.3.0.254/24, "2001:db8:3::fe/64"], trust: core}\n'
    with Triangle() as made, Router(made.router, yaml) as made.running:
        yield made


@pytest.fixture(params=[1, 0], ids=["routes-have-next-hops", "routes-name-next-hops"])
def compat(request, lab):
    """FRR's routes name next hop objects; whether the kernel repeats what is in those is a sysctl."""
    lab.router.run("sysctl", "-q", f"net.ipv4.nexthop_compat_mode={request.param}")
    yield request.param
    lab.router.run("sysctl", "-q", "net.ipv4.nexthop_compat_mode=1")


class Probes(threading.Thread):
    """A steady stream of numbered packets to one address, from as many flows as there are sources."""

    def __init__(self, lab, to, port, sources=1, gap=0.002):
        super().__init__(daemon=True)
        self.sent = 0
        self._sources = [UdpSource(lab.a, to, port) for _ in range(sources)]
        self._gap = gap
        self._ended = threading.Event()
        self.start()

    def run(self):
        for number in itertools.count():
            if self._ended.wait(self._gap):
                return
            self._sources[number % len(self._sources)].send(number.to_bytes(4, "big"))
            self.sent = number + 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        self.join()


def arrives(wire, port):
    """Probes arrive there from now on."""
    wire.drain()
    return wire.find(udp_to(port), 0.5)


def dropped(lab, reason, packets=20):
    """Probes end under that reason from now on."""
    before = lab.running.metrics().drops("lan0").get(reason, 0)
    lab.running.until(lambda m: m.drops("lan0").get(reason, 0) >= before + packets, CONVERGE)


def flows_at(wire, port):
    return {p[UDP].sport for p in map(Ether, wire.drain()) if udp_to(port)(p)}


def test_ospf_routes_come_share_flows_and_go(lab, compat):
    far, port = "198.51.100.1", 7000
    announce = "ip route 198.51.100.0/24 Null0\n"
    middle = ospf("192.0.2.1", {"wan0": "10.2.0.0/24", "wan1": "10.3.0.0/24", "lan0": "10.1.0.0/24"})
    with Frr(lab.router, ospfd=middle) as r, Probes(lab, far, port, sources=64) as _, \
            Frr(lab.b.namespace, ospfd=ospf("192.0.2.2", {"eth0": "10.2.0.0/24"}, " redistribute static\n"),
                staticd="") as b, Wire(lab.b) as to_b, Wire(lab.c) as to_c:
        wait_for(lambda: len(re.findall(r"Full/", r.show("show ip ospf neighbor"))) == 1, CONVERGE)
        dropped(lab, "no_route")
        b.configure(announce.strip())
        wait_for(lambda: arrives(to_b, port), CONVERGE)
        assert "198.51.100.0/24" in lab.router.ip("route").stdout
        with Frr(lab.c.namespace, ospfd=ospf("192.0.2.3", {"eth0": "10.3.0.0/24"}, " redistribute static\n"),
                 staticd=announce):
            wait_for(lambda: arrives(to_c, port), CONVERGE)
            lab.a.namespace.run("ping", "-n", "-c", "1", "-w", "20", "10.3.0.1")

            def shared():
                of_b, of_c = flows_at(to_b, port), flows_at(to_c, port)
                return not of_b & of_c and len(of_b | of_c) == 64 and min(len(of_b), len(of_c)) >= 16
            wait_for(shared, CONVERGE, every=0.5)  # each looks at what came since the one before
            b.configure("no " + announce.strip())
            wait_for(lambda: flows_at(to_c, port) and not arrives(to_b, port), CONVERGE)
        # c's daemons have ended: the adjacency dies, and the prefix with it.
        dropped(lab, "no_route")
        assert arrives(to_c, port) is None
    lab.running.settle()


def test_bgp_routes_of_both_families_come_and_go(lab, compat):
    middle = """router bgp 64512
 bgp router-id 192.0.2.1
 no bgp ebgp-requires-policy
 neighbor 10.2.0.1 remote-as 64513
 neighbor 10.2.0.1 timers 3 9
 neighbor 2001:db8:2::1 remote-as 64513
 address-family ipv4 unicast
  network 10.1.0.0/24
  no neighbor 2001:db8:2::1 activate
 exit-address-family
 address-family ipv6 unicast
  neighbor 2001:db8:2::1 activate
 exit-address-family
"""
    other = """router bgp 64513
 bgp router-id 192.0.2.2
 no bgp ebgp-requires-policy
 no bgp network import-check
 neighbor 10.2.0.254 remote-as 64512
 neighbor 2001:db8:2::fe remote-as 64512
 address-family ipv4 unicast
  network 198.51.100.0/24
  no neighbor 2001:db8:2::fe activate
 exit-address-family
 address-family ipv6 unicast
  network 2001:db8:ff::/48
  neighbor 2001:db8:2::fe activate
 exit-address-family
"""
    with Frr(lab.router, bgpd=middle) as r, Wire(lab.b) as to_b, \
            Probes(lab, "198.51.100.1", 7001), Probes(lab, "2001:db8:ff::1", 7002):
        with Frr(lab.b.namespace, bgpd=other) as b:
            wait_for(lambda: arrives(to_b, 7001) and arrives(to_b, 7002), CONVERGE)
            assert "10.1.0.0/24" in b.show("show bgp ipv4 unicast"), "the session carries routes both ways"
            b.configure("router bgp 64513", "address-family ipv6 unicast", "no network 2001:db8:ff::/48")
            dropped(lab, "no_route")
            assert arrives(to_b, 7002) is None
            wait_for(lambda: arrives(to_b, 7001), CONVERGE)
        wait_for(lambda: arrives(to_b, 7001) is None, CONVERGE)
        assert "198.51.100.0/24" not in lab.router.ip("route").stdout
        dropped(lab, "no_route")
        assert "Established" not in r.show("show bgp neighbors")
    lab.running.settle()


@pytest.mark.parametrize("kind", ["blackhole", "reject"])
def test_routes_to_nowhere_drop_as_blackhole(lab, compat, kind):
    with Probes(lab, "203.0.113.1", 7003), Wire(lab.b) as to_b:
        dropped(lab, "no_route")
        with Frr(lab.router, staticd=f"ip route 203.0.113.0/24 {kind}\n") as r:
            dropped(lab, "blackhole")
            r.configure(f"no ip route 203.0.113.0/24 {kind}")
            dropped(lab, "no_route")
        assert arrives(to_b, 7003) is None
    lab.running.settle()


def numbers_at(wire, port):
    return {int.from_bytes(bytes(p[UDP].payload)[:4], "big") for p in map(Ether, wire.drain()) if udp_to(port)(p)}


def test_next_hop_that_flaps_costs_other_prefixes_nothing(lab, compat):
    """A static route of FRR moves to and fro between two gateways; the one beside it loses no packet meanwhile."""
    gateways = ["10.2.0.1", "10.3.0.1"]
    for gateway in gateways:
        lab.a.namespace.run("ping", "-n", "-c", "1", "-w", "20", gateway)
    with Frr(lab.router, staticd="ip route 198.51.100.0/24 10.2.0.1\n") as r, Wire(lab.b) as to_b, \
            Wire(lab.c) as to_c, Probes(lab, "203.0.113.9", 7005):
        with Probes(lab, "198.51.100.1", 7004) as steady:
            wait_for(lambda: arrives(to_b, 7004), CONVERGE)
            first, arrived = steady.sent + 1, set()  # the one that has just arrived may not be counted yet
            for turn in range(10):
                new, old = gateways[turn % 2], gateways[1 - turn % 2]
                r.configure(f"ip route 203.0.113.0/24 {new}", f"no ip route 203.0.113.0/24 {old}")
                if turn % 2:
                    wait_for(lambda: to_c.find(udp_to(7005), 0.5), CONVERGE)
                arrived |= numbers_at(to_b, 7004)
        sent = set(range(first, steady.sent))

        def all_there():
            """all probes have arrived"""
            arrived.update(numbers_at(to_b, 7004))
            return sent <= arrived
        try:
            wait_for(all_there)
        except AssertionError as e:
            raise AssertionError(f"lost: {sorted(sent - arrived)} of {len(sent)}; {lab.running.metrics().drops()}") from e
    assert len(sent) > 100
    lab.running.settle()


@pytest.mark.usefixtures("root")
def test_examples_are_what_frr_accepts():
    files = sorted(EXAMPLES.glob("*/*.conf"))
    assert len(files) >= 2
    for file in files:
        done = sh("vtysh", "-C", "-f", file, check=False)
        assert done.returncode == 0 and not done.stderr.strip(), f"{file}: {done.stdout}{done.stderr}"
