# SPDX-License-Identifier: BSD-3-Clause
"""A customer who behaves, beside one who does not: 8 Mbit/s of TCP, a call begun every 0.3 s, pings through the router and to it; and
an OSPF session of the router with its neighbour in the core. What each of them lost."""
import contextlib
import json
import re
import socket
import struct
import subprocess
import threading
import time
from dataclasses import dataclass

import attacks
import flood
from frames import SO_RCVBUFFORCE
from frr import Frr, ospf
from harness import Lab, Router, wait_for

RATE = 1_000_000  # bytes/s
CALL_EVERY, CALL_PACKETS, CALL_GAP = 0.3, 20, 0.02
PING_GAP = 0.05
MARGIN = 2  # s: an attack begins before what is measured, and ends after it
EF = 46 << 2
# The core's link carries what is sold, and 16 Mbit/s of best effort: flows without number, which are metered or held one by one,
# buy nothing.
YAML = """
ports:
  lan0: {{device: {device} lan0, addresses: [10.1.0.254/24, "2001:db8:1::fe/64"], mtu: 1500}}
  lan1: {{device: {device} lan1, addresses: [10.3.0.254/24, "2001:db8:3::fe/64"], mtu: 1500}}
  wan0: {{device: {device} wan0, addresses: [10.2.0.254/16, "2001:db8:2::fe/64"], trust: core, shape: 40 Mbit/s, queues: uplink, mtu: 1400}}
queues:
  uplink:
    - {{name: control, dscp: [CS6, CS7], priority: strict, limit: 64 packets}}
    - {{name: voice, dscp: [EF], priority: strict, rate: 4 Mbit/s, limit: 64 packets}}
    - {{name: assured, weight: 3, dscp: {{in: [AF11], out: [AF12]}}, limit: 300 packets,
       rio: {{average: 0.002, in: {{min: 150, max: 300, pmax: 0.02}}, out: {{min: 50, max: 150, pmax: 0.2}}}}}}
    - {{name: rest, weight: 1, dscp: [BE], limit: 200 packets}}
services:
  call: {{conditioner: police, rate: 128 kbit/s, bucket: 4 kB, mark: {{in: EF}}}}
  bought: {{conditioner: token-bucket, rate: 10 Mbit/s, bucket: 60 kB, mark: {{in: AF11, out: AF12}}}}
  held: {{conditioner: csa, rate: 64 kbit/s, in_bucket: 4 packets, out_bucket: 1 packets, buffer: 100 packets,
         alpha: {{min: 0.04, max: 0.4, step: 0.02, t1: 30 ms, t2: 90 ms}}, mark: {{in: BE, out: BE}}}}
  metered: {{conditioner: token-bucket, rate: 64 kbit/s, bucket: 4 kB, mark: {{in: BE, out: BE}}}}
  best-effort: {{conditioner: none, mark: {{in: BE}}}}
classify:
  - {{match: {{port: lan0, protocol: udp, destination_port: 5004}}, service: call, per: flow}}
  - {{match: {{port: lan0}}, service: bought, per: source}}
  - {{match: {{port: lan1, protocol: udp, destination_port: 5004}}, service: metered, per: flow}}
  - {{match: {{port: lan1, protocol: udp, destination_port: 5006}}, service: bought, per: source}}
  - {{match: {{port: lan1, protocol: udp, destination_port: 6000}}, service: held, per: flow}}
  - {{match: {{}}, service: best-effort}}
"""
IN_CORE = {"wan0": "10.2.0.0/16"}


class Scene(Lab):
    """The customers a and m, and b in the core."""

    def __init__(self):
        super().__init__()
        self.a = self.host("a", "lan0", ["10.1.0.1/24", "2001:db8:1::1/64"], ["10.1.0.254", "2001:db8:1::fe"])
        self.m = self.host("m", "lan1", ["10.3.0.1/24", "2001:db8:3::1/64"], ["10.3.0.254", "2001:db8:3::fe"])
        self.b = self.host("b", "wan0", ["10.2.0.1/16", "2001:db8:2::1/64"], ["10.2.0.254", "2001:db8:2::fe"])
        self.b.namespace.ip("link", "set", "eth0", "mtu", "1400")  # as wan0's: OSPF asks


@contextlib.contextmanager
def running(device):
    """The scene, its router, and the session up."""
    with Scene() as scene, Router(scene.router, YAML.format(device=device)) as scene.running:
        scene.device = device
        core = Frr(scene.b.namespace, ospfd=ospf("10.2.0.1", {"eth0": "10.2.0.0/16"}))
        with Frr(scene.router, ospfd=ospf("10.2.0.254", IN_CORE)) as scene.edge, core:
            wait_for(lambda: neighbor(scene) is not None, 60)
            for host in (scene.a, scene.m):
                for family in (4, 6):
                    host.namespace.run("ping", "-n", "-c", "1", "-w", "20", scene.b.address(family))
            yield scene


def neighbor(scene):
    """How long the session has been up, in milliseconds; none: it is not."""
    all_of = json.loads(scene.edge.vtysh("show ip ospf neighbor detail json", daemon="ospfd").stdout)["neighbors"]
    for found in all_of.values():
        if found[0]["nbrState"].startswith("Full"):
            return found[0]["lastPrgrsvChangeMsec"]
    return None


@dataclass
class Losses:
    """Shares: 0 is nothing, 1 all. `session`: it was lost."""
    rate: float
    calls: float
    through: float
    gateway: float
    session: bool

    def holds(self):
        return self.rate <= 0.02 and self.calls <= 0.01 and self.through <= 0.01 and self.gateway <= 0.01 and not self.session


class Tcp(threading.Thread):
    """As much as is bought, offered all the time; what the other end's application got until it ends."""

    def __init__(self, scene, seconds):
        super().__init__(daemon=True)
        self._seconds, self.received = seconds, 0
        with scene.b.namespace.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("10.2.0.1", 5001))
            server.listen(1)
            self._near = scene.a.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._near.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
            self._near.settimeout(20)
            self._near.connect(("10.2.0.1", 5001))
            self._far = server.accept()[0]
        self._far.setblocking(False)
        self._near.setblocking(False)

    def run(self):
        began, sent = time.monotonic(), 0
        while (now := time.monotonic() - began) < self._seconds:
            with contextlib.suppress(BlockingIOError):
                while sent < now * RATE:  # what does not go now, goes later: the offer stands
                    sent += self._near.send(bytes(min(14_000, int(now * RATE) - sent + 1)))
            self._take()
            time.sleep(0.005)
        time.sleep(0.2)
        self._take()
        for s in (self._near, self._far):
            s.close()

    def _take(self):
        with contextlib.suppress(BlockingIOError):
            while data := self._far.recv(1 << 18):
                self.received += len(data)

    def lost(self):
        return max(0.0, 1 - self.received / (RATE * self._seconds))


class Calls(threading.Thread):
    """Each a flow of its own, begun all the time; good, where all but one packet arrive and those as EF."""

    def __init__(self, scene, seconds):
        super().__init__(daemon=True)
        self._scene, self._count, self._got = scene, int(seconds / CALL_EVERY), {}
        self._sink = scene.b.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sink.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        self._sink.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        self._sink.bind(("10.2.0.1", 5004))
        self._sink.setblocking(False)

    def run(self):
        began, open_calls = time.monotonic(), {}
        due = sorted((call * CALL_EVERY + i * CALL_GAP, call, i) for call in range(self._count) for i in range(CALL_PACKETS))
        for when, call, i in due:
            while (ahead := began + when - time.monotonic()) > 0:
                self._take()
                time.sleep(min(ahead, 0.02))
            if i == 0:
                open_calls[call] = self._scene.a.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
            open_calls[call].sendto(struct.pack("<I", call) + bytes(156), ("10.2.0.1", 5004))
            if i == CALL_PACKETS - 1:
                open_calls.pop(call).close()
        time.sleep(0.3)
        self._take()
        self._sink.close()

    def _take(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                data, ancillary, _, _ = self._sink.recvmsg(200, 64)
                tos = {kind: value[0] for level, kind, value in ancillary if level == socket.IPPROTO_IP}
                if tos.get(socket.IP_TOS) == EF:
                    call = struct.unpack_from("<I", data)[0]
                    self._got[call] = self._got.get(call, 0) + 1

    def lost(self):
        return 1 - sum(self._got.get(call, 0) >= CALL_PACKETS - 1 for call in range(self._count)) / self._count


class Pings:
    def __init__(self, scene, address, seconds):
        self._count = int(seconds / PING_GAP)
        command = ["ping", "-n", "-q", "-c", self._count, "-i", PING_GAP, "-W", "1", address]
        self._process = subprocess.Popen(scene.a.namespace.command(*command), stdout=subprocess.PIPE, text=True)

    def lost(self):
        text = self._process.communicate(timeout=60)[0]
        return 1 - int(re.search(r"(\d+) received", text)[1]) / self._count


def measured(scene, seconds):
    """The victim's losses in that time."""
    before = neighbor(scene)
    tcp, calls = Tcp(scene, seconds), Calls(scene, seconds)
    pings = [Pings(scene, address, seconds) for address in ("10.2.0.1", "10.1.0.254")]
    for thread in (tcp, calls):
        thread.start()
    for thread in (tcp, calls):
        thread.join()
    through, gateway = (p.lost() for p in pings)
    after = neighbor(scene)
    lost = before is None or after is None or after < before
    return Losses(tcp.lost(), calls.lost(), through, gateway, lost)


def under(attack, scene, directory, rate, seconds):
    """The victim's losses while the attack goes on, and how many of its frames came in a second; accounting is exact afterwards."""
    before = scene.running.metrics()
    if attack == "none":
        losses = measured(scene, seconds)
    else:
        flood.write(directory / "frames", attacks.Attacker(scene).frames(attack))
        with flood.Flood(scene.m, directory / "frames", rate, seconds + MARGIN):
            time.sleep(MARGIN / 2)
            losses = measured(scene, seconds)
    return losses, (arrivals(scene, scene.running.settle()) - arrivals(scene, before)) / (seconds + MARGIN)


def arrivals(scene, metrics):
    """Frames at the attacker's port; of an af_xdp port, what is the kernel's never comes to the router."""
    if scene.device == "af_xdp":
        return metrics.sum("surety_kernel_frames_total", port="lan1")
    return metrics.value("surety_port_rx_packets_total", port="lan1")
