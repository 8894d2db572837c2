# SPDX-License-Identifier: BSD-3-Clause
"""Routing protocols over interfaces with tags: a customer behind them is a router of others. OSPF for IPv4: test_interface_changes.py."""
import re

import pytest
from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6

from frr import Frr, installed
from harness import Router, udp_to, wait_for
from vlan import Access, bare, gateways, pings, tags_of, vlan_yaml

pytestmark = pytest.mark.skipif(not installed(), reason="needs frr")
CONVERGE = 60
FAR = {4: "198.51.100.1", 6: "2001:db8:ff::1"}
PREFIX = {4: "198.51.100.0/24", 6: "2001:db8:ff::/48"}


OF_AF_PACKET = "test_interfaces.py has TCP with the router itself, test_interface_changes.py OSPF, over each device; af_xdp and memif are here"


@pytest.fixture(scope="module", params=["af_xdp", pytest.param("af_packet", marks=pytest.mark.long(OF_AF_PACKET)), "memif"])
def lab(request):
    with Access(request.param) as made:
        made.acme, made.globex, made.home1 = made.named("acme"), made.named("globex"), made.home(1)
        yield made


@pytest.fixture
def router(lab):
    with Router(lab.router, vlan_yaml(lab.device, acme="trust: core", globex="trust: core")) as running:
        for host in (lab.acme, lab.globex, lab.home1):
            for family in (4, 6):
                assert pings(host, lab.up.address(family), 3) >= 1
        yield running
        running.settle()


def probe(lab, family, port):
    with lab.globex.namespace.socket(2 if family == 4 else 10, 2) as source:
        source.sendto(b"x", (FAR[family], port))


def leaves_to(lab, line, host, family, port):
    """What globex sends to the far prefix leaves by the interface of that host."""
    def arrives():
        """a packet to what was announced leaves by the tag"""
        probe(lab, family, port)
        return line.find(lambda p: udp_to(port)(p) and p[IP if family == 4 else IPv6].dst == FAR[family] and tags_of(p)[0] == host.tags, 0.5)
    came = wait_for(arrives, CONVERGE)
    assert bare(came).dst == host.mac


def refused(lab, router, family, port, packets=5):
    """Probes have no route from now on."""
    def dropped():
        return router.metrics().drops("acc0").get("no_route", 0)

    def counted():
        """probes are dropped for want of a route"""
        before = dropped()
        for _ in range(packets):
            probe(lab, family, port)
        try:
            wait_for(lambda: dropped() >= before + packets, 2)
        except AssertionError:
            return False
        return True
    wait_for(counted, CONVERGE)


def ospf6(router_id, interfaces, more=""):
    fast = "interface {}\n ipv6 ospf6 area 0\n ipv6 ospf6 network point-to-point\n ipv6 ospf6 hello-interval 1\n ipv6 ospf6 dead-interval 4\n!\n"
    return "".join(map(fast.format, interfaces)) + f"router ospf6\n ospf6 router-id {router_id}\n timers throttle spf 0 50 50\n{more}"


def test_ospfv3_over_tagged_interfaces(lab, router):
    """Its next hops are link-local addresses of stations behind a tag."""
    with Frr(lab.router, ospf6d=ospf6("192.0.2.1", ["acme", "globex"])) as r, \
            Frr(lab.acme.namespace, ospf6d=ospf6("192.0.2.2", ["eth0"], " redistribute static\n"), staticd="") as acme, \
            Frr(lab.globex.namespace, ospf6d=ospf6("192.0.2.3", ["eth0"])), lab.wire() as line:
        wait_for(lambda: len(re.findall(r" Full/", r.show("show ipv6 ospf6 neighbor"))) == 2, CONVERGE)
        refused(lab, router, 6, 7030)
        acme.configure(f"ipv6 route {PREFIX[6]} Null0")
        wait_for(lambda: re.search(rf"{PREFIX[6]} .*via fe80::\S+ dev acme", lab.router.ip("-6", "route").stdout), CONVERGE)
        wait_for(lambda: PREFIX[6] in lab.globex.namespace.ip("-6", "route").stdout, CONVERGE)
        leaves_to(lab, line, lab.acme, 6, 7030)
        acme.configure(f"no ipv6 route {PREFIX[6]} Null0")
        refused(lab, router, 6, 7030)


def bgp(number, neighbors, networks=()):
    """`neighbors`: AS by address."""
    def family(version):
        of = [a for a in neighbors if (":" in a) == (version == 6)]
        others = [a for a in neighbors if a not in of]
        lines = [f"neighbor {a} activate" for a in of] + [f"no neighbor {a} activate" for a in others]
        lines += [f"network {n}" for n in networks if (":" in n) == (version == 6)]
        return f" address-family ipv{version} unicast\n" + "".join(f"  {line}\n" for line in lines) + " exit-address-family\n"
    sessions = "".join(f" neighbor {a} remote-as {n}\n neighbor {a} timers 3 9\n neighbor {a} timers connect 1\n" for a, n in neighbors.items())
    return (f"router bgp {number}\n bgp router-id 192.0.2.{number % 100}\n no bgp ebgp-requires-policy\n no bgp network import-check\n{sessions}"
            + family(4) + family(6))


@pytest.mark.parametrize("who", ["acme", "homes"])
def test_bgp_over_a_tagged_interface(lab, router, who):
    """Sessions and routes of both families, to an interface of its own and to a station behind a template."""
    peer = lab.acme if who == "acme" else lab.home1
    of_peer, of_us = [peer.address(4), peer.address(6)], gateways(who)
    with Frr(lab.router, bgpd=bgp(64501, dict.fromkeys(of_peer, 64502))) as r, lab.wire() as line:
        with Frr(peer.namespace, bgpd=bgp(64502, dict.fromkeys(of_us, 64501), list(PREFIX.values()))) as b:
            wait_for(lambda: all(PREFIX[f] in lab.router.ip(f"-{f}", "route").stdout for f in (4, 6)), CONVERGE)
            for family in (4, 6):
                leaves_to(lab, line, peer, family, 7040 + family)
            b.configure("router bgp 64502", "address-family ipv6 unicast", f"no network {PREFIX[6]}")
            refused(lab, router, 6, 7046)
            leaves_to(lab, line, peer, 4, 7044)
        refused(lab, router, 4, 7044)  # its daemons have ended, and the session with them
        assert "Established" not in r.show("show bgp neighbors")
