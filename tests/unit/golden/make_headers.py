#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/unit/headers_golden.hex: frames that Scapy built, with what parse() must say of them.

One line per frame: name, outcome, what ParsedPacket must hold, bytes. Offsets, lengths and fields are Scapy's own
view of the frame; outcome and protocol are what the frame was made to be. tests/functional/test_golden.py holds the
committed file against this program, and against tshark (LAYERS).
"""
import struct
import sys

from scapy.all import (ARP, BOOTP, DHCP, Dot1AD, Dot1Q, Dot3, ESP, Ether, GRE, ICMP, ICMPv6EchoRequest, ICMPv6ND_NS, IP,
                       IPOption_LSRR, IPOption_RR, IPOption_Router_Alert, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                       IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, LLC, PadN, Raw, RouterAlert, SCTP, STP, TCP, UDP)

US, THEM = "02:00:00:00:00:01", "02:00:00:00:00:99"
SOURCE4, DESTINATION4 = "10.1.0.1", "10.2.0.1"
SOURCE6, DESTINATION6 = "2001:db8:1::1", "2001:db8:2::2"


def ether(to=US, **more):
    return Ether(dst=to, src=THEM, **more)


def ip4(**more):
    return IP(**{"src": SOURCE4, "dst": DESTINATION4, "id": 0x1234, "ttl": 61, "tos": 0x2a, **more})


def ip6(**more):
    return IPv6(**{"src": SOURCE6, "dst": DESTINATION6, "hlim": 61, "tc": 0x2a, "fl": 0xabcde, **more})


def dccp_request(source, destination):
    """RFC 4340 5.1: Request with a 48-bit sequence number and service code 0."""
    return Raw(struct.pack("!HHBBHBBHII", source, destination, 5, 0, 0, 0x01, 0, 0, 1, 0))


def sack():
    return [("MSS", 1460), ("SAckOK", b""), ("Timestamp", (1, 2)), ("WScale", 7)]


DATA = Raw(b"surety!!")
UDP4, TCP4 = UDP(sport=5001, dport=5002), TCP(sport=5001, dport=5002, flags="A")

# name, outcome, protocol number of the transport and its Scapy layer, tshark's layers, frame
CASES = [
    ("v4_udp", "forward", 17, UDP, "eth:ethertype:ip:udp:data", ether() / ip4() / UDP4 / DATA),
    ("v4_tcp", "forward", 6, TCP, "eth:ethertype:ip:tcp:data", ether() / ip4() / TCP4 / DATA),
    ("v4_tcp_syn_options", "forward", 6, TCP, "eth:ethertype:ip:tcp",
     ether() / ip4() / TCP(sport=5001, dport=80, flags="S", options=sack())),
    ("v4_icmp_echo", "forward", 1, ICMP, "eth:ethertype:ip:icmp:data", ether() / ip4() / ICMP(id=1, seq=1) / DATA),
    ("v4_dccp", "forward", 33, Raw, "eth:ethertype:ip:dccp", ether() / ip4(proto=33) / dccp_request(5001, 5002)),
    ("v4_sctp", "forward", 132, SCTP, "eth:ethertype:ip:sctp", ether() / ip4() / SCTP(sport=5001, dport=5002, tag=1)),
    ("v4_gre", "forward", 47, GRE, "eth:ethertype:ip:gre:ip:udp:data",
     ether() / ip4() / GRE() / IP(src="192.0.2.1", dst="192.0.2.2") / UDP4 / DATA),
    ("v4_esp", "forward", 50, ESP, "eth:ethertype:ip:esp", ether() / ip4() / ESP(spi=7, seq=1, data=b"x" * 24)),
    ("v4_record_route", "forward", 17, UDP, "eth:ethertype:ip:udp:data",
     ether() / ip4(options=[IPOption_RR(routers=["0.0.0.0"] * 3)]) / UDP4 / DATA),
    ("v4_router_alert", "forward", 17, UDP, "eth:ethertype:ip:udp:data",
     ether() / ip4(options=[IPOption_Router_Alert()]) / UDP4 / DATA),
    ("v4_source_route", "drop ipv4_options", 17, UDP, "eth:ethertype:ip:udp:data",
     ether() / ip4(dst="192.0.2.9", options=[IPOption_LSRR(routers=["192.0.2.9"])]) / UDP4 / DATA),
    ("v4_first_fragment", "forward", 17, UDP, "eth:ethertype:ip:udp:data",
     ether() / ip4(flags="MF") / UDP(sport=5001, dport=5002, len=136, chksum=0) / Raw(b"f" * 64)),
    ("v4_last_fragment", "forward", 17, Raw, "eth:ethertype:ip:data",
     ether() / ip4(frag=9, proto=17) / Raw(b"f" * 64)),
    ("v4_ospf", "punt multicast", 89, Raw, "eth:ethertype:ip:ospf",
     ether("01:00:5e:00:00:05") / ip4(dst="224.0.0.5", ttl=1, proto=89) / Raw(bytes.fromhex(
         "0201002c0a01000100000000e09a00000000000000000000ffffff00000a0201000000280000000000000000"))),
    ("v4_broadcast", "punt multicast", 17, UDP, "eth:ethertype:ip:udp:data",
     ether("ff:ff:ff:ff:ff:ff") / ip4(dst="255.255.255.255") / UDP4 / DATA),
    ("v4_dhcp", "punt dhcp", 17, UDP, "eth:ethertype:ip:udp:dhcp",
     ether("ff:ff:ff:ff:ff:ff") / ip4(src="0.0.0.0", dst="255.255.255.255") / UDP(sport=68, dport=67, chksum=0)
     / BOOTP(chaddr=bytes.fromhex(THEM.replace(":", "")), xid=7) / DHCP(options=[("message-type", "discover"), "end"])),
    ("v4_vlan", "forward", 17, UDP, "eth:ethertype:vlan:ethertype:ip:udp:data",
     ether() / Dot1Q(vlan=100, prio=5) / ip4() / UDP4 / DATA),
    ("v4_priority_tag", "forward", 17, UDP, "eth:ethertype:vlan:ethertype:ip:udp:data",
     ether() / Dot1Q(vlan=0, prio=5) / ip4() / UDP4 / DATA),
    ("v4_qinq", "forward", 6, TCP, "eth:ethertype:ieee8021ad:ethertype:vlan:ethertype:ip:tcp:data",
     ether() / Dot1AD(vlan=4000) / Dot1Q(vlan=17) / ip4() / TCP4 / DATA),
    ("v4_three_tags", "drop vlan_depth", 17, UDP,
     "eth:ethertype:vlan:ethertype:vlan:ethertype:vlan:ethertype:ip:udp:data",
     ether() / Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / ip4() / UDP4 / DATA),
    ("v6_udp", "forward", 17, UDP, "eth:ethertype:ipv6:udp:data", ether() / ip6() / UDP4 / DATA),
    ("v6_tcp", "forward", 6, TCP, "eth:ethertype:ipv6:tcp:data", ether() / ip6() / TCP4 / DATA),
    ("v6_qinq_udp", "forward", 17, UDP, "eth:ethertype:ieee8021ad:ethertype:vlan:ethertype:ipv6:udp:data",
     ether() / Dot1AD(vlan=4000) / Dot1Q(vlan=17) / ip6() / UDP4 / DATA),
    ("v6_dccp", "forward", 33, Raw, "eth:ethertype:ipv6:dccp", ether() / ip6(nh=33) / dccp_request(5001, 5002)),
    ("v6_echo", "forward", 58, ICMPv6EchoRequest, "eth:ethertype:ipv6:icmpv6:data",
     ether() / ip6() / ICMPv6EchoRequest(id=1, data=b"surety!!")),
    ("v6_destination_options", "forward", 17, UDP, "eth:ethertype:ipv6:ipv6.dstopts:udp:data",
     ether() / ip6() / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)]) / UDP4 / DATA),
    ("v6_hop_by_hop", "forward", 6, TCP, "eth:ethertype:ipv6:ipv6.hopopts:tcp:data",
     ether() / ip6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=b"\0" * 4)]) / TCP4 / DATA),
    ("v6_router_alert", "forward", 17, UDP, "eth:ethertype:ipv6:ipv6.hopopts:udp:data",
     ether() / ip6() / IPv6ExtHdrHopByHop(options=[RouterAlert(value=1)]) / UDP4 / DATA),
    ("v6_routing_type_0", "drop ipv6_extension", 17, UDP, "eth:ethertype:ipv6:ipv6.routing:udp:data",
     ether() / ip6() / IPv6ExtHdrRouting(type=0, addresses=["2001:db8::9"], segleft=0) / UDP4 / DATA),
    ("v6_first_fragment", "forward", 17, UDP, "eth:ethertype:ipv6:ipv6.fraghdr:udp:data",
     ether() / ip6() / IPv6ExtHdrFragment(m=1, id=77) / UDP(sport=5001, dport=5002, len=136, chksum=1)
     / Raw(b"f" * 64)),
    ("v6_last_fragment", "forward", 17, Raw, "eth:ethertype:ipv6:ipv6.fraghdr:data",
     ether() / ip6() / IPv6ExtHdrFragment(offset=9, m=0, id=77, nh=17) / Raw(b"f" * 64)),
    ("v6_atomic_fragment", "forward", 17, UDP, "eth:ethertype:ipv6:ipv6.fraghdr:udp:data",
     ether() / ip6() / IPv6ExtHdrFragment(m=0, id=77) / UDP4 / DATA),
    ("v6_solicitation", "punt neighbor_discovery", 58, ICMPv6ND_NS, "eth:ethertype:ipv6:icmpv6",
     ether("33:33:ff:00:00:02") / ip6(src="fe80::1", dst="ff02::1:ff00:2", hlim=255) / ICMPv6ND_NS(tgt="fe80::2")),
    ("v6_address_detection", "punt neighbor_discovery", 58, ICMPv6ND_NS, "eth:ethertype:ipv6:icmpv6",
     ether("33:33:ff:00:00:02") / ip6(src="::", dst="ff02::1:ff00:2", hlim=255) / ICMPv6ND_NS(tgt="fe80::2")),
    ("v6_dhcp", "punt dhcp", 17, UDP, "eth:ethertype:ipv6:udp:dhcpv6",
     ether("33:33:00:01:00:02") / ip6(src="fe80::1", dst="ff02::1:2", hlim=1) / UDP(sport=546, dport=547)
     / Raw(bytes.fromhex("01000007"))),
    ("v6_link_local", "punt link_local", 17, UDP, "eth:ethertype:ipv6:udp:data",
     ether() / ip6(src="fe80::1") / UDP4 / DATA),
]
LINK_CASES = [
    ("arp", "punt arp", "eth:ethertype:arp",
     ether("ff:ff:ff:ff:ff:ff") / ARP(hwsrc=THEM, psrc=SOURCE4, pdst=DESTINATION4)),
    ("spanning_tree", "punt control", "eth:llc:stp",
     Dot3(dst="01:80:c2:00:00:00", src=THEM) / LLC(dsap=0x42, ssap=0x42, ctrl=3) / STP()),
    ("lldp", "punt control", "eth:ethertype:lldp",
     ether("01:80:c2:00:00:0e", type=0x88cc) / Raw(bytes.fromhex("0207040200000000990403076c616e060200780000"))),
    ("mpls", "drop ethertype", "eth:ethertype:mpls:ip:udp:data",
     ether(type=0x8847) / Raw(bytes.fromhex("0000a140")) / ip4() / UDP4 / DATA),
]


def expectation(frame, protocol, transport):
    network = frame[IP] if IP in frame else frame[IPv6]
    v6 = isinstance(network, IPv6)
    whole = bytes(frame)
    tags = [layer.vlan for layer in (frame.getlayer(i) for i in range(8)) if isinstance(layer, Dot1Q)] + [0, 0]
    fragment = (IPv6ExtHdrFragment in frame and frame[IPv6ExtHdrFragment].m + frame[IPv6ExtHdrFragment].offset > 0
                if v6 else network.flags.MF or network.frag > 0)
    return {"length": len(bytes(network)), "l3": len(whole) - len(bytes(network)),
            "l4": len(whole) - len(bytes(frame[transport])), "protocol": protocol, "vlan": tags[0], "inner": tags[1],
            "tc": network.tc if v6 else network.tos, "ttl": network.hlim if v6 else network.ttl, "v6": int(v6),
            "fragment": int(bool(fragment))}


def lines():
    for name, outcome, protocol, transport, _, frame in CASES:
        fields = " ".join(f"{k}={v}" for k, v in expectation(frame, protocol, transport).items())
        yield f"{name} | {outcome} | {fields} | {bytes(frame).hex()}"
    for name, outcome, _, frame in LINK_CASES:
        yield f"{name} | {outcome} | | {bytes(frame).hex()}"


LAYERS = {name: layers for name, _, _, _, layers, _ in CASES} | {name: layers for name, _, layers, _ in LINK_CASES}

if __name__ == "__main__":
    print("# Made by golden/make_headers.py with Scapy; do not edit. name | outcome | ParsedPacket | frame")
    sys.stdout.writelines(line + "\n" for line in lines())
