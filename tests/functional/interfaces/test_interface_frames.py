# SPDX-License-Identifier: BSD-3-Clause
"""Frames with tags as they are on the wire: what the router sends, and what it makes of tags that nobody has."""
import time

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptSrcLLAddr, ICMPv6PacketTooBig, ICMPv6TimeExceeded, IPv6
from scapy.layers.l2 import ARP, Ether

from harness import Router, UdpSource, Wire, law, udp_to, wait_for
from vlan import TAGS, Access, bare, gateways, qinq, tagged, tags_of, vlan_yaml
from vlans import CUSTOMER_TAG, SERVICE_TAG

DEVICES = ["af_xdp", "af_packet", "memif"]
KINDS = ["acme", "globex", "cake", "homes"]
HOME = qinq(200, 300)
MAC = "02:00:00:00:cc:01"  # of whoever says strange things
PCP = "pcp: {2: [AF11, AF12], 5: EF, 6: [CS6, CS7]}\n"
EF, AF11 = 46, 10


@pytest.fixture(scope="module", params=DEVICES)
def lab(request):
    with Access(request.param) as made, Router(made.router, vlan_yaml(made.device, globex="mtu: 1400", more=PCP)) as made.running:
        made.up.namespace.run("ping", "-n", "-c", 1, "-w", 10, "10.2.0.254")
        made.up.namespace.run("ping", "-n", "-c", 1, "-w", 10, "2001:db8:2::fe")
        yield made
        made.running.settle()


class Station:
    """A customer made of frames: answers when he is asked for, and says what he is told to."""

    def __init__(self, lab, name, number=44):
        self.lab, self.name, self.mac = lab, name, f"02:00:00:00:cc:{number}"
        self.tags = HOME if name == "homes" else TAGS[name]
        self.gateway = dict(zip((4, 6), gateways(name)))
        self.own = {4: f"100.64.{number}.1", 6: f"2001:db8:200::{number}:1"} if name == "homes" else \
            {4: self.gateway[4].replace(".254", f".{number}"), 6: self.gateway[6].replace("::fe", f"::{number}")}
        self.wire = lab.wire()

    def close(self):
        self.wire.close()

    def send(self, packet, tags=None):
        self.wire.send(tagged(self.tags if tags is None else tags, packet))

    def ether(self):
        return Ether(src=self.mac, dst=self.lab.mac)

    def ask(self, family):
        """Asks for the gateway; the answer, tags and all."""
        if family == 4:
            self.send(Ether(src=self.mac, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=self.mac, psrc=self.own[4], pdst=self.gateway[4]))
            return self.wire.find(lambda p: ARP in p and p[ARP].op == 2 and p[ARP].psrc == self.gateway[4] and p.dst == self.mac, 5)
        group = "ff02::1:ff00:" + ("1" if self.name == "homes" else "fe")
        self.send(Ether(src=self.mac, dst="33:33:ff:00:00:" + ("01" if self.name == "homes" else "fe")) /
                  IPv6(src=self.own[6], dst=group, hlim=255) / ICMPv6ND_NS(tgt=self.gateway[6]) / ICMPv6NDOptSrcLLAddr(lladdr=self.mac))
        return self.wire.find(lambda p: ICMPv6ND_NA in p and p[ICMPv6ND_NA].tgt == self.gateway[6] and p.dst == self.mac, 5)

    def answer(self, packet):
        """To a question for one of its addresses; whether it was one."""
        if ARP in packet and packet[ARP].op == 1 and packet[ARP].pdst == self.own[4] and tags_of(packet)[0] == self.tags:
            self.send(self.ether() / ARP(op=2, hwsrc=self.mac, psrc=self.own[4], hwdst=self.lab.mac, pdst=packet[ARP].psrc))
            return True
        if ICMPv6ND_NS in packet and packet[ICMPv6ND_NS].tgt == self.own[6] and tags_of(packet)[0] == self.tags:
            self.send(self.ether() / IPv6(src=self.own[6], dst=packet[IPv6].src, hlim=255) /
                      ICMPv6ND_NA(tgt=self.own[6], R=0, S=1, O=1) / ICMPv6NDOptSrcLLAddr(type=2, lladdr=self.mac))
            return True
        return False

    def find(self, wanted, patience=5):
        """As a wire's, and answers meanwhile whoever asks for it."""
        return self.wire.find(lambda p: not self.answer(p) and wanted(p), patience)

    def meet(self):
        """The router knows both addresses afterwards."""
        for family in (4, 6):
            assert self.ask(family), f"{self.name}: no gateway"
            wait_for(lambda: self.echo(family), 10)
        return self

    def echo(self, family):
        """the gateway answers a ping"""
        self.send(self.ether() / self.packet(family, self.gateway[family], ping=True))
        return self.find(lambda p: (ICMP in p and p[ICMP].type == 0) if family == 4 else ICMPv6EchoReply in p, 0.5)

    def packet(self, family, to, ttl=64, size=20, ping=False, source=None):
        from scapy.layers.inet6 import ICMPv6EchoRequest
        ip = IP(src=source or self.own[4], dst=to, ttl=ttl, flags="DF") if family == 4 else IPv6(src=source or self.own[6], dst=to, hlim=ttl)
        return ip / ((ICMP() if family == 4 else ICMPv6EchoRequest()) if ping else UDP(sport=1001, dport=33434)) / bytes(size)


@pytest.fixture(params=KINDS)
def station(lab, request):
    made = Station(lab, request.param).meet()
    yield made
    made.close()
    law(lab.running.metrics())


FAMILIES = pytest.mark.parametrize("family", [4, 6])


@FAMILIES
def test_answers_about_the_gateway_have_the_tags_of_the_question(station, family):
    reply = station.ask(family)
    assert reply and tags_of(reply)[0] == station.tags
    assert bare(reply).src == station.lab.mac


@FAMILIES
def test_errors_go_back_by_the_tags(station, family):
    nowhere = {4: "203.0.113.9", 6: "2001:db8:dead::9"}[family]
    cases = [(station.packet(family, nowhere), lambda p: p[ICMP].type == 3 if family == 4 else ICMPv6DestUnreach in p),
             (station.packet(family, station.lab.up.address(family), ttl=1), lambda p: p[ICMP].type == 11 if family == 4 else ICMPv6TimeExceeded in p),
             (station.packet(family, nowhere, source={4: "198.51.100.7", 6: "2001:db8:bad::7"}[family]),
              lambda p: (p[ICMP].type, p[ICMP].code) == (3, 13) if family == 4 else ICMPv6DestUnreach in p and p[ICMPv6DestUnreach].code == 5)]
    for packet, wanted in cases:
        time.sleep(0.05)  # errors to one are limited
        station.send(station.ether() / packet)
        error = station.find(lambda p: p.dst == station.mac and (ICMP in p if family == 4 else IPv6 in p) and wanted(p))
        assert error is not None, packet.summary()
        assert tags_of(error)[0] == station.tags
        assert bare(error)[IP if family == 4 else IPv6].src == station.gateway[family]


@FAMILIES
def test_too_big_between_interfaces(lab, family):
    """From one customer to another, who has the smaller MTU."""
    there, here = Station(lab, "globex", 45).meet(), Station(lab, "acme").meet()
    try:
        here.send(here.ether() / here.packet(family, there.own[family], size=1420))
        error = here.find(lambda p: p.dst == here.mac and ((ICMP in p and (p[ICMP].type, p[ICMP].code) == (3, 4)) if family == 4 else ICMPv6PacketTooBig in p))
        assert error and tags_of(error)[0] == here.tags
        assert (error[ICMP].nexthopmtu if family == 4 else error[ICMPv6PacketTooBig].mtu) == 1400
        here.send(here.ether() / here.packet(family, there.own[family], size=1300))
        came = there.find(udp_to(33434))
        assert came and tags_of(came)[0] == there.tags and came.dst == there.mac
    finally:
        here.close()
        there.close()


@FAMILIES
@pytest.mark.parametrize("dscp, priority", [(EF, 5), (AF11, 2), (0, 0), (48, 6)])
def test_priorities_say_the_dscp(station, family, dscp, priority):
    with UdpSource(station.lab.up, station.own[family], 7001, traffic_class=dscp << 2) as source:
        source.send(b"hello")
        came = station.find(udp_to(7001))
    assert came and tags_of(came) == (station.tags, [priority] * len(station.tags))
    assert bytes(bare(came)[UDP].payload)[:5] == b"hello"


def dropped(lab, reason, send, count=1):
    """Every frame that it sends ends under that reason, and nobody else's."""
    before = lab.running.metrics().drops("acc0")
    send()
    wait_for(lambda: lab.running.metrics().drops("acc0").get(reason, 0) >= before.get(reason, 0) + count, 5)
    now = lab.running.metrics().drops("acc0")
    assert {r: n - before.get(r, 0) for r, n in now.items() if n != before.get(r, 0)} == {reason: count}
    law(lab.running.metrics())


STRANGE = {
    "unknown": [(CUSTOMER_TAG, 99)], "unknown outer": [(SERVICE_TAG, 201), (CUSTOMER_TAG, 7)],
    "unknown inner": [(SERVICE_TAG, 100), (CUSTOMER_TAG, 9)], "outside of the range": [(SERVICE_TAG, 200), (CUSTOMER_TAG, 401)],
    "outer alone": [(SERVICE_TAG, 100)], "one too many": [(CUSTOMER_TAG, 107), (CUSTOMER_TAG, 8)], "4095": [(CUSTOMER_TAG, 4095)],
    "no inner": [(SERVICE_TAG, 200), (CUSTOMER_TAG, 0)]}
# Which protocol the outer tag had is not to be seen with af_packet: the kernel takes it out, and DPDK's driver puts 802.1Q in its place.
MIXED = {"802.1ad for 802.1Q": [(SERVICE_TAG, 107)], "802.1Q for 802.1ad": [(CUSTOMER_TAG, 100), (CUSTOMER_TAG, 8)],
         "802.1ad within": [(SERVICE_TAG, 100), (SERVICE_TAG, 8)], "802.1ad outside": [(SERVICE_TAG, 300), (CUSTOMER_TAG, 9)]}


@pytest.mark.parametrize("tags", STRANGE.values(), ids=STRANGE.keys())
def test_other_tags_are_nobodys(lab, tags):
    with lab.wire() as wire:
        frame = Ether(src=MAC, dst=lab.mac) / IP(src="10.107.0.1", dst="10.2.0.1") / UDP(dport=7002) / b"x"
        question = Ether(src=MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=MAC, psrc="10.107.0.1", pdst="10.107.0.254")
        dropped(lab, "vlan_unknown", lambda: [wire.send(tagged(tags, f)) for f in (frame, question)], 2)
        assert wire.find(lambda p: ARP in p and p[ARP].op == 2, 0.2) is None


@pytest.mark.parametrize("tags", MIXED.values(), ids=MIXED.keys())
def test_a_tag_of_the_other_protocol_is_another_one(lab, request, tags):
    if "af_packet" in request.node.name and tags[1:] != [(SERVICE_TAG, 8)]:
        pytest.skip("the protocol of an outer tag is lost on its way through af_packet")
    with lab.wire() as wire:
        frame = Ether(src=MAC, dst=lab.mac) / IP(src="10.107.0.1", dst="10.2.0.1") / UDP(dport=7002) / b"x"
        dropped(lab, "vlan_unknown", lambda: wire.send(tagged(tags, frame)))


def test_three_tags(lab):
    """The third is no tag any more, but a protocol that nobody speaks."""
    with lab.wire() as wire:
        frame = Ether(src=MAC, dst=lab.mac) / IP(src="10.108.0.1", dst="10.2.0.1") / UDP(dport=7003) / b"x"
        before = lab.running.metrics()
        for i in range(5):
            wire.send(tagged(TAGS["globex"] + [(CUSTOMER_TAG, 5)], frame))
        def gone():
            """all five are dropped or punted"""
            m = lab.running.metrics()
            return m.value("surety_port_rx_packets_total", port="acc0") >= before.value("surety_port_rx_packets_total", port="acc0") + 5
        wait_for(gone)
        with Wire(lab.up) as there:
            assert there.find(udp_to(7003), 0.3) is None
        law(lab.running.metrics())


def test_a_priority_tag_is_no_tag(lab):
    """VLAN 0: the frame belongs to the port itself, whatever its priority. Before another tag it is nobody's."""
    with lab.wire() as wire, Wire(lab.up) as there:
        question = Ether(src=MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=MAC, psrc="10.1.0.44", pdst="10.1.0.254")
        wire.send(tagged([(CUSTOMER_TAG, 0)], question, priority=5))
        reply = wire.find(lambda p: ARP in p and p[ARP].op == 2 and p[ARP].psrc == "10.1.0.254", 5)
        assert reply and tags_of(reply)[0] == []
        frame = Ether(src=MAC, dst=lab.mac) / IP(src="10.1.0.44", dst="10.2.0.1") / UDP(dport=7004) / b"x"
        wire.send(tagged([(CUSTOMER_TAG, 0)], frame, priority=5))
        came = there.find(udp_to(7004), 5)
        assert came and came[IP].src == "10.1.0.44"
        frame = Ether(src=MAC, dst=lab.mac) / IP(src="10.107.0.44", dst="10.2.0.1") / UDP(dport=7004) / b"x"
        dropped(lab, "vlan_unknown", lambda: wire.send(tagged([(CUSTOMER_TAG, 0), *TAGS["acme"]], frame)))


def test_tags_where_there_are_no_interfaces(lab):
    """Port up0 has none."""
    with Wire(lab.up) as wire:
        before = lab.running.metrics().drops("up0").get("vlan_unknown", 0)
        for tags in ([(CUSTOMER_TAG, 107)], HOME):
            wire.send(tagged(tags, Ether(src=lab.up.mac, dst=lab.router.mac("up0")) / IP(src="10.2.0.1", dst="10.107.0.1") / UDP() / b"x"))
        lab.running.until(lambda m: m.drops("up0").get("vlan_unknown", 0) == before + 2, 5)
        law(lab.running.metrics())


def test_all_tags_there_are(lab):
    """4,096 of them, behind both protocols: each frame is counted once."""
    with lab.wire() as wire:
        before = lab.running.metrics()
        for vlan in range(4096):
            wire.send(tagged([(SERVICE_TAG if vlan % 2 else CUSTOMER_TAG, vlan)], Ether(src=MAC, dst=lab.mac) / IP(src="192.0.2.7", dst="10.2.0.1") / UDP() / b"x"))
            if vlan % 128 == 127:
                time.sleep(0.01)
        lab.running.until(lambda m: m.sum("surety_drops_total", port="acc0") >= before.sum("surety_drops_total", port="acc0") + 4096, 10)
        now, was = lab.running.metrics().drops("acc0"), before.drops("acc0")
        assert now["vlan_unknown"] - was.get("vlan_unknown", 0) in (4094, 4095)  # all but 107 and 0
    lab.running.settle()
