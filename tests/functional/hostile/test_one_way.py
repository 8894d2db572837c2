# SPDX-License-Identifier: BSD-3-Clause
"""There is no way around (CONTRIBUTING.md rule 13), the kernel's own packets included: whatever comes in, what leaves by a port in a
time is at most what its shaper lets out in it. And the kernel beside the router goes on working, with the router and without."""
import hashlib
import random
import socket
import threading
import time

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP, IPOption_RR, IPOption_Router_Alert
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6MLReport2, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6ND_RS, IPv6,
                                IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, RouterAlert)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from harness import Router, Wire, wait_for
from pair import Pair, ports
from router import SETTLE

SHAPE, BURST = 1_000_000, 3000  # bit/s; bytes: config/reference.md
ENOUGH = 190_000  # bytes: 1.5 s of the shaper's when it is never idle
SHAPED = "shape: 1 Mbit/s, queues: line"
SERVICES = """services:
  best-effort: {conditioner: none, mark: {in: BE}}
classify:
  - {match: {port: lan0}, service: best-effort}
queues:
  line:
    - {name: all, dscp: {in: [BE, EF, CS6]}, limit: 100 packets}
"""
OURS = ["10.1.0.254", "10.2.0.254", "2001:db8:1::fe", "2001:db8:2::fe"]


class Frames:
    """Frames of every kind that a station on lan0 may think of: a function of the seed."""

    def __init__(self, seed, source, router):
        self.random, self.source, self.router = random.Random(seed), source, router

    def make(self, count):
        frames = [bytes(self._one()) for _ in range(count)]
        return [f for f in frames if len(f) <= 1514]

    def _one(self):
        kind = self.random.choice([self._four, self._six, self._four_to_us, self._six_to_us, self._arp, self._neighbours, self._six_of_link,
                                   self._multicast])
        to, payload = kind()
        tags = self.random.choice([0, 0, 0, 0, 1, 2])
        frame = Ether(src=self.source, dst=to or self.router)
        for _ in range(tags):
            frame /= Dot1Q(vlan=self.random.randrange(1, 4095))
        return frame / payload

    def _payload(self):
        size = self.random.choice([0, 8, 100, 1000, 1400, 1450])
        return self.random.choice([UDP(sport=self.random.randrange(1, 65536), dport=self.random.randrange(1, 65536)) / Raw(bytes(size)),
                                   TCP(dport=self.random.choice([22, 179, 9469, 80]), flags=self.random.choice("SAR")) / Raw(bytes(size)),
                                   ICMP() / Raw(bytes(size))])

    def _header_four(self, **more):
        r = self.random
        options = r.choice([[], [], [IPOption_Router_Alert()], [IPOption_NOP()] * 4, [IPOption_RR(length=7, routers=["0.0.0.0"])]])
        return IP(src=r.choice(["10.1.0.1", f"10.1.0.{r.randrange(2, 250)}", f"192.0.2.{r.randrange(256)}"]), tos=r.randrange(256),
                  ttl=r.choice([0, 1, 2, 64, 255]), flags=r.choice(["", "DF", "MF"]), frag=r.choice([0, 0, 0, 185]), options=options, **more)

    def _header_six(self, **more):
        r = self.random
        ip = IPv6(src=r.choice(["2001:db8:1::1", f"2001:db8:1::{r.randrange(2, 250):x}", "2001:db8:f::1"]), tc=r.randrange(256),
                  hlim=r.choice([0, 1, 2, 64, 255]), **more)
        extension = r.choice([None, None, IPv6ExtHdrDestOpt(), IPv6ExtHdrHopByHop(options=[RouterAlert(value=1)]),
                              IPv6ExtHdrFragment(offset=r.choice([0, 4]), m=r.choice([0, 1]), id=r.randrange(1 << 32))])
        return ip / extension if extension else ip

    def _four(self):
        return None, self._header_four(dst=self.random.choice(["10.2.0.1", f"10.2.0.{self.random.randrange(2, 250)}"])) / self._payload()

    def _six(self):
        return None, self._header_six(dst=self.random.choice(["2001:db8:2::1", f"2001:db8:2::{self.random.randrange(2, 250):x}"])) / self._payload()

    def _four_to_us(self):  # the kernel answers many of them
        return None, IP(src="10.1.0.1", dst=self.random.choice(OURS[:2]), tos=self.random.randrange(256)) / self._payload()

    def _six_to_us(self):
        echo = ICMPv6EchoRequest(data=bytes(self.random.choice([8, 1000, 1400])))
        return None, IPv6(src="2001:db8:1::1", dst=self.random.choice(OURS[2:]), tc=self.random.randrange(256)) / self.random.choice(
            [echo, self._payload()])

    def _arp(self):
        return "ff:ff:ff:ff:ff:ff", ARP(op=self.random.choice([1, 1, 2]), hwsrc=self.source, psrc=f"10.1.0.{self.random.randrange(1, 250)}",
                                        pdst=self.random.choice(["10.1.0.254", f"10.1.0.{self.random.randrange(1, 250)}"]))

    def _neighbours(self):
        what = self.random.choice([ICMPv6ND_NS(tgt="2001:db8:1::fe"), ICMPv6ND_NA(tgt="2001:db8:1::1"), ICMPv6ND_RS(), ICMPv6ND_RA()])
        return self.random.choice([None, "33:33:00:00:00:01"]), IPv6(
            src="2001:db8:1::1", dst=self.random.choice(["2001:db8:1::fe", "2001:db8:2::1", "ff02::1"]), hlim=255) / what

    def _six_of_link(self):
        return None, IPv6(src="fe80::1", dst=self.random.choice(["fe80::2", "2001:db8:2::1"]), hlim=255) / self._payload()

    def _multicast(self):
        return "01:00:5e:00:00:05", self.random.choice([IP(src="10.1.0.1", dst="224.0.0.5", ttl=1, proto=89) / Raw(bytes(44)),
                                                        IP(src="10.1.0.1", dst="239.1.1.1") / self._payload(),
                                                        IP(src="10.1.0.1", dst="255.255.255.255") / self._payload(),
                                                        IPv6(src="fe80::1", dst="ff02::16") / IPv6ExtHdrHopByHop(
                                                            options=[RouterAlert(value=0)]) / ICMPv6MLReport2()])


def shaped(frames):
    """Bytes as the shaper counts them."""
    return sum(len(f) - 14 for f in frames)


@pytest.fixture(scope="module", params=["af_xdp", "af_packet"])
def lab(request):
    with Pair() as pair:
        pair.device = request.param
        pair.router.sysctl("net.ipv4.icmp_ratelimit=0", "net.ipv6.icmp.ratelimit=0")
        with Router(pair.router, ports(pair.device, lan=SHAPED, wan=SHAPED + ", mtu: 1400") + SERVICES) as router:
            pair.running = router
            pair.meet()
            yield pair


@pytest.mark.parametrize("seed", range(3))
def test_no_more_leaves_than_the_shaper_lets_out(lab, seed):
    frames = Frames(seed, lab.a.mac, lab.router.mac("lan0")).make(1000)
    lab.running.settle()
    with Wire(lab.a) as near, Wire(lab.b) as far:
        began, sent, left = time.monotonic(), 0, {"lan0": 0, "wan0": 0}
        while sent <= 10_000 or min(left.values()) < ENOUGH:
            for frame in frames[sent % len(frames):][:32]:
                near.send(frame)
            sent += 32
            time.sleep(0.001)  # a veth pair's ring has 256 places
            for port, wire in (("lan0", near), ("wan0", far)):
                left[port] += shaped(wire.drain())
            took = time.monotonic() - began
            assert took < SETTLE, left
    m = lab.running.settle()
    for port, size in left.items():
        assert size <= SHAPE / 8 * took + BURST + 1500, f"{port}: {size} bytes in {took:.2f} s"
    assert m.value("surety_exception_frames_total", port="lan0", result="from_kernel") > 0


@pytest.mark.parametrize("address", OURS[::2])
def test_answers_of_the_kernel_are_no_exception(lab, address):
    """A flood of pings, each to be answered: 4 Mbit/s of answers at least."""
    lab.running.settle()
    ip = IP(src="10.1.0.1", dst=address, tos=46 << 2) / ICMP() if "." in address else IPv6(src="2001:db8:1::1", dst=address) / ICMPv6EchoRequest()
    ping = bytes(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) / ip / Raw(bytes(1000)))
    with Wire(lab.a) as near:
        began = time.monotonic()
        for _ in range(1500):
            near.send(ping)
            time.sleep(0.001)
        answers = shaped(near.drain())
        assert answers <= SHAPE / 8 * (time.monotonic() - began) + BURST + 1500
    lab.running.settle()


@pytest.mark.parametrize("family", [4, 6])
def test_the_kernels_tcp_goes_that_way_whole(lab, family):
    """A host's kernel leaves segments and checksums to its NIC, if it may."""
    lab.router.run("ethtool", "-K", "wan0", "tx", "on", "sg", "on", "tso", "on", "gso", "on")
    data = random.Random(1).randbytes(400_000)
    kind = socket.AF_INET if family == 4 else socket.AF_INET6
    with lab.router.socket(kind, socket.SOCK_STREAM) as server, lab.b.namespace.socket(kind, socket.SOCK_STREAM) as client, Wire(lab.b) as far:
        server.bind(("10.2.0.254" if family == 4 else "2001:db8:2::fe", 0))
        server.listen(1)
        client.settimeout(120)
        began = time.monotonic()
        client.connect(server.getsockname()[:2])
        connection, _ = server.accept()
        sender = threading.Thread(target=lambda: (connection.sendall(data), connection.close()))
        sender.start()
        came = bytearray()
        while chunk := client.recv(65536):
            came += chunk
        sender.join()
        frames = far.drain()
        took = time.monotonic() - began
    lab.router.run("ethtool", "-K", "wan0", "tx", "off", "sg", "off", "tso", "off", "gso", "off")
    assert hashlib.sha256(came).digest() == hashlib.sha256(data).digest()
    assert max(map(len, frames)) <= 1514
    assert shaped(frames) <= SHAPE / 8 * took + BURST + 1500
    lab.running.settle()


def filters(namespace, direction="egress"):
    return namespace.run("tc", "filter", "show", "dev", "wan0", direction).stdout.count("direct-action")


def pings(namespace, address, within):
    return namespace.run("ping", "-n", "-c", "1", "-i", "0.1", "-w", within, address, check=False).returncode == 0


@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
def test_without_the_router_the_host_is_reached(device):
    """Who administers it comes by the same wire. What the router has given goes with it, the host's own address stays."""
    with Pair() as pair:
        pair.router.add_address("wan0", "10.2.0.254/24")
        router = Router(pair.router, ports(device)).__enter__()
        try:
            assert pings(pair.router, "10.2.0.1", 20)
            router.process.kill()
            router.process.wait(120)
            for address in ("10.2.0.1", "2001:db8:2::1"):
                assert pings(pair.router, address, 2)
            pair.b.namespace.run("ping", "-n", "-c", "1", "-w", "2", "10.2.0.254")
        finally:
            router.__exit__(AssertionError, None, None)
        with Router(pair.router, ports(device)) as again:
            assert filters(pair.router) == 1, "in place of what the killed one left"
            assert pings(pair.router, "10.2.0.1", 20)
            sent = "surety_exception_frames_total"
            again.until(lambda m: m.value(sent, port="wan0", result="from_kernel") > 0)
        assert filters(pair.router) == 0
        assert "surety-out" not in pair.router.ip("link").stdout
        assert pings(pair.router, "10.2.0.1", 2)


@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
def test_a_device_that_somebody_removes_is_made_anew(device):
    with Pair() as pair, Router(pair.router, ports(device)) as router:
        assert pings(pair.router, "10.2.0.1", 20)
        names = [w.rstrip(":") for w in pair.router.ip("-o", "link").stdout.split() if w.startswith("surety-out")]
        assert len(names) == 2
        for name in names:
            pair.router.ip("link", "del", name)
        wait_for(lambda: pair.router.ip("-o", "link").stdout.count("surety-out") == 2)
        before = router.metrics().value("surety_exception_frames_total", port="wan0", result="from_kernel")
        assert pings(pair.router, "10.2.0.1", 20)
        router.until(lambda m: m.value("surety_exception_frames_total", port="wan0", result="from_kernel") > before)
