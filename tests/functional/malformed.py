# SPDX-License-Identifier: BSD-3-Clause
"""Frames that a router must refuse, each with the reason (conditioners/drop_reason.h) under which it is counted."""
import struct

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether

IN_MAC = "02:00:00:00:00:01"
_S, _D = "10.1.0.7", "198.51.100.9"
_S6, _D6 = "2001:db8:1::7", "2001:db8:ff::9"
_ETHER = Ether(src="02:00:00:00:00:aa", dst=IN_MAC)
_BODY = UDP(sport=1, dport=2) / b"payload"


def _v4(body=_BODY, **fields):
    return _ETHER / IP(**{"src": _S, "dst": _D, **fields}) / body


def _v6(body=_BODY, **fields):
    return _ETHER / IPv6(**{"src": _S6, "dst": _D6, **fields}) / body


def _with_header_byte(frame, offset, value):
    """One byte of the IPv4 header changed behind scapy's back, the checksum corrected with it (RFC 1071)."""
    raw = bytearray(bytes(frame))
    raw[14 + offset] = value
    length = (raw[14] & 15) * 4
    raw[24:26] = b"\0\0"
    words = struct.unpack(f">{length // 2}H", bytes(raw[14:14 + length]))
    total = sum(words)
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    raw[24:26] = struct.pack(">H", total ^ 0xffff)
    return bytes(raw)


def _option(raw):
    words = len(raw) // 4
    header = bytes(IP(src=_S, dst=_D, ihl=5 + words, len=20 + len(raw) + len(_BODY), proto=17))[:20]
    return _with_header_byte(bytes(_ETHER)[:12] + b"\x08\x00" + header + raw + bytes(_BODY), 1, 0)


# name: (reason, frame)
REFUSED = {
    "runt": ("truncated", bytes(_ETHER)[:13]),
    "ethernet-only": ("truncated", bytes(_ETHER)[:12] + b"\x08\x00"),
    "half-an-ipv4-header": ("truncated", bytes(_v4())[:14 + 19]),
    "half-an-ipv6-header": ("truncated", bytes(_v6())[:14 + 39]),
    "half-a-tag": ("truncated", bytes(_ETHER)[:12] + b"\x81\x00\x00\x05\x08"),
    "half-an-arp": ("truncated", bytes(_ETHER)[:12] + b"\x08\x06" + bytes(27)),
    "another-station": ("foreign_mac", Ether(src="02:00:00:00:00:aa", dst="02:00:00:00:00:99") / IP(src=_S, dst=_D) / _BODY),
    "unicast-in-broadcast": ("foreign_mac", Ether(src="02:00:00:00:00:aa", dst="ff:ff:ff:ff:ff:ff") / IP(src=_S, dst=_D) / _BODY),
    "mpls": ("ethertype", Ether(src="02:00:00:00:00:aa", dst=IN_MAC, type=0x8847) / bytes(50)),
    "unknown-ethertype": ("ethertype", Ether(src="02:00:00:00:00:aa", dst=IN_MAC, type=0x9999) / bytes(50)),
    "three-tags": ("vlan_depth", _ETHER / Dot1AD(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / IP(src=_S, dst=_D) / _BODY),
    "ipv4-version": ("ipv4_version", _with_header_byte(_v4(), 0, 0x55)),
    "ihl-4": ("ipv4_header_length", _with_header_byte(_v4(), 0, 0x44)),
    "ihl-beyond-packet": ("ipv4_header_length", _with_header_byte(_v4(bytes(60), len=35), 0, 0x4f)),
    "total-length-below-header": ("ipv4_total_length", _v4(len=19)),
    "total-length-beyond-frame": ("ipv4_total_length", _v4(len=1000)),
    "ipv4-checksum": ("ipv4_checksum", _v4(chksum=0x1234)),
    "option-length-0": ("ipv4_options", _option(b"\x07\x00\x00\x00")),
    "option-beyond-header": ("ipv4_options", _option(b"\x07\x0b\x04\x00")),
    "loose-source-route": ("ipv4_options", _option(b"\x83\x07\x04\x0a\x00\x00\x01\x00")),
    "strict-source-route": ("ipv4_options", _option(b"\x89\x07\x04\x0a\x00\x00\x01\x00")),
    "source-loopback": ("ipv4_martian_source", _v4(src="127.0.0.1")),
    "source-zero": ("ipv4_martian_source", _v4(src="0.0.0.0")),
    "source-multicast": ("ipv4_martian_source", _v4(src="224.0.0.1")),
    "source-broadcast": ("ipv4_martian_source", _v4(src="255.255.255.255")),
    "source-is-destination": ("ipv4_martian_source", _v4(src=_D)),
    "destination-loopback": ("ipv4_martian_destination", _v4(dst="127.1.2.3")),
    "destination-zero": ("ipv4_martian_destination", _v4(dst="0.0.0.1")),
    "destination-reserved": ("ipv4_martian_destination", _v4(dst="240.0.0.1")),
    "ipv6-version": ("ipv6_version", bytes(_v6())[:14] + b"\x40" + bytes(_v6())[15:]),
    "ipv6-payload-beyond-frame": ("ipv6_payload_length", _v6(plen=1000)),
    "ipv6-jumbogram": ("ipv6_payload_length", _v6(plen=0, nh=0, body=bytes.fromhex("1100c20400010000") + bytes(16))),
    "ipv6-hop-by-hop-second": ("ipv6_extension", _v6(IPv6ExtHdrDestOpt() / IPv6ExtHdrHopByHop() / _BODY)),
    "ipv6-routing-type-0": ("ipv6_extension", _v6(IPv6ExtHdrRouting(type=0, addresses=["2001:db8::1"]) / _BODY)),
    "ipv6-nine-extensions": ("ipv6_extension", _v6(bytes.fromhex("3c00010400000000") * 8 + bytes.fromhex("1100010400000000") +
                                                   bytes(_BODY), nh=60)),
    "ipv6-extension-beyond-packet": ("ipv6_extension", _v6(bytes.fromhex("11ff010400000000"), nh=60)),
    "ipv6-source-multicast": ("ipv6_martian_source", _v6(src="ff02::1")),
    "ipv6-source-unspecified": ("ipv6_martian_source", _v6(src="::")),
    "ipv6-source-loopback": ("ipv6_martian_source", _v6(src="::1")),
    "ipv6-source-mapped": ("ipv6_martian_source", _v6(src="::ffff:10.0.0.1")),
    "ipv6-source-is-destination": ("ipv6_martian_source", _v6(src=_D6)),
    "ipv6-destination-loopback": ("ipv6_martian_destination", _v6(dst="::1")),
    "ipv6-destination-unspecified": ("ipv6_martian_destination", _v6(dst="::")),
    "ipv6-destination-interface-local": ("ipv6_martian_destination", _v6(dst="ff01::1")),
    "udp-truncated": ("l4_truncated", _v4(bytes(7), proto=17)),
    "udp-length-beyond-packet": ("l4_truncated", _v4(UDP(len=100) / b"x")),
    "tcp-truncated": ("l4_truncated", _v4(bytes(19), proto=6)),
    "tcp-offset-beyond-packet": ("l4_truncated", _v4(TCP(dataofs=15))),
    "icmp-truncated": ("l4_truncated", _v4(bytes(ICMP())[:7], proto=1)),
    "dccp-truncated": ("l4_truncated", _v4(bytes(11), proto=33)),
    "ipv6-tcp-truncated": ("l4_truncated", _v6(bytes(19), nh=6)),
    "fragment-empty": ("fragment", _v4(b"", frag=4, proto=17)),
    "fragment-beyond-65535": ("fragment", _v4(bytes(64), frag=8190, proto=17)),
    "fragment-tiny-tcp": ("fragment", _v4(bytes(8), flags="MF", proto=6)),
    "fragment-tcp-at-offset-8": ("fragment", _v4(bytes(32), frag=1, proto=6)),
    "ipv6-fragment-tiny": ("fragment", _v6(IPv6ExtHdrFragment(offset=0, m=1, nh=6) / bytes(8))),
}
