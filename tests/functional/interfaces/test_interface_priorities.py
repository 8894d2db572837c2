# SPDX-License-Identifier: BSD-3-Clause
"""Priorities of tags, made and read by scapy: where an interface is trusted they say the DSCP. The way out alone: test_interface_frames.py."""
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether

from harness import Router, Wire, dscp, ecn, law, udp_to
from vlan import Access, bare, pings, tags_of, vlan_yaml

MAC = "02:00:00:00:dd:01"
BE, AF11, AF12, EF, CS6, CS7 = 0, 10, 12, 46, 48, 56
PCP = "pcp: {2: [AF11, AF12], 5: EF, 6: [CS6, CS7]}\n"
# Priority and DSCP of what comes, DSCP of what goes: the first of its priority, unless its own has that priority already.
SAID = [(5, BE, EF), (2, BE, AF11), (2, AF12, AF12), (6, EF, CS6), (6, CS7, CS7), (2, EF, AF11)]
UNSAID = [(3, EF, EF), (0, EF, EF), (1, AF11, AF11)]  # priorities that no DSCP has
FAMILIES = pytest.mark.parametrize("family", [4, 6])


@pytest.fixture(scope="module", params=["af_xdp", "af_packet", "memif"])
def lab(request):
    with Access(request.param) as made, Router(made.router, vlan_yaml(made.device, acme="trust: core", cake="trust: core", more=PCP)) as made.running:
        made.globex = made.named("globex")
        for family in (4, 6):
            assert pings(made.globex, made.up.address(family), 3) >= 1
        yield made
        made.running.settle()


def packet(family, source, to, traffic_class, port):
    ip = IP(src=f"10.{source}.0.44", dst=to, tos=traffic_class) if family == 4 else IPv6(src=f"2001:db8:{source}::44", dst=to, tc=traffic_class)
    return ip / UDP(sport=1001, dport=port) / b"hello"


def come(lab, tags, family, source, traffic_class, port=7060):
    """What the world behind up0 gets of a packet with these tags."""
    with lab.wire() as line, Wire(lab.up) as there:
        line.send(Ether(src=MAC, dst=lab.mac) / tags / packet(family, source, lab.up.address(family), traffic_class, port))
        came = there.find(udp_to(port), 5)
    assert came is not None, lab.running.metrics().drops()
    assert tags_of(came)[0] == [] and bytes(came[UDP].payload)[:5] == b"hello"
    if family == 4:
        told = came[IP].chksum
        del came[IP].chksum
        assert IP(bytes(came[IP])).chksum == told
    return came


@FAMILIES
@pytest.mark.parametrize("priority, had, gets", SAID + UNSAID)
def test_a_trusted_priority_says_the_dscp(lab, family, priority, had, gets):
    came = come(lab, Dot1Q(prio=priority, vlan=107), family, 107, had << 2 | 1)
    assert (dscp(came), ecn(came)) == (gets, 1)
    law(lab.running.metrics())


@FAMILIES
def test_the_outer_one_of_two_counts(lab, family):
    assert dscp(come(lab, Dot1Q(prio=5, vlan=300) / Dot1Q(prio=2, vlan=9), family, 109, BE << 2)) == EF
    assert dscp(come(lab, Dot1Q(prio=2, vlan=300) / Dot1Q(prio=5, vlan=9), family, 109, BE << 2)) == AF11


@FAMILIES
def test_a_customers_priority_says_nothing(lab, family):
    """Nor does his DSCP, without a contract."""
    for had in (BE, EF):
        assert dscp(come(lab, Dot1AD(prio=5, vlan=100) / Dot1Q(prio=5, vlan=8), family, 108, had << 2)) == BE


@FAMILIES
@pytest.mark.parametrize("priority, had, gets", SAID)
def test_a_priority_comes_through(lab, family, priority, had, gets):
    """From one interface to another: it leaves by both tags with the priority that it came with, and its DSCP agrees."""
    with lab.wire() as line:
        line.send(Ether(src=MAC, dst=lab.mac) / Dot1Q(prio=priority, vlan=107) / packet(family, 107, lab.globex.address(family), had << 2, 7061))
        came = line.find(lambda p: udp_to(7061)(p) and p.src == lab.mac, 5)
    assert came is not None, lab.running.metrics().drops()
    assert tags_of(came) == (lab.globex.tags, [priority, priority])
    assert dscp(bare(came)) == gets
