#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many 64-byte packets a second come through a memif port: testpmd sends, `surety run` routes them to a null port.

As root: memif_rate.py [--repetitions 5] [--seconds 2]. testpmd (txonly, memif client) has core 0, the receiver (memif server)
core 1: in turns surety, which parses, looks up, rewrites, queues and transmits, and testpmd, which only frees what comes
(rxonly). Prints the rate of each in million packets per second (median, minimum, maximum) and the ratio.
"""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "functional"))

from harness import Router  # noqa: E402
from namespaces import Namespace  # noqa: E402

SENDER_CORE, RECEIVER_CORE = 0, 1
IN_MAC, OUT_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
FAR = "198.51.100.1"
START = 20  # seconds at most


@contextlib.contextmanager
def testpmd(namespace, role, core, link, *options):
    """Runs until the end of the block; yields its process, whose standard input takes commands."""
    prefix = f"sf{os.getpid()}-{role}"
    command = ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", f"0@{core},1@{core}", "--no-huge", "-m", "256", "--no-pci",
               "--no-telemetry", "--file-prefix", prefix,
               f"--vdev=net_memif0,role={role},socket={link},socket-abstract=no,bsize=2048,rsize=11", "--",
               "--nb-cores=1", "--total-num-mbufs=16384", "--rxd=2048", "--txd=2048", "--no-mlockall", "--interactive", *options]
    process = subprocess.Popen(namespace.command(*command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    try:
        until(process, "Done")
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=START)
        shutil.rmtree(f"/run/dpdk/{prefix}", ignore_errors=True)


def until(process, word):
    """Its output up to the line that has the word."""
    text = ""
    for line in process.stdout:
        text += line
        if word in line:
            return text
    raise SystemExit(f"dpdk-testpmd has ended:\n{text}")


def tell(process, command):
    process.stdin.write(command + "\n")
    process.stdin.flush()


@contextlib.contextmanager
def sending(namespace, link):
    options = ("--forward-mode=txonly", "--txpkts=60", f"--eth-peer=0,{IN_MAC}", f"--tx-ip=10.1.0.1,{FAR}")
    with testpmd(namespace, "client", SENDER_CORE, link, *options) as process:
        time.sleep(1)  # until the link is up
        tell(process, "start")
        time.sleep(1)
        yield


def rate(count, seconds):
    first, start = count(), time.monotonic()
    time.sleep(seconds)
    return (count() - first) / (time.monotonic() - start)


def surety(namespace, link, seconds):
    yaml = f"""ports:
  in0: {{device: memif {link} server, addresses: [10.1.0.254/24], trust: core, mac: "{IN_MAC}"}}
  out0: {{device: "null", addresses: [10.2.0.254/24], trust: core}}
routes: [{{to: 198.51.100.0/24, via: 10.2.0.1}}]
neighbors: [{{address: 10.2.0.1, mac: "{OUT_MAC}", port: out0}}]
workers: [{RECEIVER_CORE}]
"""
    with Router(namespace, yaml) as router, sending(namespace, link):
        return rate(lambda: router.metrics().value("surety_port_tx_packets_total", port="out0"), seconds)


def freeing(namespace, link, seconds):
    with testpmd(namespace, "server", RECEIVER_CORE, link, "--forward-mode=rxonly") as process:
        tell(process, "start")

        def received():
            tell(process, "show port stats 0")
            return int(re.search(r"RX-packets: (\d+)", until(process, "RX-bytes")).group(1))
        with sending(namespace, link):
            return rate(received, seconds)


def row(name, rates):
    print(f"{name:16} {statistics.median(rates) / 1e6:6.1f} Mpps  ({min(rates) / 1e6:.1f} ... {max(rates) / 1e6:.1f})")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repetitions", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=2)
    options = arguments.parse_args()
    ours, theirs = [], []
    namespace = Namespace("memif")
    with contextlib.ExitStack() as stack:
        stack.callback(namespace.remove)
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="sf-"))
        for i in range(options.repetitions):
            ours.append(surety(namespace, f"{directory}/s{i}", options.seconds))
            theirs.append(freeing(namespace, f"{directory}/t{i}", options.seconds))
    row("surety routes", ours)
    row("testpmd frees", theirs)
    print(f"ratio            {statistics.median(ours) / statistics.median(theirs):6.2f}")


if __name__ == "__main__":
    main()
