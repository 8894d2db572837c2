#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A full table of routes through kernel, netlink and FIB: prints the README's table. Root; a quiet machine; about 5 GB of memory.

    tests/bench/routes_scale.py [--v4 1000000] [--v6 200000] [--no-bgp]
"""
import argparse
import pathlib
import re
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/functional"))

from harness import Router  # noqa: E402, before router: it knows where that one's modules are
import router as router_module  # noqa: E402
from bgp_speaker import BgpSpeaker  # noqa: E402
from frr import Frr, installed  # noqa: E402
from route_flood import Batch, commands, load, prefixes  # noqa: E402
from test_routes_scale import BGP, GATEWAY, GATEWAY6, Flooded, dpdk, single_changes, three_ports  # noqa: E402

PATIENCE = 900
router_module.START = PATIENCE


def megabytes(pid, what="VmRSS"):
    return int(re.search(rf"{what}:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def row(what, value):
    print(f"| {what} | {value} |", flush=True)


def wait_routes(running, n):
    start = time.monotonic()
    running.until(lambda m: m.value("surety_routes") >= n, PATIENCE)
    return time.monotonic() - start


def daemon(running):
    """`ip netns exec` becomes the program it starts."""
    return running.process.pid


def from_the_kernel(v4, v6, yaml):
    total = len(v4) + len(v6)
    lines = commands("add", v4, GATEWAY) + commands("add", v6, GATEWAY6)
    with Flooded() as lab:
        for address in ("10.2.0.254/24", "2001:db8:2::fe/64"):
            lab.router.add_address("wan0", address)
        with Router(lab.router, yaml) as running:
            empty = megabytes(daemon(running))
            start = time.monotonic()
            seconds = load(lab.router, lines)
            row("`ip -batch` into the kernel, the router following", f"{seconds:.1f} s, {total / seconds:,.0f} routes/s")
            wait_routes(running, total)
            row("all in the FIB after the kernel has the last (metrics: 1 s)", f"{time.monotonic() - start - seconds:.1f} s")
            row("resident memory: empty, with the table", f"{empty:.0f} MB, {megabytes(daemon(running)):.0f} MB")
            delays = single_changes(lab, 101)
            row("single change at that size: kernel to first packet, median / max of 101",
                f"{statistics.median(delays) * 1e3:.1f} / {max(delays) * 1e3:.1f} ms")
            storm(lab, running, v4)
        start = time.monotonic()
        with Router(lab.router, yaml) as running:
            wait_routes(running, total)
            row("start of the router until the kernel's table is in the FIB", f"{time.monotonic() - start:.1f} s")


def storm(lab, running, table, rate=10_000, seconds=10):
    flapping = sorted(set(prefixes(3000, seed=9)) - set(table))[:1000]
    lines = []
    for i in range(rate * seconds // 2000):
        lines += commands("replace", flapping, (GATEWAY, "10.3.0.")[i % 2]) + commands("del", flapping, GATEWAY)
    with Batch(lab.router) as batch:
        took = batch.paced(lines, rate)
        delays = single_changes(lab, 11)
    row(f"storm of {len(lines):,} changes", f"{len(lines) / took:,.0f}/s; a change right behind it: "
        f"{statistics.median(delays) * 1e3:.1f} ms")
    running.settle()


def from_bgp(v4, v6, yaml):
    total = len(v4) + len(v6)
    with Flooded() as lab, Router(lab.router, yaml) as running, Frr(lab.router, bgpd=BGP) as frr:
        with BgpSpeaker(lab.b.namespace, "10.2.0.254", 64513) as speaker:
            start = time.monotonic()
            for i in range(64):
                speaker.announce(v4[i::64], f"10.2.0.{i + 1}")
                speaker.announce(v6[i::64], f"2001:db8:2::{i + 1}")
            row("BGP: announced", f"{time.monotonic() - start:.1f} s")
            wait_routes(running, total)
            row("BGP: announced until in the FIB", f"{time.monotonic() - start:.1f} s")
            sizes = {name: megabytes(p.pid) for name, p in frr._processes.items()}
            row("BGP: resident memory", ", ".join(f"{n} {s:.0f} MB" for n, s in sizes.items()) +
                f", surety {megabytes(daemon(running)):.0f} MB")
            start = time.monotonic()
        running.until(lambda m: m.value("surety_routes") < 1000, PATIENCE)
        row("BGP: session closed until all are withdrawn", f"{time.monotonic() - start:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--v4", type=int, default=1_000_000)
    parser.add_argument("--v6", type=int, default=200_000)
    parser.add_argument("--no-bgp", action="store_true")
    arguments = parser.parse_args()
    v4, v6 = prefixes(arguments.v4), prefixes(arguments.v6, family=6)
    yaml = three_ports() + dpdk(max(arguments.v4, arguments.v6) + 100_000)
    row(f"{arguments.v4:,} IPv4 and {arguments.v6:,} IPv6 routes over 64 gateways", "")
    row("---", "---")
    from_the_kernel(v4, v6, yaml)
    if installed() and not arguments.no_bgp:
        from_bgp(v4, v6, yaml)


if __name__ == "__main__":
    main()
