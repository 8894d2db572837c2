# SPDX-License-Identifier: BSD-3-Clause
"""What a customer behind lan1 sends who means harm: frames by the name of the attack, against the scene of victim.py."""
import random
import socket
import struct

from scapy.layers.dhcp import BOOTP, DHCP
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_LSRR, IPOption_Router_Alert, IPOption_RR
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6NDOptDstLLAddr, ICMPv6NDOptPrefixInfo,
                                ICMPv6NDOptSrcLLAddr, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, RouterAlert)
from scapy.layers.l2 import ARP, Dot1Q, Ether

from pings import checksum
from malformed import IN_MAC, REFUSED

FLOWS = 40_000
EVERYBODY = "ff:ff:ff:ff:ff:ff"
ME, ME6, B, B6 = "10.3.0.1", "2001:db8:3::1", "10.2.0.1", "2001:db8:2::1"
EF = 46 << 2
GATEWAY, GATEWAY6 = "10.3.0.254", "2001:db8:3::fe"


class Attacker:
    """`frames(name)`: at least one."""

    def __init__(self, scene):
        self.mac, self.router = scene.m.mac, scene.router.mac("lan1")
        self._victim = scene.a.addresses[0]
        self._random = random.Random(1)

    def frames(self, name):
        return [bytes(f).ljust(60, b"\0") for f in ATTACKS[name](self)]

    def ether(self, to=None):
        return Ether(src=self.mac, dst=to or self.router)

    def four(self, **more):
        return self.ether() / IP(**{"src": ME, "dst": B, "tos": EF, **more})

    def six(self, **more):
        return self.ether() / IPv6(**{"src": ME6, "dst": B6, "tc": EF, **more})

    def many(self, frame, count, at, values, checksummed=True):
        """Copies with other bytes at a place, and the header's checksum right."""
        for value in values(count):
            copy = bytearray(bytes(frame))
            copy[at:at + len(value)] = value
            if checksummed:
                copy[24:26] = bytes(2)
                copy[24:26] = checksum(copy[14:34])
            yield bytes(copy)


def _ports(first):
    """Of source ports, with destination addresses of a /24 beside them, there are as many flows as one likes."""
    return lambda count: (struct.pack(">H", first + i % 60_000) for i in range(count))


def _addresses(text, family=socket.AF_INET):
    base = int.from_bytes(socket.inet_pton(family, text), "big")
    return lambda count: ((base + i).to_bytes(4 if family == socket.AF_INET else 16, "big") for i in range(count))


DATA = UDP(sport=1000, dport=4009, chksum=0) / bytes(40)
SIP, DIP, DIP6, SPORT = 26, 30, 38, 34  # offsets in a frame


def _plain(a):
    return [a.four() / DATA]


def _beyond_its_contract(a):
    """In the same class of the core as the victim's."""
    return [a.four() / UDP(sport=1, dport=5006, chksum=0) / bytes(1000)]


def _options(a):
    return [a.four(options=[o]) / DATA for o in (IPOption_RR(pointer=4, routers=["0.0.0.0"] * 9), IPOption_LSRR(pointer=4, routers=[B]))]


def _router_alert(a):
    return [a.four(options=[IPOption_Router_Alert()]) / DATA,
            a.six() / IPv6ExtHdrHopByHop(options=[RouterAlert(value=1)]) / DATA]


def _extension_headers(a):
    return [a.six() / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / IPv6ExtHdrDestOpt() / DATA]


def _fragments(a):
    return [a.four(flags="MF", frag=offset, id=i, proto=17) / bytes(24) for i in range(500) for offset in (0, 1, 2)] + [
        a.six() / IPv6ExtHdrFragment(offset=1, m=1, id=i, nh=17) / bytes(24) for i in range(500)]


def _last_hop(a):
    return [a.four(ttl=1) / DATA, a.six(hlim=1) / DATA]


def _too_large(a):
    return [a.four(flags="DF") / UDP(sport=1, dport=2) / bytes(1450), a.six() / UDP(sport=1, dport=2) / bytes(1440)]


def _to_be_cut(a):
    return [a.four() / UDP(sport=1, dport=2) / bytes(1450)]


def _unknown_hosts(a):
    return [*a.many(a.four() / DATA, FLOWS // 2, DIP, _addresses("10.2.128.1")),
            *a.many(a.six() / DATA, FLOWS // 2, DIP6, _addresses("2001:db8:2::bad:0", socket.AF_INET6), checksummed=False)]


def _arp(a):
    def ask(mac, mine, target):
        return Ether(src=mac, dst=EVERYBODY) / ARP(op=1, hwsrc=mac, psrc=mine, pdst=target)
    return [ask(f"02:00:00:{i >> 16:02x}:{i >> 8 & 255:02x}:{i & 255:02x}", f"10.3.0.{2 + i % 250}", GATEWAY) for i in range(2000)] + [
        Ether(src=a.mac, dst=EVERYBODY) / ARP(op=op, hwsrc=a.mac, psrc=of, pdst=GATEWAY) for op in (1, 2) for of in (GATEWAY, B, ME)]


def _neighbor_discovery(a):
    return [a.ether() / IPv6(src=f"2001:db8:3::{i:x}", dst=GATEWAY6, hlim=255) / ICMPv6ND_NS(tgt=GATEWAY6) /
            ICMPv6NDOptSrcLLAddr(lladdr=a.mac) for i in range(2, 1000)] + [
        a.ether() / IPv6(src=f"2001:db8:3::{i:x}", dst=GATEWAY6, hlim=255) / ICMPv6ND_NA(tgt=f"2001:db8:3::{i:x}", O=1, S=1) /
        ICMPv6NDOptDstLLAddr(lladdr=a.mac) for i in range(2, 1000)]


def _advertisements(a):
    return [a.ether("33:33:00:00:00:01") / IPv6(src="fe80::bad", dst="ff02::1", hlim=255) / ICMPv6ND_RA(routerlifetime=1800) /
            ICMPv6NDOptSrcLLAddr(lladdr=a.mac) / ICMPv6NDOptPrefixInfo(prefixlen=64, prefix=f"2001:db8:{i:x}::") for i in range(1000)]


def _dhcp(a):
    return [a.ether(EVERYBODY) / IP(src="0.0.0.0", dst="255.255.255.255") / UDP(sport=68, dport=67) /
            BOOTP(xid=i) / DHCP(options=[("message-type", "discover"), "end"]) for i in range(500)]


def _multicast(a):
    return [a.ether(f"01:00:5e:00:00:{i & 127:02x}") / IP(src=ME, dst=f"224.0.0.{i & 127}", ttl=1, proto=(89, 103, 2, 17)[i % 4]) / bytes(40)
            for i in range(1, 120)]


def _spoofed(a):
    return [*a.many(a.four(src=a._victim) / UDP(sport=1000, dport=5004) / bytes(40), FLOWS // 2, SPORT, _ports(1024)),
            *a.many(a.four() / DATA, FLOWS // 2, SIP, _addresses("10.9.0.1"))]


def _tags(a):
    return [Ether(src=a.mac, dst=a.router) / Dot1Q(vlan=v) / IP(src=ME, dst=B, tos=EF) / DATA for v in range(1, 4095, 4)]


def _flows_to(a, port):
    frame = a.four() / UDP(sport=1, dport=port, chksum=0) / bytes(100)
    return list(a.many(frame, FLOWS, SPORT, _ports(1024)))


def _new_flows(a):
    return _flows_to(a, 5004)


def _held(a):
    """Each of 500 flows that are held sends 400 packets a second: more than a hundred times what it bought."""
    frame = a.four() / UDP(sport=1, dport=6000, chksum=0) / bytes(400)
    return list(a.many(frame, 500, SPORT, _ports(1024)))


def _held_flows(a):
    return _flows_to(a, 6000)


def _signals(a):
    body = a._random.randbytes
    return [a.four(src=ME, dst=to) / ICMP(type=253) / body(80) for to in (B, GATEWAY, "10.1.0.1") for _ in range(200)]


def _own_addresses(a):
    targets = (GATEWAY, "10.1.0.254", "10.2.0.254")
    return [a.four(dst=t) / what for t in targets for what in
            (ICMP(id=7) / bytes(40), TCP(sport=1, dport=179, flags="S"), TCP(sport=1, dport=9464, flags="S"), UDP(sport=1, dport=9) / bytes(40),
             b"\0" * 40)] + [a.six(dst=GATEWAY6) / ICMPv6EchoRequest() / bytes(40)]


def _sessions(a):
    """OSPF and BGP, to whom they are."""
    return [a.four(dst=t, proto=89, ttl=ttl) / bytes(60) for t in ("224.0.0.5", GATEWAY, "10.2.0.254") for ttl in (1, 64)] + [
        a.four(dst=GATEWAY) / TCP(sport=p, dport=179, flags="S") for p in range(1024, 1424)]


def _broken(a):
    ours, theirs = (bytes.fromhex(mac.replace(":", "")) for mac in (a.router, IN_MAC))
    return [bytes(f).replace(theirs, ours, 1) for _, f in REFUSED.values()]


ATTACKS = {
    "plain packets": _plain,
    "more than it bought": _beyond_its_contract,
    "IP options": _options,
    "router alert": _router_alert,
    "extension headers": _extension_headers,
    "fragments": _fragments,
    "TTL 1": _last_hop,
    "larger than the MTU": _too_large,
    "larger, to be fragmented": _to_be_cut,
    "unknown hosts": _unknown_hosts,
    "ARP": _arp,
    "neighbour discovery": _neighbor_discovery,
    "router advertisements": _advertisements,
    "DHCP": _dhcp,
    "multicast": _multicast,
    "spoofed sources": _spoofed,
    "foreign VLANs": _tags,
    "new flows": _new_flows,
    "held packets": _held,
    "held packets of new flows": _held_flows,
    "forged signals": _signals,
    "the router's own addresses": _own_addresses,
    "routing protocols": _sessions,
    "malformed": _broken,
}
