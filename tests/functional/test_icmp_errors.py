# SPDX-License-Identifier: BSD-3-Clause
"""Who sends what goes nowhere is told why, by the codes of RFC 1812 5.2.7.1 and RFC 4443 3, whatever stands behind the port."""
import contextlib
import signal
import time

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6DestUnreach, IPv6
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from harness import Router, Wire, law, sh
from pair import Pair, ports

NOWHERE = {4: "203.0.113.1", 6: "2001:db8:dead::1"}
ROUTES = {4: "198.51.100.0/24", 6: "2001:db8:f::/48"}
THERE = {4: "198.51.100.9", 6: "2001:db8:f::9"}


@pytest.fixture(scope="module", params=["af_xdp", "af_packet"])
def lab(request):
    with Pair() as pair, Router(pair.router, ports(request.param)) as router:
        pair.running = router
        pair.meet()
        yield pair
        router.settle()


def packet(family, to, source=None):
    if family == 4:
        return IP(src=source or "10.1.0.1", dst=to) / UDP(sport=1001, dport=33434) / b"x"
    return IPv6(src=source or "2001:db8:1::1", dst=to) / UDP(sport=1001, dport=33434) / b"x"


def answer(lab, family, sent):
    """(type, code) of the error that comes back for it, from the port's address; none: none comes."""
    with Wire(lab.a) as wire:
        wire.send(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) / sent)
        error = wire.find(lambda p: (ICMP in p and p[ICMP].type == 3 and p[IP].src == "10.1.0.254") or
                          (ICMPv6DestUnreach in p and p[IPv6].src == "2001:db8:1::fe"), 2)
    if error is None:
        return None
    return (error[ICMP].type, error[ICMP].code) if family == 4 else (error[ICMPv6DestUnreach].type, error[ICMPv6DestUnreach].code)


@pytest.mark.parametrize("family, code", [(4, (3, 0)), (6, (1, 0))])
def test_nobody_knows_the_way(lab, family, code):
    before = lab.running.metrics().drops("lan0").get("no_route", 0)
    assert answer(lab, family, packet(family, NOWHERE[family])) == code
    lab.running.until(lambda m: m.drops("lan0").get("no_route", 0) == before + 1)
    law(lab.running.metrics())


@pytest.mark.parametrize("host, port, source, own, dscp", [("a", "lan0", "10.1.0.1", "10.1.0.254", 48), ("b", "wan0", "10.2.0.1", "10.2.0.254", 0)])
def test_control_traffic_is_told_to_customers_only(lab, host, port, source, own, dscp):
    """Towards the core an error is best effort: what a core host answers to a customer could have it sent."""
    end = getattr(lab, host)
    with Wire(end) as wire:
        wire.send(Ether(src=end.mac, dst=lab.router.mac(port)) / packet(4, NOWHERE[4], source))
        error = wire.find(lambda p: ICMP in p and p[ICMP].type == 3 and p[IP].src == own, 2)
    assert error is not None and error[IP].tos >> 2 == dscp


@pytest.mark.parametrize("family, code", [(4, (3, 13)), (6, (1, 5))])
def test_a_source_that_does_not_belong_there(lab, family, code):
    """It is told to the station that sent it, and to nobody who has that address."""
    assert answer(lab, family, packet(family, lab.b.address(family), NOWHERE[family])) == code


@pytest.mark.parametrize("kind, codes", [("unreachable", {4: (3, 1), 6: (1, 3)}), ("prohibit", {4: (3, 13), 6: (1, 1)}), ("blackhole", {4: None, 6: None})])
def test_what_a_route_of_the_kernel_says(lab, kind, codes):
    for family, code in codes.items():
        lab.router.ip(f"-{family}", "route", "add", kind, ROUTES[family])
        try:
            lab.running.follows_kernel()
            assert answer(lab, family, packet(family, THERE[family])) == code
        finally:
            lab.router.ip(f"-{family}", "route", "del", kind, ROUTES[family])


def test_real_tools_say_so(lab):
    said = lab.a.namespace.run("ping", "-n", "-c", "1", "-w", "5", NOWHERE[4], check=False).stdout
    assert "From 10.1.0.254 icmp_seq=1 Destination Net Unreachable" in said
    said = lab.a.namespace.run("ping", "-n", "-c", "1", "-w", "5", NOWHERE[6], check=False).stdout
    assert "From 2001:db8:1::fe icmp_seq=1 Destination unreachable: No route" in said


def test_a_flood_is_not_answered_packet_by_packet(lab):
    frame = bytes(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) / packet(4, NOWHERE[4]) / bytes(400))
    with Wire(lab.a) as wire:
        began = time.monotonic()
        for i in range(5000):
            wire.send(frame)
            if i % 64 == 63:
                time.sleep(0.002)
        took = time.monotonic() - began
        time.sleep(0.3)
        told = [e[IP].len for e in map(Ether, wire.drain()) if ICMP in e]
    assert 0 < len(told) <= 50 + 1000 * (took + 0.3)
    assert 0 < sum(length > 96 for length in told) <= 2 * 8 + 16 * (took + 0.3) < len(told), "few quote more than 68 bytes"
    lab.running.settle()


IPV4, IPV6 = b"\x08\x00", b"\x86\xdd"


def raw(wire, ethertype, at, kind):
    """The next frame with an ICMP message of that type: as bytes, since Scapy 2.5 stumbles over such extensions in ICMPv6."""
    while (frame := wire.read(5)) is not None:
        if frame[12:14] == ethertype and frame[at - (11 if ethertype == IPV4 else 34)] in (1, 58) and frame[at] == kind:
            return frame
    return None


def test_an_error_names_the_port_for_who_may_know(lab, directory):
    """RFC 5837, by SIGHUP; tshark takes it apart."""
    router = lab.running
    original = router.path.read_text()

    def reload(text):
        before = router.metrics().value("surety_config_reloads_total")
        router.path.write_text(text)
        router.process.send_signal(signal.SIGHUP)
        router.until(lambda m: m.value("surety_config_reloads_total") == before + 1)
    with contextlib.ExitStack() as stack:
        reload(original + "icmp: {interface_information: on}\n")
        stack.callback(reload, original)
        with Wire(lab.a) as wire:
            wire.send(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) / packet(4, NOWHERE[4]))
            wire.send(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) / packet(6, NOWHERE[6]))
            errors = [raw(wire, IPV4, 34, 3), raw(wire, IPV6, 54, 1)]
        for error, address in zip(errors, ("10.1.0.254", "2001:db8:1::fe")):
            wrpcap(str(directory / "error.pcap"), [error], linktype=1)
            said = sh("tshark", "-V", "-r", directory / "error.pcap").stdout
            assert "Interface Information Object" in said and "Malformed" not in said, said
            assert "Name: lan0" in said and f"Source: {address}" in said and "Maximum Transmission Unit: 1500" in said, said
