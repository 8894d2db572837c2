# SPDX-License-Identifier: BSD-3-Clause
"""What a customer loses beside an attacker: 8 Mbit/s of a TCP connection that is older than the attack, new TCP connections, calls, pings
through the router and to it; and the OSPF session of the router with its neighbour in the core."""
import contextlib
import re
import selectors
import socket
import struct
import subprocess
import threading
import time
from dataclasses import dataclass

import flood
from attacks import Attacker
from bypasses import ATTACKS
from frames import SO_RCVBUFFORCE
from harness import wait_for
from router import Lateness
from scene import CORE, neighbor

RATE = 1_000_000  # bytes/s
CALL_EVERY, CALL_PACKETS, CALL_GAP = 0.3, 20, 0.02
PING_GAP = 0.05
CONNECT_EVERY, CONNECT_WITHIN, ANSWER_WITHIN, CONNECT_BYTES = 0.25, 1.0, 1.0, 2000
HEALTHY, HEALTHY_FOR, PATIENCE = 0.98, 1.0, 30  # share of the rate for so many seconds, before an attack begins
AFTER = 2  # s
PRIORITY = 125_000  # bytes/s: more than OSPF and the limited solicitations of the router need
EF = 46 << 2


@dataclass
class Losses:
    """Shares: 0 is nothing, 1 all. `session`: it was lost. `after`: of the rate, once the attack has ended. `priority`: bytes a second in
    strict classes, of packets that no conditioner has marked for them. `dropped`: of the victim's IN packets.
    `late`: the share of the time in which the router waited for a core."""
    rate: float
    connections: float
    calls: float
    through: float
    gateway: float
    session: bool
    priority: float
    after: float
    dropped: float
    late: float

    def holds(self):
        """Time that the router waits for a core is missing from the rate, up to a tenth, and makes a burst OUT; IN packets are kept even then.
        An attack that takes more of the core does harm."""
        others = max(self.connections, self.calls, self.through, self.gateway, self.dropped)
        return self.rate <= 0.02 + min(self.late, 0.1) and others <= 0.01 and not self.session and self.priority <= PRIORITY


class Tcp(threading.Thread):
    """A connection that offers RATE until `stop()`, and how much of it the far application had at which time."""

    def __init__(self, scene):
        super().__init__(daemon=True)
        self._seen, self._ended = [(time.monotonic(), 0)], threading.Event()
        with scene.b.namespace.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((CORE, 5001))
            server.listen(1)
            self._near = scene.a.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._near.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
            self._near.settimeout(20)
            self._near.connect((CORE, 5001))
            self._far = server.accept()[0]
        self._far.setblocking(False)
        self._near.setblocking(False)

    def run(self):
        began, sent = time.monotonic(), 0
        while not self._ended.is_set():
            now = time.monotonic() - began
            with contextlib.suppress(BlockingIOError):
                while sent < now * RATE:  # what the socket does not take now stays on offer
                    sent += self._near.send(bytes(min(14_000, int(now * RATE) - sent + 1)))
            self._take()
            time.sleep(0.005)

    def _take(self):
        _, received = self._seen[-1]
        with contextlib.suppress(BlockingIOError):
            while data := self._far.recv(1 << 18):
                received += len(data)
        self._seen.append((time.monotonic(), received))

    def _received(self, until):
        return next((received for when, received in reversed(self._seen) if when <= until), 0)

    def lost(self, begin, end):
        """The share of the rate that did not arrive between two times."""
        return max(0.0, 1 - (self._received(end) - self._received(begin)) / (RATE * (end - begin)))

    def settle(self):
        """Waits until the whole rate arrives."""
        began = time.monotonic()

        def whole():
            """the victim has its rate before the attack"""
            now = time.monotonic()
            return now - began > HEALTHY_FOR and self.lost(now - HEALTHY_FOR, now) <= 1 - HEALTHY
        wait_for(whole, PATIENCE, 0.1)

    def stop(self):
        self._ended.set()
        self.join()
        for s in (self._near, self._far):
            s.close()


class Connections(threading.Thread):
    """New TCP connections, begun all the time; good where each connects in time and its data comes back. Each fourth is from an address
    that the router has not met."""

    def __init__(self, scene, seconds):
        super().__init__(daemon=True)
        self._scene, self._count, self.good = scene, int(seconds / CONNECT_EVERY), 0
        self._selector, self._open = selectors.DefaultSelector(), {}  # by socket: begin, bytes got
        self._server = scene.b.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._server.bind((CORE, 5002))
        self._server.listen(64)
        self._server.setblocking(False)
        self._selector.register(self._server, selectors.EVENT_READ, self._accept)

    def run(self):
        began = time.monotonic()
        for i in range(self._count):
            self._serve(began + i * CONNECT_EVERY)
            self._begin(i)
        last = time.monotonic() + CONNECT_WITHIN + ANSWER_WITHIN
        while self._open and (now := time.monotonic()) < last:
            self._serve(now + 0.02)
        for s in [key.fileobj for key in list(self._selector.get_map().values())]:
            s.close()
        self._selector.close()

    def _begin(self, number):
        s = self._scene.a.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
        s.setblocking(False)
        s.bind((self._scene.guest() if number % 4 == 3 else self._scene.a.addresses[0], 0))
        s.connect_ex((CORE, 5002))
        self._open[s] = [time.monotonic(), 0]
        self._selector.register(s, selectors.EVENT_WRITE, self._connected)

    def _serve(self, until):
        while (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                try:
                    key.data(key.fileobj)
                except BlockingIOError:
                    pass
                except OSError:
                    self._forget(key.fileobj)

    def _forget(self, s):
        self._selector.unregister(s)
        self._open.pop(s, None)
        s.close()

    def _accept(self, server):
        s = server.accept()[0]
        s.setblocking(False)
        self._selector.register(s, selectors.EVENT_READ, self._echo)

    def _echo(self, s):
        if data := s.recv(65536):
            s.send(data)
        else:
            self._forget(s)

    def _connected(self, s):
        if s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) or time.monotonic() - self._open[s][0] > CONNECT_WITHIN:
            self._forget(s)
            return
        s.send(bytes(CONNECT_BYTES))
        self._selector.modify(s, selectors.EVENT_READ, self._answered)

    def _answered(self, s):
        begun, got = self._open[s]
        data = s.recv(65536)
        got = self._open[s][1] = got + len(data)
        if data and got < CONNECT_BYTES:
            return
        self.good += got >= CONNECT_BYTES and time.monotonic() - begun <= CONNECT_WITHIN + ANSWER_WITHIN
        self._forget(s)

    def lost(self):
        return 1 - self.good / self._count


class Calls(threading.Thread):
    """Calls, each a flow of its own, begun all the time; good where all packets but one arrive, and those as EF."""

    def __init__(self, scene, seconds):
        super().__init__(daemon=True)
        self._scene, self._count, self._got = scene, int(seconds / CALL_EVERY), {}
        self._sink = scene.b.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sink.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        self._sink.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        self._sink.bind((CORE, 5004))
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
            open_calls[call].sendto(struct.pack("<I", call) + bytes(156), (CORE, 5004))
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
    """The losses of all but the rate, from now on for so long."""
    before = neighbor(scene)
    threads = Connections(scene, seconds), Calls(scene, seconds)
    pings = [Pings(scene, address, seconds) for address in (CORE, "10.1.0.254")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    connections, calls = (thread.lost() for thread in threads)
    through, gateway = (p.lost() for p in pings)
    after = neighbor(scene)
    return connections, calls, through, gateway, before is None or after is None or after < before


def under(name, scene, directory, rate, seconds, afterwards=AFTER):
    """The victim's losses from the attack's first frame on, and how many frames came in a second; accounting is exact afterwards. The
    attack begins when the victim's connection has its whole rate, and lasts longer than the measurements. One with a `lead` is measured
    once it has prepared what it needs."""
    attack = ATTACKS.get(name)
    if attack:
        flood.write(directory / "frames", Attacker(scene, attack.by).frames(attack))
    tcp = Tcp(scene)
    tcp.start()
    try:
        tcp.settle()
        before = scene.running.metrics()
        with contextlib.ExitStack() as stack:
            if attack:
                origin = scene.origins[attack.by]
                stack.enter_context(flood.Flood(origin.namespace, directory / "frames", attack.pace(rate), attack.burst))
                time.sleep(attack.lead)
            begin, waits = time.monotonic(), Lateness(scene.running.process.pid)
            others = measured(scene, seconds)
            late = waits.seconds() / seconds
            lost = tcp.lost(begin, begin + seconds)
        end = time.monotonic()
        time.sleep(afterwards)
        after = tcp.lost(end, end + afterwards) if afterwards else 0.0
    finally:
        tcp.stop()
    port = scene.origins[attack.by].port if attack else "lan1"
    settled, duration = scene.running.settle(), end - begin + (attack.lead if attack else 0)
    priority = (unmarked(settled) - unmarked(before)) / duration
    dropped = bought(settled, "lost") - bought(before, "lost")
    dropped /= bought(settled) - bought(before)
    return Losses(lost, *others, priority, after, dropped, late), (arrivals(scene, settled, port) - arrivals(scene, before, port)) / duration


def bought(metrics, kind=None):
    """IN packets of the victim's contract that its conditioner has passed."""
    return metrics.sum(f"surety_service_{kind + '_' if kind else ''}packets_total", service="bought", precedence="in")


def unmarked(metrics):
    """Bytes of strict classes: no service marks CS6, so that they are the router's own, and no call goes to the victim."""
    return sum(metrics.sum("surety_queue_departed_bytes_total", port=port, queue=queue)
               for port, queue in (("wan0", "control"), ("lan0", "control"), ("lan0", "voice")))


def arrivals(scene, metrics, port):
    """Frames at the attacker's port. On an af_xdp port, frames for the kernel never come to the router."""
    if scene.device == "af_xdp":
        return metrics.sum("surety_kernel_frames_total", port=port)
    return metrics.value("surety_port_rx_packets_total", port=port)
