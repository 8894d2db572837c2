# SPDX-License-Identifier: BSD-3-Clause
"""There is no way around (CONTRIBUTING.md rule 13): whatever a customer sends, it leaves as its conditioner says and within the
shaper of the port, or not at all. The kernel beside the router forwards for all it is worth, as FRR's sysctl.conf has it."""
import time

import pytest
from scapy.layers.inet import IP, TCP, UDP, ICMP, IPOption_Router_Alert
from scapy.layers.inet6 import (ICMPv6MLReport2, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6ND_RS, ICMPv6ND_Redirect, ICMPv6NDOptPrefixInfo,
                                ICMPv6NDOptSrcLLAddr, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, RouterAlert)
from scapy.layers.l2 import Ether

from harness import Router, Wire, dscp
from pair import Pair, ports

EF = 46 << 2
SHAPE = 1_000_000  # bit/s
FORWARDING = ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.conf.all.rp_filter=0"]
# Nothing but best effort is sold.
BEST_EFFORT = """services:
  best-effort: {conditioner: none, mark: {in: BE}}
classify:
  - {match: {port: lan0}, service: best-effort}
queues:
  uplink:
    - {name: all, dscp: {in: [BE, EF, CS6]}, limit: 100 packets}
"""


@pytest.fixture(scope="module", params=["af_xdp", "af_packet"])
def lab(request):
    with Pair() as pair:
        pair.router.run("sysctl", "-q", *FORWARDING)
        pair.device = request.param
        with Router(pair.router, ports(pair.device, wan="mtu: 1400, queues: uplink, shape: 1 Mbit/s") + BEST_EFFORT) as router:
            pair.running = router
            pair.meet()
            yield pair


def of_four(**more):
    return IP(**{"src": "10.1.0.1", "dst": "10.2.0.1", "tos": EF, **more})


def of_six(**more):
    return IPv6(**{"src": "2001:db8:1::1", "dst": "2001:db8:2::1", "tc": EF, **more})


DATA = UDP(sport=1000, dport=4009) / bytes(1000)
FRAMES = {
    "plain": of_four() / DATA,
    "plain, IPv6": of_six() / DATA,
    "router alert": of_four(options=[IPOption_Router_Alert()]) / DATA,
    "router alert, IPv6": of_six() / IPv6ExtHdrHopByHop(options=[RouterAlert(value=1)]) / DATA,
    "multicast listener's report to one host": of_six(hlim=64) / IPv6ExtHdrHopByHop(options=[RouterAlert(value=0)]) / ICMPv6MLReport2(),
    "larger than the MTU": of_four() / UDP(sport=1000, dport=4009) / bytes(1450),
    "larger than the MTU, router alert": of_four(options=[IPOption_Router_Alert()]) / UDP(sport=1000, dport=4009) / bytes(1450),
    "fragments": of_four(flags="MF", proto=17) / bytes(1000),
    "fragments, IPv6": of_six() / IPv6ExtHdrFragment(offset=4, m=1, id=5, nh=17) / bytes(1000),
    "destination options": of_six() / IPv6ExtHdrDestOpt() / DATA,
    "a congestion signal": of_four() / ICMP(type=253) / bytes(1000),
    "SYN": of_four() / TCP(dport=80, flags="S"),
    "router solicitation": of_six(hlim=255) / ICMPv6ND_RS() / bytes(1000),
    "router advertisement": of_six(hlim=255) / ICMPv6ND_RA() / bytes(1000),
    "neighbour solicitation": of_six(hlim=255) / ICMPv6ND_NS(tgt="2001:db8:2::1") / bytes(1000),
    "neighbour advertisement": of_six(hlim=255) / ICMPv6ND_NA(tgt="2001:db8:1::1") / bytes(1000),
    "redirect": of_six(hlim=255) / ICMPv6ND_Redirect(tgt="2001:db8:1::1", dst="2001:db8:2::1") / bytes(1000),
    "solicitation, hop limit 64": of_six(hlim=64) / ICMPv6ND_NS(tgt="2001:db8:2::1") / bytes(1000),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_nothing_passes_the_shaper_nor_keeps_its_dscp(lab, kind):
    frame = bytes(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) / FRAMES[kind])
    count = 3000  # 24 Mbit, of what is large
    with Wire(lab.a) as near, Wire(lab.b) as far:
        began = time.monotonic()
        for i in range(count):
            near.send(frame)
            if i % 64 == 63:
                time.sleep(0.002)  # a veth pair's ring has 256 places
        time.sleep(0.3)
        took = time.monotonic() - began
        arrived = [Ether(f) for f in far.drain()]
    lab.running.settle()
    came = [p for p in arrived if IP in p and p[IP].src == "10.1.0.1" or IPv6 in p and p[IPv6].src == "2001:db8:1::1"]
    assert {dscp(p) for p in came} <= {0}, "the customer's EF"
    carried = 8 * sum(len(p) - 14 for p in came)
    assert carried <= 1.05 * SHAPE * took + 8 * 5 * 1500, f"{carried / 1e6:.2f} Mbit in {took:.2f} s"


def setting(namespace, path):
    return namespace.run("sysctl", "-n", path).stdout.strip()


@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
def test_a_customer_is_no_router(device):
    """RFC 4861 6.2.7: what a router says is for hosts; a route that a customer advertises would be everybody's. Where the kernel
    does not forward, it is a host."""
    with Pair() as pair:
        pair.router.run("sysctl", "-q", "net.ipv6.conf.lan0.accept_ra=1")  # as a kernel has it by itself
        with Router(pair.router, ports(device)) as router, Wire(pair.a) as near:
            for to in ("ff02::1", "2001:db8:1::fe"):
                near.send(Ether(src=pair.a.mac, dst="33:33:00:00:00:01" if to == "ff02::1" else pair.router.mac("lan0")) /
                          IPv6(src="fe80::1", dst=to, hlim=255) / ICMPv6ND_RA(routerlifetime=1800) /
                          ICMPv6NDOptSrcLLAddr(lladdr=pair.a.mac) / ICMPv6NDOptPrefixInfo(prefixlen=64, prefix="2001:db8:bad::"))
            pair.a.namespace.run("ping", "-n", "-c", 1, "-w", 20, "10.1.0.254")  # what was sent before has come
            routes = pair.router.ip("-6", "route").stdout
            assert "default" not in routes
            assert "2001:db8:bad" not in routes
            router.stop()
        assert setting(pair.router, "net.ipv6.conf.lan0.accept_ra") == "1", "as it was"


@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
def test_a_router_that_was_killed_leaves_no_way_open(device):
    with Pair() as pair:
        pair.router.run("sysctl", "-q", *FORWARDING)
        router = Router(pair.router, ports(device)).__enter__()
        try:
            pair.meet()
            router.process.kill()
            router.process.wait(120)
            # A kernel that could forward: its neighbours are known.
            pair.router.ip("neighbor", "replace", "10.2.0.1", "lladdr", pair.b.mac, "dev", "wan0")
            pair.router.ip("neighbor", "replace", "2001:db8:2::1", "lladdr", pair.b.mac, "dev", "wan0")
            with Wire(pair.a) as near, Wire(pair.b) as far:
                for ip in (of_four(), of_six()):
                    for _ in range(20):
                        near.send(Ether(src=pair.a.mac, dst=pair.router.mac("lan0")) / ip / DATA)
                time.sleep(0.5)
                assert not [f for f in far.drain() if UDP in Ether(f)]
        finally:
            router.__exit__(AssertionError, None, None)
