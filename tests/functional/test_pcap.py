# SPDX-License-Identifier: BSD-3-Clause
"""Captures in, captures out: what exactly becomes of a frame, and under which name a malformed one is refused."""
import subprocess

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_RR, IPOption_Router_Alert
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NS, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                                IPv6ExtHdrHopByHop, IPv6ExtHdrRouting)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.utils import wrpcap

from harness import Router, frames_of
from malformed import IN_MAC, REFUSED

OUT_MAC, NEXT_MAC, NEXT6_MAC, FAR_MAC = "02:00:00:00:00:02", "02:00:00:00:01:01", "02:00:00:00:01:06", "02:00:00:00:02:01"
HOST_MAC = "02:00:00:00:00:aa"
PORTS_PER_ROUTER = 14

SOURCE, TARGET = "10.1.0.7", "198.51.100.9"
SOURCE6, TARGET6 = "2001:db8:1::7", "2001:db8:ff::9"
TO_ROUTER = Ether(src=HOST_MAC, dst=IN_MAC)

ROUTING = f"""
ports:
  in: {{device: pcap rx=in.pcap tx=back.pcap, mac: "{IN_MAC}", addresses: [10.1.0.254/24, "2001:db8:1::fe/64"]}}
  out: {{device: pcap tx=out.pcap, mac: "{OUT_MAC}", addresses: [10.2.0.254/24, "2001:db8:2::fe/64"], trust: core, mtu: 1400}}
routes:
  - {{to: 198.51.100.0/24, via: 10.2.0.1}}
  - {{to: 198.51.100.128/25, via: 10.2.0.3}}
  - {{to: 192.0.2.0/24, blackhole: true}}
  - {{to: "2001:db8:ff::/48", via: "2001:db8:2::1"}}
neighbors:
  - {{address: 10.2.0.1, mac: "{NEXT_MAC}", port: out}}
  - {{address: 10.2.0.2, mac: "{FAR_MAC}", port: out}}
  - {{address: "2001:db8:2::1", mac: "{NEXT6_MAC}", port: out}}
services:
  gold: {{conditioner: none, mark: {{in: AF11}}}}
  voice: {{conditioner: none, mark: {{in: EF}}}}
  untouched: {{conditioner: none}}
  plain: {{conditioner: none, mark: {{in: BE}}}}
classify:
  - {{match: {{port: in, vlan: 300, inner_vlan: 7}}, service: voice}}
  - {{match: {{port: in, vlan: 100}}, service: voice}}
  - {{match: {{port: in, protocol: udp, destination_port: 5000-5009}}, service: gold}}
  - {{match: {{port: in, protocol: tcp}}, service: untouched}}
  - {{match: {{port: in}}, service: plain}}
"""


def replay(namespace, directory, frames, yaml=ROUTING):
    """Everything that came of the frames: the last metrics, and what left by `out`."""
    wrpcap(str(directory / "in.pcap"), [bytes(f) for f in frames], linktype=1)
    with Router(namespace, yaml, directory=directory) as router:
        router.until(lambda m: m.value("surety_port_rx_packets_total", port="in") == len(frames))
        metrics = router.settle()
        assert metrics.value("surety_mempool_available") == metrics.value("surety_mempool_size")
    assert frames_of(directory / "back.pcap") == []
    return metrics, frames_of(directory / "out.pcap")


UDP_BODY = UDP(sport=1234, dport=9) / b"some payload"
GOLD_BODY = UDP(sport=1234, dport=5004) / b"some payload"
AF11, EF = 10 << 2, 46 << 2
OPTIONS = [IPOption_RR(length=7, pointer=4, routers=["0.0.0.0"])]

# name: (frame received, IP packet expected, MAC address it goes to)
FORWARDED = {
    "plain": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, tos=EF, id=1) / UDP_BODY,
              IP(src=SOURCE, dst=TARGET, tos=0, ttl=63, id=1) / UDP_BODY, NEXT_MAC),
    "marked, ECN kept": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, tos=EF | 1, id=2) / GOLD_BODY,
                         IP(src=SOURCE, dst=TARGET, tos=AF11 | 1, ttl=63, id=2) / GOLD_BODY, NEXT_MAC),
    "marked, CE kept": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, tos=3, id=3) / GOLD_BODY,
                        IP(src=SOURCE, dst=TARGET, tos=AF11 | 3, ttl=63, id=3) / GOLD_BODY, NEXT_MAC),
    "without a mark the DSCP stays": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, tos=0xb2, id=4) / TCP(),
                                      IP(src=SOURCE, dst=TARGET, tos=0xb2, ttl=63, id=4) / TCP(), NEXT_MAC),
    "tagged": (TO_ROUTER / Dot1Q(vlan=100, prio=5) / IP(src=SOURCE, dst=TARGET, id=5) / UDP_BODY,
               IP(src=SOURCE, dst=TARGET, tos=EF, ttl=63, id=5) / UDP_BODY, NEXT_MAC),
    "QinQ": (TO_ROUTER / Dot1AD(vlan=300) / Dot1Q(vlan=7) / IP(src=SOURCE, dst=TARGET, id=6) / UDP_BODY,
             IP(src=SOURCE, dst=TARGET, tos=EF, ttl=63, id=6) / UDP_BODY, NEXT_MAC),
    "priority tag": (TO_ROUTER / Dot1Q(vlan=0, prio=3) / IP(src=SOURCE, dst=TARGET, id=7) / UDP_BODY,
                     IP(src=SOURCE, dst=TARGET, ttl=63, id=7) / UDP_BODY, NEXT_MAC),
    "padding is cut": (bytes(TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=8) / UDP(dport=9)).ljust(64, b"\xee"),
                       IP(src=SOURCE, dst=TARGET, ttl=63, id=8) / UDP(dport=9), NEXT_MAC),
    "options": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=9, options=OPTIONS) / GOLD_BODY,
                IP(src=SOURCE, dst=TARGET, tos=AF11, ttl=63, id=9, options=OPTIONS) / GOLD_BODY, NEXT_MAC),
    "router alert": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=9, options=[IPOption_Router_Alert()]) / GOLD_BODY,
                     IP(src=SOURCE, dst=TARGET, tos=AF11, ttl=63, id=9, options=[IPOption_Router_Alert()]) / GOLD_BODY, NEXT_MAC),
    "first fragment": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=10, flags="MF", proto=17) / bytes(64),
                       IP(src=SOURCE, dst=TARGET, ttl=63, id=10, flags="MF", proto=17) / bytes(64), NEXT_MAC),
    "last fragment": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=10, frag=8, proto=17) / bytes(33),
                      IP(src=SOURCE, dst=TARGET, ttl=63, id=10, frag=8, proto=17) / bytes(33), NEXT_MAC),
    "TTL 2": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=11, ttl=2) / ICMP(),
              IP(src=SOURCE, dst=TARGET, ttl=1, id=11) / ICMP(), NEXT_MAC),
    "as large as the MTU": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=12, flags="DF") / UDP(dport=9) / bytes(1372),
                            IP(src=SOURCE, dst=TARGET, ttl=63, id=12, flags="DF") / UDP(dport=9) / bytes(1372), NEXT_MAC),
    "on the link itself": (TO_ROUTER / IP(src=SOURCE, dst="10.2.0.2", id=13) / UDP_BODY,
                           IP(src=SOURCE, dst="10.2.0.2", ttl=63, id=13) / UDP_BODY, FAR_MAC),
    "unknown protocol": (TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=14, proto=253) / b"anything",
                         IP(src=SOURCE, dst=TARGET, ttl=63, id=14, proto=253) / b"anything", NEXT_MAC),
    "a wrong UDP checksum is not the router's business": (
        TO_ROUTER / IP(src=SOURCE, dst=TARGET, id=15) / UDP(dport=9, chksum=0x1234) / b"x",
        IP(src=SOURCE, dst=TARGET, ttl=63, id=15) / UDP(dport=9, chksum=0x1234) / b"x", NEXT_MAC),
    "IPv6": (TO_ROUTER / IPv6(src=SOURCE6, dst=TARGET6, fl=0x12345, tc=EF | 2) / GOLD_BODY,
             IPv6(src=SOURCE6, dst=TARGET6, fl=0x12345, tc=AF11 | 2, hlim=63) / GOLD_BODY, NEXT6_MAC),
    "IPv6, tagged": (TO_ROUTER / Dot1Q(vlan=100) / IPv6(src=SOURCE6, dst=TARGET6) / UDP_BODY,
                     IPv6(src=SOURCE6, dst=TARGET6, tc=EF, hlim=63) / UDP_BODY, NEXT6_MAC),
    "IPv6, extension headers": (
        TO_ROUTER / IPv6(src=SOURCE6, dst=TARGET6) / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / GOLD_BODY,
        IPv6(src=SOURCE6, dst=TARGET6, tc=AF11, hlim=63) / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / GOLD_BODY, NEXT6_MAC),
    "IPv6, segment routing header": (
        TO_ROUTER / IPv6(src=SOURCE6, dst=TARGET6) / IPv6ExtHdrRouting(type=4, segleft=0) / GOLD_BODY,
        IPv6(src=SOURCE6, dst=TARGET6, tc=AF11, hlim=63) / IPv6ExtHdrRouting(type=4, segleft=0) / GOLD_BODY, NEXT6_MAC),
    "IPv6, fragment": (
        TO_ROUTER / IPv6(src=SOURCE6, dst=TARGET6) / IPv6ExtHdrFragment(offset=4, m=1, id=5, nh=17) / bytes(32),
        IPv6(src=SOURCE6, dst=TARGET6, hlim=63) / IPv6ExtHdrFragment(offset=4, m=1, id=5, nh=17) / bytes(32), NEXT6_MAC),
    "IPv6, echo": (TO_ROUTER / IPv6(src=SOURCE6, dst=TARGET6, hlim=2) / ICMPv6EchoRequest(),
                   IPv6(src=SOURCE6, dst=TARGET6, hlim=1) / ICMPv6EchoRequest(), NEXT6_MAC),
}


def expected(ip, mac):
    return bytes(Ether(src=OUT_MAC, dst=mac) / ip)


def test_frames_leave_exactly_as_they_should(namespace, directory):
    metrics, out = replay(namespace, directory, [frame for frame, _, _ in FORWARDED.values()])
    assert metrics.drops() == {}
    assert metrics.value("surety_port_tx_bytes_total", port="out") == sum(map(len, out))
    for (name, (_, ip, mac)), frame in zip(FORWARDED.items(), out, strict=True):
        assert frame == expected(ip, mac), f"{name}\n{Ether(frame).show(dump=True)}"


def test_tshark_finds_every_header_checksum_right(namespace, directory):
    replay(namespace, directory, [frame for frame, _, _ in FORWARDED.values()])
    rows = subprocess.run(
        ["tshark", "-r", directory / "out.pcap", "-T", "fields", "-o", "ip.check_checksum:TRUE", "-e", "ip.checksum.status",
         "-e", "_ws.malformed"], capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    v4 = [IP in ip for _, ip, _ in FORWARDED.values()]
    assert [row.split("\t")[0] for row in rows] == ["1" if is_v4 else "" for is_v4 in v4]


def test_a_thousand_of_each_leave_in_order(namespace, directory):
    """More than any ring holds: nothing is lost, repeated or overtaken, and all buffers come back."""
    metrics, out = replay(namespace, directory, [bytes(frame) for frame, _, _ in FORWARDED.values()] * 1000)
    assert metrics.drops() == {}
    assert out == [expected(ip, mac) for _, ip, mac in FORWARDED.values()] * 1000


# Refused by the routing part: what it takes a route, a next hop or a kernel to know.
NOT_FORWARDED = {
    "no_route": [IP(src=SOURCE, dst="203.0.113.1") / UDP_BODY, IPv6(src=SOURCE6, dst="2001:db8:dead::1") / UDP_BODY],
    "blackhole": [IP(src=SOURCE, dst="192.0.2.5") / UDP_BODY, IP(src=SOURCE, dst="10.2.0.255") / UDP_BODY,
                  IP(src=SOURCE, dst="10.2.0.0") / UDP_BODY],
    "ttl_exceeded": [IP(src=SOURCE, dst=TARGET, ttl=1) / UDP_BODY, IP(src=SOURCE, dst=TARGET, ttl=0) / UDP_BODY,
                     IPv6(src=SOURCE6, dst=TARGET6, hlim=1) / UDP_BODY, IPv6(src=SOURCE6, dst=TARGET6, hlim=0) / UDP_BODY],
    "mtu_exceeded": [IP(src=SOURCE, dst=TARGET, flags="DF") / UDP(dport=9) / bytes(1373),
                     IPv6(src=SOURCE6, dst=TARGET6) / UDP(dport=9) / bytes(1353)],
    "neighbor_unresolved": [IP(src=SOURCE, dst="198.51.100.200") / UDP_BODY, IP(src=SOURCE, dst="10.2.0.77") / UDP_BODY,
                            IPv6(src=SOURCE6, dst="2001:db8:2::77") / UDP_BODY],
    "no_kernel_peer": [IP(src=SOURCE, dst="10.1.0.254") / UDP_BODY, IP(src=SOURCE, dst="10.2.0.254") / UDP_BODY,
                       IPv6(src=SOURCE6, dst="2001:db8:2::fe") / UDP_BODY],
    "link_local": [IP(src="169.254.1.1", dst=TARGET) / UDP_BODY, IP(src=SOURCE, dst="169.254.1.1") / UDP_BODY,
                   IPv6(src="fe80::1", dst=TARGET6) / UDP_BODY],
}


@pytest.mark.parametrize("reason", NOT_FORWARDED)
def test_what_cannot_be_forwarded_has_a_name(namespace, directory, reason):
    frames = [TO_ROUTER / ip for ip in NOT_FORWARDED[reason]]
    metrics, out = replay(namespace, directory, frames)
    assert (metrics.drops("in"), metrics.drops("out"), out) == ({reason: len(frames)}, {}, [])


def test_exceptions_without_a_kernel_have_a_name(namespace, directory):
    """ARP, neighbour discovery, multicast, slow protocols: a pcap port has nobody to hand them to."""
    frames = [Ether(src=HOST_MAC, dst="ff:ff:ff:ff:ff:ff") / ARP(psrc=SOURCE, pdst="10.1.0.254"),
              Ether(src=HOST_MAC, dst="33:33:ff:00:00:fe") / IPv6(src=SOURCE6, dst="ff02::1:ff00:fe", hlim=255) /
              ICMPv6ND_NS(tgt="2001:db8:1::fe"),
              Ether(src=HOST_MAC, dst="01:00:5e:00:00:05") / IP(src=SOURCE, dst="224.0.0.5", ttl=1, proto=89) / bytes(24),
              Ether(src=HOST_MAC, dst="01:80:c2:00:00:0e", type=0x88cc) / bytes(46)]
    metrics, out = replay(namespace, directory, frames)
    assert (metrics.drops(), out) == ({"no_kernel_peer": 4}, [])


def groups():
    names = sorted(REFUSED)
    return [names[i:i + PORTS_PER_ROUTER] for i in range(0, len(names), PORTS_PER_ROUTER)]


@pytest.mark.parametrize("names", groups(), ids=lambda names: f"{names[0]}...{names[-1]}")
def test_malformed_frames_are_refused_under_their_reason(namespace, directory, names):
    """A port for each kind of frame, so that each is seen to be counted under its reason and no other."""
    yaml = "ports:\n"
    for name in names:
        wrpcap(str(directory / f"{name}.pcap"), [bytes(REFUSED[name][1])], linktype=1)
        yaml += f'  {name}: {{device: pcap rx={name}.pcap tx={name}.out.pcap, mac: "{IN_MAC}"}}\n'
    yaml += "flow_table: {held: 1024 packets}\n"
    with Router(namespace, yaml, directory=directory) as router:
        router.until(lambda m: m.sum("surety_port_rx_packets_total") == len(names))
        metrics = router.settle()
    assert {name: metrics.drops(name) for name in names} == {name: {REFUSED[name][0]: 1} for name in names}
