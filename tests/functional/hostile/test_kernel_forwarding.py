# SPDX-License-Identifier: BSD-3-Clause
"""The kernel beside the router forwards nothing of a customer, though its sysctl settings let it: what leaves towards the core has passed
the source check, the filter and the conditioner, or is the router's own, and has no DSCP but what the conditioner wrote."""
import errno
import random
import re
import socket
import time

import pytest
from scapy.layers.dhcp import BOOTP
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6ND_Redirect, ICMPv6ND_RS, ICMPv6Unknown, IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from harness import Router, Wire, wait_for
from vlan import TAGS, Access, gateways, tagged, vlan_yaml

RATE, BUCKET = 1_000_000, 20_000  # bit/s, bytes
FORWARDING = ("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0")
YAML = f"""filters:
  tcp-only: [{{permit: {{protocol: tcp}}}}]
services:
  small: {{conditioner: police, rate: {RATE // 1000} kbit/s, bucket: {BUCKET} B, mark: {{in: AF11}}}}
classify:
  - {{match: {{interface: acme}}, service: small, per: interface}}
"""
AF11 = 10
FOUR, SIX = gateways("acme")
OWN = {FOUR, SIX, "10.2.0.254", "2001:db8:2::fe", "10.1.0.254", "2001:db8:1::fe", "100.64.0.1", "2001:db8:200::1"}
CORE, CORE6, ME, ME6 = "10.2.0.1", "2001:db8:2::1", "10.107.0.1", "2001:db8:107::1"
PRIORITIES = [(0x8100, 0)] * 4  # more than the data plane takes; the kernel takes any number
DISCOVERY = [ICMPv6ND_RS(), ICMPv6ND_RA(), ICMPv6ND_NS(tgt=SIX), ICMPv6ND_NA(tgt=ME6), ICMPv6ND_Redirect(tgt=ME6, dst=CORE6)]


class Frames:
    """Of a customer who looks for a way around: a function of the seed."""

    def __init__(self, seed, source, router):
        self.random, self._source, self._router = random.Random(seed), source, router

    def make(self, count):
        return [tagged(self.random.choice([TAGS["acme"]] * 7 + [PRIORITIES]), self._one()) for _ in range(count)]

    def _one(self):
        group, packet = self.random.choice([self._four, self._six, self._discovery, self._six_of_link, self._group])()
        return Ether(src=self._source, dst=group or self._router) / packet

    def _payload(self):
        size = self.random.choice([0, 100, 1000])
        ports = {"sport": self.random.randrange(1, 65536), "dport": self.random.choice([22, 53, 179, 9999])}
        return self.random.choice([UDP(**ports), TCP(flags=self.random.choice("SAR"), **ports), ICMP(), ICMP(type=0)]) / Raw(bytes(size))

    def _four(self):
        r = self.random
        return None, IP(src=r.choice([ME, "10.107.0.9", "10.2.0.77", "192.0.2.9", "169.254.7.7"]), tos=r.randrange(256), ttl=r.choice([1, 64, 255]),
                        dst=r.choice([CORE, CORE, "169.254.8.8", FOUR, "10.2.0.254"])) / self._payload()

    def _header6(self, source, destination):
        return IPv6(src=source, dst=destination, tc=self.random.randrange(256), hlim=self.random.choice([1, 64, 255, 255]))

    def _six(self):
        r = self.random
        header = self._header6(r.choice([ME6, "2001:db8:2::77", "2001:db8:ffff::1"]), r.choice([CORE6, CORE6, SIX, "2001:db8:2::fe"]))
        return None, header / r.choice([self._payload(), ICMPv6EchoRequest(data=bytes(200))])

    def _discovery(self):
        r = self.random
        header = self._header6(r.choice([ME6, "fe80::1", "2001:db8:2::77"]), r.choice([CORE6, CORE6, "fe80::2", SIX, "ff02::1"]))
        header.hlim = 255
        what = r.choice([*DISCOVERY, ICMPv6Unknown(type=r.randrange(133, 138))])
        return ("33:33:00:00:00:01" if header.dst == "ff02::1" else None), header / what / Raw(bytes(r.choice([0, 1000])))

    def _six_of_link(self):
        r = self.random
        return None, self._header6(r.choice(["fe80::1", ME6]), r.choice(["fe80::2", "febf::2", CORE6, SIX])) / self._payload()

    def _group(self):
        r = self.random
        return "01:00:5e:01:01:01", IP(src=r.choice([ME, "169.254.7.7"]), dst=r.choice(["224.0.0.5", "239.1.1.1", "255.255.255.255", CORE, FOUR, "10.2.0.254"]),
                                       tos=r.randrange(256), ttl=64) / self._payload()


def refuses(namespace, address):
    """the customer's host answers that no service is there"""
    with namespace.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        return client.connect_ex((address, 9)) == errno.ECONNREFUSED


@pytest.fixture(scope="module", params=["af_xdp", pytest.param("af_packet", marks=pytest.mark.long("the twin is the same")),
                                        pytest.param("memif", marks=pytest.mark.long("the twin is the same"))])
def lab(request):
    with Access(request.param) as access:
        access.router.sysctl(*FORWARDING, "net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0")
        with Router(access.router, vlan_yaml(access.device, homes=None, globex=None, cake=None, acme="filter: {in: tcp-only}", more=YAML)) as router:
            access.router.sysctl(*FORWARDING)  # the twins' too
            access.running, access.acme = router, access.named("acme")
            for address in (ME, ME6):
                wait_for(lambda: refuses(access.up.namespace, address))
            yield access


def dscp(packet):
    return (packet[IP].tos if IP in packet else packet[IPv6].tc) >> 2


def is_protocol_of_links(packet, own):
    """IGMP, MLD, neighbor discovery: the kernel's own, with its DSCP; also to a host, from one of the router's addresses and not forwarded."""
    network = packet[IP] if IP in packet else packet[IPv6]
    answer = (ICMPv6ND_NA in packet or ICMPv6ND_NS in packet) and network.src in (*own, *OWN) and network.hlim == 255
    return ARP in packet or (IP in packet and network.proto == 2) or (IPv6 in packet and (network.dst.startswith("ff") or answer))


@pytest.mark.parametrize("count", [4_000, pytest.param(100_000, marks=pytest.mark.long("as the shorter one"))])
def test_nothing_of_a_customer_leaves_by_the_kernel(lab, count):
    frames = Frames(count, lab.acme.mac, lab.mac).make(4_000)
    lab.running.settle()
    left = []
    with lab.wire() as near, Wire(lab.up) as far:
        began = time.monotonic()
        for sent in range(0, count, 16):
            for frame in frames[sent % len(frames):][:16]:
                near.send(frame)
            time.sleep(0.002)
            left += far.drain()
            near.drain()
        took = time.monotonic() - began
        metrics = lab.running.settle()
        left += far.drain()
    own = re.findall(r"inet6 (fe80::\S+)/", lab.router.ip("-6", "address", "show", "dev", "up0").stdout)
    packets = [p for p in map(Ether, left) if (IP in p or IPv6 in p) and not is_protocol_of_links(p, own)]
    network = [p[IP] if IP in p else p[IPv6] for p in packets]
    strange = [p.summary() for p, n in zip(packets, network) if n.src not in OWN and TCP not in p]
    assert not strange, f"{len(strange)} of {len(packets)}: what the filter does not permit"
    marked = [f"{p.summary()} DSCP {dscp(p)}" for p, n in zip(packets, network) if dscp(p) != (0 if n.src in OWN else AF11)]
    assert not marked, f"{len(marked)} of {len(packets)}: a DSCP that no conditioner wrote"
    sizes = sum(len(bytes(n)) for n in network if n.src not in OWN)
    assert 0 < sizes <= RATE / 8 * took + BUCKET + 1500
    assert metrics.value("surety_drops_total", port="acc0", reason="link_local") > 0


def test_an_offer_for_the_routers_mac_address_is_not_forwarded_by_the_kernel(lab):
    """As a DHCP client the kernel gets it, whatever address it is for. An af_packet port sees what the kernel gets: there the router forwards
    it as any packet, once."""
    if lab.device.startswith("memif"):
        pytest.skip("a port without a device of the kernel's forwards it as any packet, through its conditioner")
    offer = Ether(src=lab.acme.mac, dst=lab.mac) / IP(src="10.1.0.9", dst=CORE) / UDP(sport=67, dport=68) / \
        BOOTP(op=2, chaddr=bytes.fromhex(lab.mac.replace(":", ""))) / Raw(b"offer")

    def taken():
        return lab.running.metrics().value("surety_kernel_frames_total", port="acc0", **{"class": "dhcp"}, result="passed")
    before = taken()
    with lab.wire() as near, Wire(lab.up) as far:
        for _ in range(20):
            near.send(bytes(offer))
        wait_for(lambda: taken() - before == 20)
        wait_for(lambda: refuses(lab.up.namespace, ME))
        lab.running.settle()
        assert len([p for p in far.drain() if b"offer" in p]) == (20 if lab.device == "af_packet" else 0)
