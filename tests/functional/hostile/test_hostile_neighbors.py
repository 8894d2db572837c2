# SPDX-License-Identifier: BSD-3-Clause
"""A neighbour's table is nobody's to fill, and nobody's to write: scans cost others no packet, and who says that he has another
station's address gets none of its packets. The kernel's garbage collector has its defaults."""
import collections
import contextlib
import socket
import threading
import time

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, IPv6
from scapy.layers.l2 import ARP, Ether

from pings import checksum
from harness import Lab, Namespace, Router, UdpSink, UdpSource, Wire, connect, udp_to, wait_for

DEVICES = ["af_xdp", "af_packet"]
FAR = {4: "198.51.100.1", 6: "2001:db8:f::1"}
ROUTER = {4: "10.2.0.254", 6: "2001:db8:2::fe"}
FORGER = "02:00:00:00:00:66"
EVERYBODY = "ff:ff:ff:ff:ff:ff"
STALE = 6  # s: the kernel's collector takes what has not changed for five
PORT = 4000


class Three(Lab):
    """Hosts a and c behind customer ports, b behind the port that scans aim at; it is a gateway as well."""

    def __init__(self):
        super().__init__()
        self.a = self.host("a", "lan0", ["10.1.0.1/24", "2001:db8:1::1/64"], ["10.1.0.254", "2001:db8:1::fe"])
        self.c = self.host("c", "lan1", ["10.3.0.1/24", "2001:db8:3::1/64"], ["10.3.0.254", "2001:db8:3::fe"])
        self.b = self.host("b", "wan0", ["10.2.0.1/16", "2001:db8:2::1/64"], ["10.2.0.254", "2001:db8:2::fe"])

    def yaml(self, device):
        return f"""ports:
  lan0: {{device: {device} lan0, addresses: [10.1.0.254/24, "2001:db8:1::fe/64"]}}
  lan1: {{device: {device} lan1, addresses: [10.3.0.254/24, "2001:db8:3::fe/64"]}}
  wan0: {{device: {device} wan0, addresses: [10.2.0.254/16, "2001:db8:2::fe/64"], trust: core}}
routes:
  - {{to: 198.51.100.0/24, via: 10.2.0.1}}
  - {{to: "2001:db8:f::/48", via: "2001:db8:2::1"}}
"""

    def meet(self):
        for host in (self.a, self.c):
            for family in (4, 6):
                wait_for(lambda: host.reaches(self.b.address(family)))


@pytest.fixture(scope="module", params=DEVICES)
def lab(request):
    with Three() as made, Router(made.router, made.yaml(request.param)) as made.running:
        made.meet()
        yield made


class Scan:
    """Packets to one address after the other that nobody has, at a rate, until the end of the block."""

    def __init__(self, send, rate=3000):
        self.sent, self.rate = 0, rate
        self._send, self._stop, self._thread = send, threading.Event(), threading.Thread(target=self._run)

    def _run(self):
        began = time.monotonic()
        while not self._stop.is_set():
            while self.sent < (time.monotonic() - began) * self.rate:
                self._send(self.sent)
                self.sent += 1
            time.sleep(0.001)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def nobody(family, i):
    """Of the subnet of wan0."""
    return f"10.2.{128 + i // 250 % 100}.{1 + i % 250}" if family == 4 else f"2001:db8:2::bad:{i >> 16:x}:{i & 0xffff:x}"


@contextlib.contextmanager
def scan_of(lab, family):
    """By host c, through the router."""
    inner = (IP(src="10.3.0.1", dst="10.2.0.9") if family == 4 else IPv6(src="2001:db8:3::1", dst="2001:db8:2::9")) / \
        UDP(sport=9, dport=9) / b"x"
    frame = bytearray(bytes(Ether(src=lab.c.mac, dst=lab.router.mac("lan1")) / inner))
    at, version = (30, socket.AF_INET) if family == 4 else (38, socket.AF_INET6)
    with Wire(lab.c) as wire:
        def send(i):
            to = socket.inet_pton(version, nobody(family, i))
            frame[at:at + len(to)] = to
            if family == 4:
                frame[24:26] = bytes(2)
                frame[24:26] = checksum(frame[14:34])
            wire.send(frame)
        with Scan(send) as scan:
            yield scan


@contextlib.contextmanager
def scan_elsewhere():
    """Another namespace of this machine, whose entries are counted with everybody's: its own table is full within a second."""
    one, other = Namespace("x"), Namespace("y")
    try:
        connect(one, "x0", other, "y0")
        one.add_address("x0", "10.9.0.1/16")
        one.add_address("x0", "2001:db8:9::1/64")
        with one.socket(socket.AF_INET, socket.SOCK_DGRAM) as four, one.socket(socket.AF_INET6, socket.SOCK_DGRAM) as six:
            four.setblocking(False)
            six.setblocking(False)

            def send(i):
                with contextlib.suppress(OSError):
                    four.sendto(b"x", (f"10.9.{i // 250 % 250}.{1 + i % 250}", 9))
                with contextlib.suppress(OSError):
                    six.sendto(b"x", (f"2001:db8:9::{i >> 16:x}:{i & 0xffff:x}:1", 9))
            with Scan(send):
                yield
    finally:
        one.remove()
        other.remove()


def test_scans_cost_busy_flows_nothing(lab):
    """A flow of each family, while both are scanned."""
    lab.meet()
    time.sleep(STALE)  # all entries are as old as the collector wants them
    before = lab.running.settle()
    count, rate, sent = 2000, 500, []
    with contextlib.ExitStack() as stack:
        addresses = [lab.b.address(family) for family in (4, 6)]
        sinks = [stack.enter_context(UdpSink(lab.b, address, PORT)) for address in addresses]
        sources = [stack.enter_context(UdpSource(lab.a, address, PORT)) for address in addresses]
        with scan_elsewhere(), scan_of(lab, 4) as four, scan_of(lab, 6) as six:
            while len(sent) < count or min(four.sent, six.sent) < 10_000:
                sent.append(len(sent).to_bytes(4, "big"))
                for source in sources:
                    source.send(sent[-1])
                if len(sent) % 10 == 0:
                    time.sleep(10 / rate)
        for sink in sinks:
            wait_for(lambda: sink.drain() >= len(sent))
            assert sink.payloads == sent
    after = lab.running.settle()
    asked = ("arp", "neighbor_discovery")  # by host a, now and then
    for what in ("punts", "drops"):
        of_flow = [{k: n for k, n in getattr(m, what)("lan0").items() if k not in asked} for m in (before, after)]
        assert of_flow[0] == of_flow[1]


@pytest.mark.parametrize("family", [4, 6])
def test_new_hosts_become_reachable_while_others_are_scanned(lab, family):
    fresh = [f"10.2.77.{i}/32" if family == 4 else f"2001:db8:2::77:{i}/128" for i in range(1, 7)]
    for address in fresh:
        lab.b.namespace.add_address("eth0", address)
    with scan_of(lab, family) as scan:
        wait_for(lambda: scan.sent > 4000)  # more than the kernel keeps
        for i, address in enumerate(fresh):
            asking = (lab.a, lab.c)[i % 2]  # others, and who scans
            done = asking.namespace.run("ping", "-n", "-c", "1", "-i", "0.2", "-w", "5", address.split("/")[0], check=False)
            assert done.returncode == 0, f"{address} within 5 s"
    for address in fresh:
        lab.b.namespace.ip("address", "del", address, "dev", "eth0")
    lab.running.settle()


def forged(lab, family):
    """All ways to say that the forger has b's address."""
    b, router, mac = lab.b.address(family), ROUTER[family], lab.router.mac("wan0")
    if family == 4:
        for to, operation, target in ((EVERYBODY, 1, b), (EVERYBODY, 2, b), (EVERYBODY, 1, router), (mac, 2, router)):
            yield Ether(src=FORGER, dst=to) / ARP(op=operation, hwsrc=FORGER, psrc=b, hwdst=to, pdst=target)
        return
    for to, mac_to, solicited in (("ff02::1", "33:33:00:00:00:01", 0), (router, mac, 0), (router, mac, 1)):
        yield (Ether(src=FORGER, dst=mac_to) / IPv6(src=b, dst=to, hlim=255) /
               ICMPv6ND_NA(tgt=b, R=1, S=solicited, O=1) / ICMPv6NDOptDstLLAddr(lladdr=FORGER))
    yield (Ether(src=FORGER, dst=mac) / IPv6(src=b, dst=router, hlim=255) / ICMPv6ND_NS(tgt=router) /
           ICMPv6NDOptSrcLLAddr(lladdr=FORGER))


def test_a_forged_claim_does_not_take_a_known_gateway(lab):
    claims = [bytes(frame) for family in (4, 6) for frame in forged(lab, family)]
    count = 600
    with Wire(lab.b) as wire, UdpSource(lab.a, FAR[4], PORT) as four, UdpSource(lab.a, FAR[6], PORT) as six:
        for source in (four, six):
            source.send(b"first")
            assert wire.find(udp_to(PORT)).dst == lab.b.mac
        for i in range(count):  # for six seconds: twice as long as it takes to find a station dead
            for claim in claims:
                wire.send(claim)
            for source in (four, six):
                source.send(b"x")
            time.sleep(0.01)
        got = collections.Counter()
        while got.total() < 2 * count:
            frame = wire.read(10)
            assert frame is not None, got
            for family, at in ((4, 36), (6, 56)):
                if frame[at:at + 2] == PORT.to_bytes(2, "big"):
                    got[frame[:6].hex(":"), family] += 1
    assert got == {(lab.b.mac, 4): count, (lab.b.mac, 6): count}
    m = lab.running.settle()
    assert m.value("surety_responder_frames_total", port="wan0", result="contested") > 0


@pytest.mark.parametrize("family", [4, 6])
def test_the_kernels_own_packets_are_not_taken_either(lab, family):
    """A session with the gateway, while the forger goes on. The kernel believes the first claim; that one is put right, and no
    other is believed."""
    claims = [bytes(frame) for frame in forged(lab, family)]
    count = 150
    kind = {4: socket.AF_INET, 6: socket.AF_INET6}[family]
    with Wire(lab.b) as wire, lab.router.socket(kind, socket.SOCK_DGRAM) as own:
        def is_pinned():
            """the kernel has believed a claim, which takes up to a second, and the router has put it right"""
            for claim in claims:
                wire.send(claim)
            return lab.b.mac in lab.router.ip("neigh", "show", lab.b.address(family), "dev", "wan0", "nud", "permanent").stdout
        wait_for(is_pinned)
        wire.drain()
        got = collections.Counter()
        for _ in range(count):
            for claim in claims:
                wire.send(claim)
            own.sendto(b"x", (lab.b.address(family), PORT))
            got[wire.find(udp_to(PORT)).dst] += 1
    assert got == {lab.b.mac: count}


@pytest.mark.parametrize("family", [4, 6])
def test_a_host_that_has_moved_is_found(lab, family):
    moved = "02:00:00:00:00:bb"
    with Wire(lab.b) as wire, UdpSource(lab.a, FAR[family], PORT) as source:
        def arrives():
            source.send(b"x")
            packet = wire.find(udp_to(PORT), 0.05)
            return packet and packet.dst
        for mac in (moved, lab.b.mac):
            lab.b.namespace.ip("link", "set", "eth0", "address", mac)
            # It speaks with the router, as a host does.
            lab.b.namespace.ip("neigh", "flush", "dev", "eth0")
            lab.b.namespace.run("ping", "-n", "-c", "1", "-w", "1", "-I", lab.b.address(family), ROUTER[family], check=False)
            began = time.monotonic()
            wait_for(lambda: arrives() == mac, 10)
            assert time.monotonic() - began < 6
    lab.running.settle()
