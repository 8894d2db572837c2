#!/usr/bin/env python3
"""What sleeping saves and costs: CPU of an idle worker, and how long the first packet after a pause takes through the router.

    sudo tests/bench/idle_latency.py [--device af_xdp|af_packet|memif] [--packets 500] [--pause 100] [--workers "[1]"]

Latency is from a packet's leaving host a to its arrival at host b, by the kernel's own time stamps on both wires, so that no
Python is in it. `memif` puts a second router behind the first, joined by memif, and so measures two of each. Run it on a
machine that does nothing else: what the scheduler takes is in the numbers."""
import argparse
import os
import pathlib
import random
import socket
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "functional"))
from harness import Lab, Router  # noqa: E402
from router import DEFAULTS  # noqa: E402

ETH_P_ALL, SO_TIMESTAMPNS, SOL_PACKET, PACKET_IGNORE_OUTGOING = 3, 35, 263, 23
PORT, MAGIC = 5001, b"idle latency"
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


def edge(device, link):
    lan = f"  lan0: {{device: {device} lan0, addresses: [10.1.0.254/24], trust: core}}\n"
    if link:
        return "ports:\n" + lan + f"""  core0: {{device: memif {link} server, addresses: [10.3.0.1/24], trust: core, mac: "02:00:00:00:0e:01"}}
routes: [{{to: 10.2.0.0/24, via: 10.3.0.2}}]
neighbors: [{{address: 10.3.0.2, mac: "02:00:00:00:0c:01", port: core0}}]
"""
    return "ports:\n" + lan + f"  wan0: {{device: {device} wan0, addresses: [10.2.0.254/24], trust: core}}\n"


def core(device, link):
    return f"""ports:
  in0: {{device: memif {link} client, addresses: [10.3.0.2/24], trust: core, mac: "02:00:00:00:0c:01"}}
  wan0: {{device: {device} wan0, addresses: [10.2.0.254/24], trust: core}}
routes: [{{to: 10.1.0.0/24, via: 10.3.0.1}}]
neighbors: [{{address: 10.3.0.1, mac: "02:00:00:00:0e:01", port: in0}}]
"""


def busy_seconds(pid):
    """CPU time of each worker thread of a router, by thread id."""
    used = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().startswith("lcore-worker"):
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


def measure(lab, a, b, packets, pause):
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
    return sorted(latencies), lost


def run(device, idle, o, directory):
    link = f"{directory}/{idle}.sock" if device == "memif" else None
    kernel = "af_xdp" if device == "memif" else device
    DEFAULTS.update(idle=idle, workers=o.workers)
    with Lab() as west, Lab() as east:
        a = west.host("a", "lan0", ["10.1.0.1/24"], ["10.1.0.254"])
        far = east if link else west
        b = far.host("b", "wan0", ["10.2.0.1/24"], ["10.2.0.254"])
        with Router(west.router, edge(kernel, link)) as first:
            routers = [first]
            second = Router(east.router, core(kernel, link)) if link else None
            if second:
                routers.append(second.__enter__())
            try:
                a.namespace.run("ping", "-n", "-c", "3", "-i", "0.3", "-w", "10", "10.2.0.1")
                cpu = idle_cpu(routers, o.seconds)
                latencies, lost = measure(west, a, b, o.packets, o.pause / 1000)
            finally:
                if second:
                    second.__exit__(None, None, None)
    return cpu, latencies, lost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", nargs="+", default=["af_xdp", "memif"], choices=["af_xdp", "af_packet", "memif"])
    parser.add_argument("--idle", nargs="+", default=["poll", "adaptive"], choices=["poll", "adaptive"])
    parser.add_argument("--packets", type=int, default=300)
    parser.add_argument("--pause", type=float, default=100, help="ms between packets, on average")
    parser.add_argument("--seconds", type=float, default=5, help="of idleness for the CPU's share")
    parser.add_argument("--workers", default="[1]", help="as in YAML")
    o = parser.parse_args()
    print(f"{'device':10} {'idle':9} {'CPU of a worker':>15} {'p50 us':>8} {'p90 us':>8} {'p99 us':>8} {'max us':>8} {'lost':>5}")
    with tempfile.TemporaryDirectory(prefix="sb-") as directory:
        for device in o.device:
            for idle in o.idle:
                cpu, v, lost = run(device, idle, o, directory)
                at = [v[min(len(v) - 1, int(len(v) * q))] for q in (0.5, 0.9, 0.99, 1)]
                print(f"{device:10} {idle:9} {cpu:15.1%} " + " ".join(f"{x:8.1f}" for x in at) + f" {lost:5}", flush=True)


if __name__ == "__main__":
    main()
