#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a restart costs those behind the router: from SIGTERM of the old one to the first packet that the new one forwards.

    sudo tests/bench/restart.py [--device af_xdp|af_packet|memif-server|memif-client] [--rate 1000] [--rounds 3] [--tables small|default]
                                [--take-over] [--flood FRAMES]

Host a sends numbered UDP packets to host b all the time; the router between them is stopped, and started with the same
configuration as soon as it is gone, as a service manager does it. `memif-...` puts a second router behind it, which stays; the
one that is restarted is the server of the socket, or its client. A row is one restart, in ms from SIGTERM on: the last packet
by the old router, its end, the first packet by the new one, and what was lost, in packets and in ms of the stream. The lines
below it are what the two routers say of their phases. Kernel time stamps, so that no Python is in it. With --take-over the new
one is started beside the old one and takes over when it is ready (`surety run --take-over`). With --flood a third host sends so many
frames a second to b all the time."""
import argparse
import contextlib
import multiprocessing
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "functional" / more) for more in (".", "hostile")]
import flood  # noqa: E402
from scapy.all import IP, UDP, Ether  # noqa: E402
from harness import Lab, Router, wait_for  # noqa: E402
from router import DEFAULTS, SURETY  # noqa: E402

SO_TIMESTAMPNS, PORT, TICK = 35, 5001, 0.001
PHASES = re.compile(r"(DPDK started|started|workers stopped|closed|handed over): total_ms=.*")
CORE_MAC, EDGE_MAC = "02:00:00:00:0c:01", "02:00:00:00:0e:01"


def send(source, to, rate, over, sent):
    """Numbered packets; how many after it is over."""
    n, begin = 0, time.monotonic()
    while not over.is_set():
        while n < (time.monotonic() - begin) * rate:
            with contextlib.suppress(OSError):
                source.sendto(struct.pack("!Q", n), to)
            n += 1
        time.sleep(TICK)
    sent.send(n)


def take(sink, over, arrived):
    """[(number, seconds of the day)] of what arrives."""
    all_of_them = []
    while True:
        try:
            data, control, _, _ = sink.recvmsg(64, 128)
            seconds, nanoseconds = struct.unpack("qq", control[0][2])
            all_of_them.append((*struct.unpack("!Q", data), seconds + nanoseconds / 1e9))
        except TimeoutError:
            if over.is_set():
                return arrived.send(all_of_them)


class Stream:
    """Packets from one host to another, in processes of their own."""

    def __init__(self, a, b, rate):
        sink = b.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sink.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sink.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        sink.bind((b.address(4), PORT))
        sink.settimeout(0.2)
        source = a.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._over, self.rate = multiprocessing.Event(), rate
        self._sent, sent = multiprocessing.Pipe(False)
        self._arrived, arrived = multiprocessing.Pipe(False)
        self._processes = [multiprocessing.Process(target=send, args=(source, (b.address(4), PORT), rate, self._over, sent), daemon=True),
                           multiprocessing.Process(target=take, args=(sink, self._over, arrived), daemon=True)]
        for p in self._processes:
            p.start()

    def end(self):
        """(how many were sent, [(number, time)] of those that arrived)"""
        self._over.set()
        result = self._sent.recv(), self._arrived.recv()
        for p in self._processes:
            p.join()
        return result


def gap(arrivals):
    """The most packets that are missing in one place: when the one before and the one after arrived, and how many."""
    before, after = max(zip(arrivals, arrivals[1:]), key=lambda pair: pair[1][0] - pair[0][0])
    return before[1], after[1], after[0] - before[0] - 1


class Place:
    """Host a, the router that is restarted, perhaps one that stays, host b."""

    def __init__(self, stack, device, tables, flooded):
        self.device, self._memif, self._flooded = device, device.startswith("memif"), flooded
        west = stack.enter_context(Lab())
        east = stack.enter_context(Lab()) if self._memif else west
        self.a = west.host("a", "lan0", ["10.1.0.1/24"], ["10.1.0.254"])
        self.b = east.host("b", "wan0", ["10.2.0.1/24"], ["10.2.0.254"])
        self.m = west.host("m", "lan1", ["10.4.0.1/24"], ["10.4.0.254"]) if flooded else None
        for lab in (west, east):
            lab.router.run("sysctl", "-q", "net.ipv4.ip_forward=0")
        self.directory = self._directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sf-")))
        self.namespace = west.router
        self.name = f"restart-{os.getpid()}"
        self.path = self._directory / "router.yaml"
        dpdk = "" if tables == "default" else f"dpdk: {DEFAULTS['dpdk']}\n"
        self.path.write_text(f"version: 1\nrouter: {{name: {self.name}}}\nmetrics: {{listen: off}}\n{dpdk}{self._yaml()}")
        if self._memif:
            stack.enter_context(Router(east.router, self._other()))

    def _yaml(self):
        if not self._memif:
            return f"""ports:
  lan0: {{device: {self.device} lan0, addresses: [10.1.0.254/24], trust: core}}
  wan0: {{device: {self.device} wan0, addresses: [10.2.0.254/24], trust: core}}
""" + (f"  lan1: {{device: {self.device} lan1, addresses: [10.4.0.254/24], trust: core}}\n" if self._flooded else "")
        return f"""ports:
  lan0: {{device: af_xdp lan0, addresses: [10.1.0.254/24], trust: core}}
  core0: {{device: memif {self._directory}/m.sock {self.device[6:]}, addresses: [10.3.0.1/24], trust: core, mac: "{EDGE_MAC}"}}
routes: [{{to: 10.2.0.0/24, via: 10.3.0.2}}]
"""

    def _other(self):
        end = "client" if self.device == "memif-server" else "server"
        return f"""ports:
  in0: {{device: memif {self._directory}/m.sock {end}, addresses: [10.3.0.2/24], trust: core, mac: "{CORE_MAC}"}}
  wan0: {{device: af_xdp wan0, addresses: [10.2.0.254/24], trust: core}}
routes: [{{to: 10.1.0.0/24, via: 10.3.0.1}}]
metrics: {{listen: off}}
"""

    def start(self, log, *options):
        with open(self._directory / log, "w") as out:
            return subprocess.Popen(self.namespace.command(SURETY, "run", *options, self.path), stdout=out, stderr=out,
                                    env={**os.environ, "STATE_DIRECTORY": str(self._directory)})

    def log(self, log):
        return (self._directory / log).read_text()

    def phases(self, log):
        return [m[0] for m in map(PHASES.search, self.log(log).splitlines()) if m]

    def forwards(self):
        """a reaches b"""
        return self.a.namespace.run("ping", "-n", "-c", "1", "-W", "1", self.b.address(4), check=False).returncode == 0


def restart(place, old, take_over):
    """The new router; when the old one was told to end, and when it had."""
    told = time.time()
    if take_over:
        new = place.start("new", "--take-over")
        wait_for(lambda: old.poll() is not None or new.poll() is not None, 60)
        if old.poll() is None:
            raise SystemExit(f"the new one has ended:\n{place.log('new')}")
        return new, told, time.time()
    old.send_signal(signal.SIGTERM)
    old.wait(60)
    ended = time.time()
    return place.start("new"), told, ended


def flood_of(place, rate):
    """Of empty UDP datagrams from m to b."""
    if not rate:
        return contextlib.nullcontext()
    frame = Ether(src=place.m.mac, dst=place.namespace.mac("lan1")) / IP(src=place.m.address(4), dst=place.b.address(4)) / UDP(sport=7, dport=9)
    file = place.directory / "frames"
    flood.write(file, [bytes(frame).ljust(60, b"\0")])
    return flood.Flood(place.m.namespace, file, rate, 64)


def measure(place, rate, take_over, flooded):
    old = place.start("old")
    new = None
    try:
        wait_for(place.forwards, 60)
        with flood_of(place, flooded):
            new = watch(place, rate, take_over, old)
    finally:
        for process in filter(None, (old, new)):
            if process.poll() is None:
                process.terminate()
                process.wait(60)


def watch(place, rate, take_over, old):
    """Prints a row; the new router."""
    stream = Stream(place.a, place.b, rate)
    time.sleep(1)
    new, told, ended = restart(place, old, take_over)
    wait_for(place.forwards, 60)
    time.sleep(0.5)
    sent, arrivals = stream.end()
    last, first, missing = gap(arrivals)
    lost = sent - len(arrivals)
    print(f"{place.device:13} last {1000 * (last - told):6.0f}  ended {1000 * (ended - told):6.0f}  first {1000 * (first - told):6.0f}"
          f"  lost {lost} of {sent}, {missing} of them at once: {1000 * lost / rate:.0f} ms, silent for {1000 * (first - last):.0f} ms", flush=True)
    for line in place.phases("old") + place.phases("new"):
        print("   ", line, flush=True)
    return new


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    devices = ["af_xdp", "af_packet", "memif-server", "memif-client"]
    parser.add_argument("--device", choices=devices, action="append")
    parser.add_argument("--rate", type=int, default=1000, help="packets per second (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tables", choices=["default", "small"], default="default", help="dpdk: as if nothing were said of it, or the tests'")
    parser.add_argument("--take-over", action="store_true", help="beside each other, in place of one after the other")
    parser.add_argument("--flood", type=int, default=0, help="frames a second of a third host")
    given = parser.parse_args()
    for device in given.device or devices:
        with contextlib.ExitStack() as stack:
            place = Place(stack, device, given.tables, given.flood)
            for _ in range(given.rounds):
                measure(place, given.rate, given.take_over, given.flood)


if __name__ == "__main__":
    main()
