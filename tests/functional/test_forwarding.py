# SPDX-License-Identifier: BSD-3-Clause
"""Packets of real hosts through the router, over af_xdp and af_packet ports."""
import re

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPerror, UDPerror
from scapy.layers.inet6 import ICMPv6PacketTooBig, ICMPv6TimeExceeded, IPerror6, IPv6
from scapy.layers.l2 import Ether

from harness import Router, UdpSource, Wire, transfer, udp_in_order, udp_to
from pair import LAN, WAN, Pair, ports

MTU = 1400


@pytest.fixture(scope="module", params=["af_xdp", "af_packet"])
def lab(request):
    with Pair() as pair:
        pair.device = request.param
        with Router(pair.router, ports(pair.device)) as router:
            pair.running = router
            yield pair


@pytest.fixture(scope="module", params=["af_xdp", "af_packet"])
def narrow(request):
    """The same with a smaller MTU on the way out."""
    with Pair() as pair, Router(pair.router, ports(request.param, wan=f"mtu: {MTU}")) as router:
        pair.running = router
        yield pair


@pytest.fixture
def router(lab):
    yield lab.running
    lab.running.settle()


@pytest.fixture
def narrow_router(narrow):
    yield narrow.running
    narrow.running.settle()


def ping(host, address, *options):
    """The TTLs of the answers; fails unless ten come."""
    text = host.namespace.run("ping", "-n", "-c", "10", "-i", "0.01", "-w", "20", *options, address).stdout
    return {int(t) for t in re.findall(r"ttl=(\d+)", text)}


@pytest.mark.parametrize("family", [4, 6])
def test_ping_goes_through_and_ttl_is_one_less(lab, router, family):
    assert ping(lab.a, lab.b.address(family)) == {63}
    assert ping(lab.b, lab.a.address(family)) == {63}


@pytest.mark.parametrize("address", [a.split("/")[0] for a in LAN + WAN])
def test_router_itself_answers_ping_from_both_sides(lab, router, address):
    assert ping(lab.a, address) == {64}
    assert ping(lab.b, address) == {64}


@pytest.mark.parametrize("congestion", ["reno", "cubic"])
@pytest.mark.parametrize("family", [4, 6])
def test_tcp(lab, router, family, congestion):
    before = router.metrics()
    received = transfer(lab.a, lab.b, 5001, seconds=2, enough=20e6, family=family, congestion=congestion)
    after = router.settle()
    assert received >= 20e6  # 80 Mbit/s: two orders below what is usual
    bytes_out = [m.value("surety_port_tx_bytes_total", port="wan0") for m in (before, after)]
    assert bytes_out[1] - bytes_out[0] >= received


@pytest.mark.parametrize("family", [4, 6])
def test_udp_arrives_in_order_and_whole(lab, router, family):
    sent, received = udp_in_order(lab.a, lab.b, family)
    assert received == sent


@pytest.mark.parametrize("size", [1950, 2100, 8000])
@pytest.mark.parametrize("family", [4, 6])
def test_datagrams_in_fragments_arrive_whole(lab, router, family, size):
    before = router.metrics().drops()
    assert ping(lab.a, lab.b.address(family), "-s", str(size)) == {63}
    assert router.metrics().drops().get("ipv4_total_length", 0) == before.get("ipv4_total_length", 0)


def test_frame_changes_only_where_a_router_changes_it(lab, router):
    lan_mac, wan_mac = lab.router.mac("lan0"), lab.router.mac("wan0")
    lab.meet()
    with Wire(lab.a) as near, Wire(lab.b) as far:
        for ip in (IP(src="10.1.0.1", dst="10.2.0.1", ttl=7, id=77), IPv6(src="2001:db8:1::1", dst="2001:db8:2::1", hlim=7)):
            near.send(Ether(src=lab.a.mac, dst=lan_mac) / ip / UDP(sport=1000, dport=4001) / b"payload")
            arrived = far.find(udp_to(4001))
            ip.setfieldval("ttl" if IP in ip else "hlim", 6)
            assert bytes(arrived) == bytes(Ether(src=wan_mac, dst=lab.b.mac) / ip / UDP(sport=1000, dport=4001) / b"payload")


def test_ttl_1_is_answered_with_time_exceeded(lab, router):
    before = router.metrics().punts("lan0").get("ttl", 0)
    with Wire(lab.a) as wire:
        wire.send(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) /
                  IP(src="10.1.0.1", dst="10.2.0.1", ttl=1) / UDP(sport=1001, dport=33434))
        error = wire.find(lambda p: ICMP in p and p[ICMP].type == 11)
    assert (error[IP].src, error[ICMP].code) == ("10.1.0.254", 0)
    assert (error[IPerror].dst, error[UDPerror].sport, error[UDPerror].dport) == ("10.2.0.1", 1001, 33434)
    assert router.metrics().punts("lan0")["ttl"] == before + 1


def test_hop_limit_1_is_answered_with_time_exceeded(lab, router):
    with Wire(lab.a) as wire:
        wire.send(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) /
                  IPv6(src="2001:db8:1::1", dst="2001:db8:2::1", hlim=1) / UDP(sport=1001, dport=33434))
        error = wire.find(lambda p: ICMPv6TimeExceeded in p)
    assert (error[ICMPv6TimeExceeded].code, error[IPerror6].dst) == (0, "2001:db8:2::1")
    assert error[IPv6].dst == "2001:db8:1::1"


def test_no_route_is_a_named_drop(lab, router):
    before = router.metrics().drops("lan0").get("no_route", 0)
    with UdpSource(lab.a, "203.0.113.1", 9) as source, UdpSource(lab.a, "2001:db8:dead::1", 9) as source6:
        for _ in range(10):
            source.send(b"x")
            source6.send(b"x")
    router.until(lambda m: m.drops("lan0").get("no_route", 0) == before + 20)


def test_directed_broadcast_is_not_forwarded(lab, router):
    before = router.metrics().drops("lan0").get("blackhole", 0)
    with Wire(lab.a) as wire:
        wire.send(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) / IP(src="10.1.0.1", dst="10.2.0.255") / UDP(dport=9))
    router.until(lambda m: m.drops("lan0").get("blackhole", 0) == before + 1)


def test_too_large_with_df_is_answered_with_fragmentation_needed(narrow, narrow_router):
    with Wire(narrow.a) as wire:
        wire.send(Ether(src=narrow.a.mac, dst=narrow.router.mac("lan0")) /
                  IP(src="10.1.0.1", dst="10.2.0.1", flags="DF") / UDP(sport=1001, dport=9) / bytes(MTU + 1 - 28))
        error = wire.find(lambda p: ICMP in p and p[ICMP].type == 3)
    assert (error[ICMP].code, error[ICMP].nexthopmtu, error[IPerror].dst) == (4, MTU, "10.2.0.1")


def test_too_large_ipv6_is_answered_with_packet_too_big(narrow, narrow_router):
    with Wire(narrow.a) as wire:
        wire.send(Ether(src=narrow.a.mac, dst=narrow.router.mac("lan0")) /
                  IPv6(src="2001:db8:1::1", dst="2001:db8:2::1") / UDP(sport=1001, dport=9) / bytes(MTU + 1 - 48))
        error = wire.find(lambda p: ICMPv6PacketTooBig in p)
    assert error[ICMPv6PacketTooBig].mtu == MTU


def test_as_large_as_the_mtu_passes(narrow, narrow_router):
    assert ping(narrow.a, "10.2.0.1", "-M", "do", "-s", str(MTU - 28)) == {63}
    assert ping(narrow.a, "2001:db8:2::1", "-M", "do", "-s", str(MTU - 48)) == {63}


def test_too_large_without_df_arrives_in_fragments(narrow, narrow_router):
    with Wire(narrow.a) as near, Wire(narrow.b) as far:
        near.send(Ether(src=narrow.a.mac, dst=narrow.router.mac("lan0")) /
                  IP(src="10.1.0.1", dst="10.2.0.1", id=4711) / UDP(sport=1001, dport=9) / bytes(1472))
        wanted = [far.find(lambda p: IP in p and p[IP].id == 4711) for _ in range(2)]
    assert [(p[IP].flags.MF, p[IP].frag, p[IP].ttl) for p in wanted] == [(1, 0, 63), (0, 1376 // 8, 63)]
    assert sum(p[IP].len - 20 for p in wanted) == 1480


@pytest.mark.parametrize("family", [4, 6])
def test_tcp_finds_the_smaller_mtu(narrow, narrow_router, family):
    with Wire(narrow.b) as far:
        assert transfer(narrow.a, narrow.b, 5002, seconds=10, enough=2e6, family=family) > 1e6
        assert far.find(lambda p: TCP in p and len(p) == 14 + MTU) is not None


@pytest.mark.parametrize("mtu", [1501, 3712, 9000])
def test_large_frames_over_af_packet(mtu):
    with Pair() as pair:
        for host in (pair.a, pair.b):
            host.namespace.ip("link", "set", "eth0", "mtu", mtu)
        with Router(pair.router, ports("af_packet", lan=f"mtu: {mtu}", wan=f"mtu: {mtu}")) as router:
            pair.meet()
            assert ping(pair.a, "10.2.0.1", "-M", "do", "-s", str(mtu - 28)) == {63}
            assert ping(pair.a, "2001:db8:2::1", "-M", "do", "-s", str(mtu - 48)) == {63}
            assert transfer(pair.a, pair.b, 5001, seconds=1, enough=10e6) >= 10e6
            router.settle()
        assert "mtu 1500" in pair.router.ip("link", "show", "wan0").stdout
