# SPDX-License-Identifier: BSD-3-Clause
"""The attacks of the table "Beside an attacker": frames by the name of the attack, against the scene of scene.py."""
import random
import socket
import struct
from dataclasses import dataclass
from typing import Callable

from scapy.layers.dhcp import BOOTP, DHCP
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_LSRR, IPOption_Router_Alert, IPOption_RR
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6NDOptDstLLAddr, ICMPv6NDOptPrefixInfo,
                                ICMPv6NDOptSrcLLAddr, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, RouterAlert)
from scapy.layers.l2 import ARP, Dot1Q, Ether

from pings import checksum
from malformed import IN_MAC, REFUSED

FLOWS = 40_000
EVERYBODY = "ff:ff:ff:ff:ff:ff"
B, B6, VICTIM = "10.2.0.1", "2001:db8:2::1", "10.1.0.1"
EF, CS6 = 46 << 2, 48 << 2
NEIGHBOR_RATE = 50_000


@dataclass(frozen=True)
class Attack:
    make: Callable  # of an Attacker: frames as the sender's port has them, or without tags
    by: str = "m"  # the sender: m behind lan1, or n, the victim's neighbour behind lan0
    tagged: bool = False  # `make` writes the VLAN tags itself
    burst: int = 64  # frames back to back
    rate: float | None = None  # frames a second, at most
    lead: float = 0  # seconds that it needs before it does harm

    def pace(self, rate):
        """A neighbour sends less: frames that the device of a shared port drops are beyond any contract."""
        return min(rate, self.rate or rate, NEIGHBOR_RATE if self.by == "n" else rate)


class Attacker:
    """`frames(attack)` returns at least one."""

    def __init__(self, scene, by):
        self.origin = scene.origins[by]
        self.mac, self.router = self.origin.mac, self.origin.router
        self.me, self.me6 = self.origin.address(1), self.origin.address6(1)
        self.gateway, self.gateway6 = self.origin.address(254), self.origin.address6("fe")
        self.random = random.Random(1)

    def frames(self, attack):
        tags = () if attack.tagged else self.origin.tags
        return [tagged(bytes(f).ljust(60, b"\0"), *tags) for f in attack.make(self)]

    def ether(self, to=None):
        return Ether(src=self.mac, dst=to or self.router)

    def four(self, **more):
        return self.ether() / IP(**{"src": self.me, "dst": B, "tos": EF, **more})

    def six(self, **more):
        return self.ether() / IPv6(**{"src": self.me6, "dst": B6, "tc": EF, **more})

    def many(self, frame, count, at, values, checksummed=True):
        """Copies with other bytes at a place, and the header's checksum right."""
        copy = bytearray(bytes(frame))
        for value in values(count):
            copy[at:at + len(value)] = value
            if checksummed and 14 <= at < 34:
                copy[24:26] = bytes(2)
                copy[24:26] = checksum(copy[14:34])
            yield bytes(copy)


def tagged(frame, *vlans):
    """The frame behind these 802.1Q tags, outer first."""
    return frame[:12] + b"".join(struct.pack(">HH", 0x8100, vlan) for vlan in vlans) + frame[12:]


def ports_from(first):
    """Of source ports, with destination addresses of a /24 beside them, there are as many flows as one likes."""
    return lambda count: (struct.pack(">H", first + i % 60_000) for i in range(count))


def addresses_from(text, family=socket.AF_INET):
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
    return [*a.many(a.four() / DATA, FLOWS // 2, DIP, addresses_from("10.2.128.1")),
            *a.many(a.six() / DATA, FLOWS // 2, DIP6, addresses_from("2001:db8:2::bad:0", socket.AF_INET6), checksummed=False)]


def _arp(a):
    def ask(mac, mine, target):
        return Ether(src=mac, dst=EVERYBODY) / ARP(op=1, hwsrc=mac, psrc=mine, pdst=target)
    return [ask(f"02:00:00:{i >> 16:02x}:{i >> 8 & 255:02x}:{i & 255:02x}", a.origin.address(2 + i % 250), a.gateway) for i in range(2000)] + [
        Ether(src=a.mac, dst=EVERYBODY) / ARP(op=op, hwsrc=a.mac, psrc=of, pdst=a.gateway) for op in (1, 2) for of in (a.gateway, B, a.me)]


def _neighbor_discovery(a):
    return [a.ether() / IPv6(src=a.origin.address6(f"{i:x}"), dst=a.gateway6, hlim=255) / ICMPv6ND_NS(tgt=a.gateway6) /
            ICMPv6NDOptSrcLLAddr(lladdr=a.mac) for i in range(2, 1000)] + [
        a.ether() / IPv6(src=a.origin.address6(f"{i:x}"), dst=a.gateway6, hlim=255) / ICMPv6ND_NA(tgt=a.origin.address6(f"{i:x}"), O=1, S=1) /
        ICMPv6NDOptDstLLAddr(lladdr=a.mac) for i in range(2, 1000)]


def _advertisements(a):
    return [a.ether("33:33:00:00:00:01") / IPv6(src="fe80::bad", dst="ff02::1", hlim=255) / ICMPv6ND_RA(routerlifetime=1800) /
            ICMPv6NDOptSrcLLAddr(lladdr=a.mac) / ICMPv6NDOptPrefixInfo(prefixlen=64, prefix=f"2001:db8:{i:x}::") for i in range(1000)]


def _dhcp(a):
    return [a.ether(EVERYBODY) / IP(src="0.0.0.0", dst="255.255.255.255") / UDP(sport=68, dport=67) /
            BOOTP(xid=i) / DHCP(options=[("message-type", "discover"), "end"]) for i in range(500)]


def _multicast(a):
    return [a.ether(f"01:00:5e:00:00:{i & 127:02x}") / IP(src=a.me, dst=f"224.0.0.{i & 127}", ttl=1, proto=(89, 103, 2, 17)[i % 4]) / bytes(40)
            for i in range(1, 120)]


def _spoofed(a):
    return [*a.many(a.four(src=VICTIM) / UDP(sport=1000, dport=5004) / bytes(40), FLOWS // 2, SPORT, ports_from(1024)),
            *a.many(a.four() / DATA, FLOWS // 2, SIP, addresses_from("10.9.0.1"))]


def _tags(a):
    return [Ether(src=a.mac, dst=a.router) / Dot1Q(vlan=v) / IP(src=a.me, dst=B, tos=EF) / DATA for v in range(1, 4095, 4)]


def _flows_to(a, port):
    frame = a.four() / UDP(sport=1, dport=port, chksum=0) / bytes(100)
    return list(a.many(frame, FLOWS, SPORT, ports_from(1024)))


def _new_flows(a):
    return _flows_to(a, 5010)


def _held(a):
    """Each of 500 flows that are held sends 400 packets a second: more than a hundred times what it bought."""
    frame = a.four() / UDP(sport=1, dport=6000, chksum=0) / bytes(400)
    return list(a.many(frame, 500, SPORT, ports_from(1024)))


def _held_flows(a):
    return _flows_to(a, 6000)


def _signals(a):
    """Few to the victim: whoever fills his line with best effort takes that from him, whatever it is (SECURITY.md)."""
    body = a.random.randbytes
    return [a.four(dst=to) / ICMP(type=253) / body(80) for to, count in ((B, 200), (a.gateway, 200), (VICTIM, 10)) for _ in range(count)]


def _own_addresses(a):
    targets = (a.gateway, "10.1.0.254", "10.2.0.254")
    return [a.four(dst=t) / what for t in targets for what in
            (ICMP(id=7) / bytes(40), TCP(sport=1, dport=179, flags="S"), TCP(sport=1, dport=9464, flags="S"), UDP(sport=1, dport=9) / bytes(40),
             b"\0" * 40)] + [a.six(dst=a.gateway6) / ICMPv6EchoRequest() / bytes(40)]


def _sessions(a):
    """OSPF and BGP, to whom they are."""
    return [a.four(dst=t, proto=89, ttl=ttl) / bytes(60) for t in ("224.0.0.5", a.gateway, "10.2.0.254") for ttl in (1, 64)] + [
        a.four(dst=a.gateway) / TCP(sport=p, dport=179, flags="S") for p in range(1024, 1424)]


def _broken(a):
    ours, theirs = (bytes.fromhex(mac.replace(":", "")) for mac in (a.router, IN_MAC))
    return [bytes(f).replace(theirs, ours, 1) for _, f in REFUSED.values()]


USUAL = {
    "plain packets": Attack(_plain),
    "beyond its contract": Attack(_beyond_its_contract),
    "IP options": Attack(_options),
    "router alert": Attack(_router_alert),
    "extension headers": Attack(_extension_headers),
    "fragments": Attack(_fragments),
    "TTL 1": Attack(_last_hop),
    "larger than the MTU": Attack(_too_large),
    "larger, to be fragmented": Attack(_to_be_cut),
    "unknown hosts": Attack(_unknown_hosts),
    "ARP": Attack(_arp),
    "neighbour discovery": Attack(_neighbor_discovery),
    "router advertisements": Attack(_advertisements),
    "DHCP": Attack(_dhcp),
    "multicast": Attack(_multicast),
    "spoofed sources": Attack(_spoofed),
    "foreign VLANs": Attack(_tags, tagged=True),
    "new flows": Attack(_new_flows),
    "held packets": Attack(_held),
    "held packets of new flows": Attack(_held_flows),
    "forged signals": Attack(_signals),
    "the router's own addresses": Attack(_own_addresses),
    "routing protocols": Attack(_sessions),
    "malformed": Attack(_broken),
}
