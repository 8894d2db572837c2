#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One more of 4,000 interfaces on a router that runs: what a reload takes, from SIGHUP to the first packet forwarded. Root.

    tests/bench/reload_interfaces.py [--device af_packet] [--rounds 20]
"""
import argparse
import pathlib
import re
import signal
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/functional"))

from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

from harness import Wire, udp_to, wait_for  # noqa: E402
from router import DEFAULTS  # noqa: E402
from test_reload import Reloaded  # noqa: E402
from vlan import Access, q, tagged  # noqa: E402

PARTS = re.compile(r"configuration read: ms=([\d.]+).*?configuration applied: prepare_ms=([\d.]+) publish_ms=([\d.]+) settle_ms=([\d.]+)", re.S)
TURN = re.compile(r"workers updated: workers=\d+ longest_us=([\d.]+)")
LATER = '  later: {port: acc0, vlan: 500, addresses: [10.150.0.254/24], twin: "off"}\n'


def entry(i):
    return (f"  c{i}: {{port: acc0, vlan: {100 + i // 1000}, inner_vlan: {1 + i % 1000}, addresses: [10.{64 + i // 16384}.{i // 64 % 256}."
            f"{i % 64 * 4 + 1}/30], shape: 50 Mbit/s, twin: \"off\"}}\n")


SHAPES = {
    "4,000 entries": "".join(map(entry, range(4000))),
    "a template of 4,000": '  homes: {port: acc0, vlan: 200, inner_vlan: 1-4000, vlan_protocol: 802.1ad, addresses: [100.64.0.1/16], twin: "off"}\n',
}


def text(device, interfaces, more):
    # Flows in the table: none, so that the turn is what interfaces cost. The new one stands in the middle.
    lines = interfaces.splitlines(keepends=True)
    lines.insert(len(lines) // 2, LATER if more else "")
    return f"""ports:
  acc0: {{device: {device} acc0, addresses: [10.1.0.254/24]}}
  up0: {{device: {device} up0, addresses: [10.2.0.254/24], trust: core}}
interfaces:
{"".join(lines)}"""


def first_packet(lab, running):
    """Seconds from SIGHUP until a packet of the new interface has come out at the other side."""
    frame = bytes(tagged(q(500), Ether(src="02:00:00:00:00:66", dst=lab.mac) / IP(src="10.150.0.1", dst="10.2.0.1") / UDP(dport=7000) / b"x"))
    with lab.wire() as line, Wire(lab.up) as there:
        start = time.monotonic()
        running.process.send_signal(signal.SIGHUP)
        while time.monotonic() - start < 30:
            line.send(frame)
            if there.find(udp_to(7000), 0.0005) is not None:
                return time.monotonic() - start
    raise AssertionError(f"nothing came: {running.metrics().drops()}\n{running.stderr()[-2000:]}")


def measure(device, interfaces, rounds):
    forwarded = []
    with Access(device) as lab, Reloaded(lab.router, text(device, interfaces, False)) as running:
        lab.up.namespace.run("ping", "-c", 1, "-w", 5, "10.2.0.254")
        for _ in range(rounds):
            running.write(text(device, interfaces, True))
            forwarded.append(1000 * first_packet(lab, running))
            wait_for(lambda: len(PARTS.findall(running.stderr())) % 2 == 1)
            running.reload(text(device, interfaces, False))
        said = running.stderr()
    parts = [list(map(float, p)) for p in zip(*PARTS.findall(said))]
    turns = list(map(float, TURN.findall(said)))
    return parts, turns, forwarded


def spread(values):
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--device", default="af_packet")
    arguments.add_argument("--rounds", type=int, default=20)
    a = arguments.parse_args()
    DEFAULTS["dpdk"] = "{hugepages: off, max_routes: 32768}"  # four for each address
    print("| median (least to most) | read, ms | prepared, ms | workers, ms | routed, ms | a worker's turn, us | SIGHUP to the first packet, ms |")
    print("|---|---|---|---|---|---|---|")
    for name, interfaces in SHAPES.items():
        parts, turns, forwarded = measure(a.device, interfaces, a.rounds)
        print(f"| {name} | {' | '.join(map(spread, parts))} | {spread(turns)} | {spread(forwarded)} |", flush=True)


if __name__ == "__main__":
    main()
