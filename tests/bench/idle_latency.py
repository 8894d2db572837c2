#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What sleeping saves and costs: CPU of an idle worker, and how long the first packet after a pause takes through the router.

    sudo tests/bench/idle_latency.py [--device af_xdp|af_packet|memif] [--packets 300] [--rounds 2] [--pause 50] [--core 1] [--services N]

Latency is from a packet's leaving host a to its arrival at host b, by the kernel's own time stamps on both wires, so that no
Python is in it. `memif` puts a second router behind the first, joined by memif, and so measures two of each, both on the same
core where they sleep; where they poll, the second one has core 0. Modes take turns, round by round, and the first line says
what the machine itself takes to wake a thread on that core through a pipe, or out of a sleep of --look us. Run it on a machine
that does nothing else: what the scheduler takes is in the numbers.

With `--services` the first router has so many, and `scraped` rows are measured while one scrape of its metrics follows another."""
import argparse
import contextlib
import ctypes
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "functional"))
from harness import Lab, Router  # noqa: E402
from router import DEFAULTS  # noqa: E402

ETH_P_ALL, SO_TIMESTAMPNS, SOL_PACKET, PACKET_IGNORE_OUTGOING = 3, 35, 263, 23
PORT, MAGIC = 5001, b"idle latency"
SCRAPE = "import time, urllib.request as r; t = time.monotonic(); print(len(r.urlopen('http://127.0.0.1:9464/metrics').read()), time.monotonic() - t)"
TICKS = os.sysconf("SC_CLK_TCK")


class Wire:
    """Kernel time stamps of our packets on an interface."""

    def __init__(self, namespace, interface):
        self.socket = namespace.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind((interface, 0))
        self.socket.settimeout(1)

    def stamp(self, number):
        """Nanoseconds at which packet `number` passed; None: it did not."""
        want = MAGIC + struct.pack("!I", number)
        try:
            while True:
                frame, control, _, _ = self.socket.recvmsg(2048, 128)
                if want in frame:
                    seconds, nanoseconds = struct.unpack("qq", control[0][2])
                    return seconds * 10**9 + nanoseconds
        except TimeoutError:
            return None


def customers(count):
    """So many services and rules, which no packet of the bench meets."""
    if count == 0:
        return ""
    services = "".join(f"  s{i:05}: {{conditioner: token-bucket, rate: 1 Mbit/s, mark: {{in: AF11, out: AF12}}}}\n" for i in range(count))
    rules = "".join(f"  - {{match: {{source: 100.{i >> 8}.{i & 255}.0/24}}, service: s{i:05}}}\n" for i in range(count))
    return f"services:\n{services}classify:\n{rules}"


@contextlib.contextmanager
def scraped(router, core):
    """One scrape after the other, by a client that leaves the worker's `core` alone; yields their sizes in bytes and times in seconds."""
    took, over = [], threading.Event()
    others = ",".join(str(n) for n in sorted(os.sched_getaffinity(0) - {core})) or str(core)

    def scrape():
        while not over.is_set():
            out = subprocess.run(router.namespace.command("taskset", "-c", others, sys.executable, "-c", SCRAPE), capture_output=True, text=True, check=True)
            took.append([float(word) for word in out.stdout.split()])

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield took
    finally:
        over.set()
        thread.join()


def edge(device, link):
    lan = f"  lan0: {{device: {device} lan0, addresses: [10.1.0.254/24], trust: core}}\n"
    if link:
        return "ports:\n" + lan + f"""  core0: {{device: memif {link} server, addresses: [10.3.0.1/24], trust: core, mac: "02:00:00:00:0e:01"}}
routes: [{{to: 10.2.0.0/24, via: 10.3.0.2}}]
neighbors: [{{address: 10.3.0.2, mac: "02:00:00:00:0c:01", port: core0}}]
"""
    return "ports:\n" + lan + f"  wan0: {{device: {device} wan0, addresses: [10.2.0.254/24], trust: core}}\n"


def far_router(device, link):
    return f"""ports:
  in0: {{device: memif {link} client, addresses: [10.3.0.2/24], trust: core, mac: "02:00:00:00:0c:01"}}
  wan0: {{device: {device} wan0, addresses: [10.2.0.254/24], trust: core}}
routes: [{{to: 10.1.0.0/24, via: 10.3.0.1}}]
neighbors: [{{address: 10.3.0.1, mac: "02:00:00:00:0e:01", port: in0}}]
"""


class Sleeper:
    """A process on a core of its own choice that does nothing but sleep: the machine's floor."""

    def __init__(self, core, body):
        self.ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            os.sched_setaffinity(0, {core})
            ctypes.CDLL(None).prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK
            body(theirs)
            os._exit(0)
        theirs.close()

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.ours.close()


def says_when_woken(wire):
    while sent := wire.recv(8):
        wire.send(struct.pack("!Q", time.monotonic_ns() - struct.unpack("!Q", sent)[0]))


def wake_floor(o):
    """Microseconds from a write to the reader's running again, after pauses as between packets."""
    sleeper, took = Sleeper(o.core, says_when_woken), []
    for _ in range(o.packets):
        time.sleep(o.pause / 1000 * random.uniform(0.5, 1.5))
        sleeper.ours.send(struct.pack("!Q", time.monotonic_ns()))
        took.append(struct.unpack("!Q", sleeper.ours.recv(8))[0] / 1000)
    sleeper.end()
    return sorted(took)


def timer_floor(o):
    """Microseconds that a sleep of o.look us takes."""
    def body(wire):
        took = []
        for _ in range(10 * o.packets):
            begin = time.monotonic_ns()
            time.sleep(o.look * 1e-6)
            took.append(time.monotonic_ns() - begin)
        wire.sendall(struct.pack(f"!{len(took)}Q", *took))

    sleeper, data = Sleeper(o.core, body), b""
    while len(data) < 80 * o.packets:
        data += sleeper.ours.recv(65536)
    sleeper.end()
    return sorted(n / 1000 for n in struct.unpack(f"!{len(data) // 8}Q", data))


def busy_seconds(pid):
    """CPU time of each worker thread of a router, by thread id."""
    used = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if "-worker" in (task / "comm").read_text():
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
            used[task.name] = (int(fields[11]) + int(fields[12])) / TICKS
    return used


def idle_cpu(routers, seconds):
    """The share of a core that the busiest worker takes while nothing happens."""
    time.sleep(1)
    before = [busy_seconds(r.process.pid) for r in routers]
    begin = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - begin
    after = [busy_seconds(r.process.pid) for r in routers]
    return max((b[t] - a[t]) / took for a, b in zip(before, after) for t in a)


def measure(a, b, packets, pause):
    source = a.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
    left, right = Wire(a.namespace, "eth0"), Wire(b.namespace, "eth0")
    latencies, lost = [], 0
    for number in range(packets):
        time.sleep(pause * random.uniform(0.5, 1.5))
        source.sendto(MAGIC + struct.pack("!I", number), ("10.2.0.1", PORT))
        sent, arrived = left.stamp(number), right.stamp(number)
        if sent is None or arrived is None:
            lost += 1
        else:
            latencies.append((arrived - sent) / 1000)
    return latencies, lost


class Bed:
    """Hosts a and b, and one router or two between them."""

    def __init__(self, device, idle, core, directory, services):
        link = f"{directory}/{idle}.sock" if device == "memif" else None
        kernel = "af_xdp" if device == "memif" else device
        self.stack = contextlib.ExitStack()
        with contextlib.ExitStack() as made:
            west, east = (made.enter_context(Lab()) for _ in range(2))
            self.a = west.host("a", "lan0", ["10.1.0.1/24"], ["10.1.0.254"])
            self.b = (east if link else west).host("b", "wan0", ["10.2.0.1/24"], ["10.2.0.254"])
            DEFAULTS["workers"] = f"{{cores: [{core}], idle: {idle}}}"
            self.routers = [made.enter_context(Router(west.router, edge(kernel, link) + customers(services)))]
            if link:
                DEFAULTS["workers"] = f"{{cores: [{0 if idle == 'poll' else core}], idle: {idle}}}"
                self.routers.append(made.enter_context(Router(east.router, far_router(kernel, link))))
            self.a.namespace.run("ping", "-n", "-c", "3", "-i", "0.3", "-w", "10", "10.2.0.1")
            self.stack = made.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()


def quantiles(values):
    return " ".join(f"{values[min(len(values) - 1, int(len(values) * q))]:8.1f}" for q in (0.5, 0.9, 0.99, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", nargs="+", default=["af_xdp", "memif"], choices=["af_xdp", "af_packet", "memif"])
    parser.add_argument("--idle", nargs="+", default=["poll", "adaptive"], choices=["poll", "adaptive"])
    parser.add_argument("--packets", type=int, default=300, help="of each round")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--pause", type=float, default=50, help="ms between packets, on average")
    parser.add_argument("--seconds", type=float, default=5, help="of idleness for the CPU's share")
    parser.add_argument("--core", type=int, default=1, help="of the workers")
    parser.add_argument("--services", type=int, default=0, help="of the first router")
    parser.add_argument("--look", type=float, default=25, help="us: idle_policy.h")
    o = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what it has made goes
    print(f"{'':20} {'CPU of a worker':>15} {'p50 us':>8} {'p90 us':>8} {'p99 us':>8} {'max us':>8} {'lost':>5}")
    print(f"{'machine: woken':20} {'':15} {quantiles(wake_floor(o))}")
    print(f"{f'machine: {o.look:g} us':20} {'':15} {quantiles(timer_floor(o))}", flush=True)
    with tempfile.TemporaryDirectory(prefix="sb-") as directory:
        for device in o.device:
            got = {f"{idle}{how}": ([], [], []) for idle in o.idle for how in ["", " scraped"][:1 + (o.services > 0)]}
            scrapes = []
            for _ in range(o.rounds):
                for idle in o.idle:
                    with Bed(device, idle, o.core, directory, o.services) as bed:
                        for mode in (m for m in got if m.split()[0] == idle):
                            cpus, latencies, lost = got[mode]
                            with scraped(bed.routers[0], o.core) if "scraped" in mode else contextlib.nullcontext([]) as times:
                                cpus.append(idle_cpu(bed.routers, o.seconds))
                                more, missing = measure(bed.a, bed.b, o.packets, o.pause / 1000)
                            scrapes += times
                            latencies += more
                            lost.append(missing)
            for mode, (cpus, latencies, lost) in got.items():
                print(f"{device + ' ' + mode:20} {max(cpus):15.1%} {quantiles(sorted(latencies))} {sum(lost):5}", flush=True)
            if scrapes:
                print(f"{'':20} {len(scrapes)} scrapes of {max(size for size, _ in scrapes) / 1e6:.1f} MB, the longest {max(s for _, s in scrapes):.2f} s")


if __name__ == "__main__":
    main()
