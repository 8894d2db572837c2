#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast `surety run` forwards over af_xdp on veth, beside dpdk-testpmd's io forwarding on the same veths.

As root: af_xdp_vs_testpmd.py [--repetitions 5] [--seconds 2]. One host sends 60-byte UDP frames as fast as it may from
core 0, the forwarder polls on core 1, what arrives at the other host is counted. The two take turns. Prints the rate of
each in packets per second (median, minimum, maximum) and the ratio; exit status 1 when it is below the target.
"""
import argparse
import contextlib
import ctypes
import multiprocessing
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "functional"))

from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402

from harness import Router  # noqa: E402
from pair import Pair, ports  # noqa: E402

TARGET = 0.97
BATCH, FLOWS = 64, 64
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20
FAR = "198.51.100.1"  # behind host b, which drops it
SENDER_CORE, WORKER_CORE = 0, 1


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Msghdr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("name_length", ctypes.c_uint32), ("iov", ctypes.POINTER(Iovec)),
                ("iov_count", ctypes.c_size_t), ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t),
                ("flags", ctypes.c_int)]


class Mmsghdr(ctypes.Structure):
    _fields_ = [("header", Msghdr), ("sent", ctypes.c_uint)]


def blast(host, destination_mac):
    """Sends for ever, a batch of flows per system call."""
    os.sched_setaffinity(0, {SENDER_CORE})
    with host.namespace.entered():
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.bind(("eth0", 0))
    sender.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    frames = [bytes(Ether(src=host.mac, dst=destination_mac) / IP(src="10.1.0.1", dst=FAR) /
                    UDP(sport=1024 + i % FLOWS, dport=9) / bytes(18)) for i in range(BATCH)]
    buffers = [ctypes.create_string_buffer(frame, len(frame)) for frame in frames]
    vectors = (Iovec * BATCH)(*(Iovec(ctypes.addressof(b), len(b)) for b in buffers))
    messages = (Mmsghdr * BATCH)()
    for message, vector in zip(messages, vectors):
        message.header.iov, message.header.iov_count = ctypes.pointer(vector), 1
    send = ctypes.CDLL(None).sendmmsg
    while True:
        send(sender.fileno(), messages, BATCH, 0)


@contextlib.contextmanager
def blasting(host, destination_mac):
    process = multiprocessing.Process(target=blast, args=(host, destination_mac), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def arrived(host):
    with host.namespace.entered(), open("/proc/thread-self/net/dev") as table:
        row = next(line for line in table if line.strip().startswith("eth0:"))
    return int(row.split(":")[1].split()[1])


def rate(lab, destination_mac, seconds):
    """Packets per second that arrive while the sender sends; a second to warm up comes before."""
    with blasting(lab.a, destination_mac):
        time.sleep(1)
        first, start = arrived(lab.b), time.monotonic()
        time.sleep(seconds)
        return (arrived(lab.b) - first) / (time.monotonic() - start)


def surety(lab, seconds):
    yaml = ports() + f'routes:\n  - {{to: 198.51.100.0/24, via: 10.2.0.1}}\nworkers: [{WORKER_CORE}]\n'
    with Router(lab.router, yaml):
        lab.meet()
        return rate(lab, lab.router.mac("lan0"), seconds)


@contextlib.contextmanager
def testpmd(lab):
    prefix = f"sf{os.getpid()}-testpmd"
    devices = [f"--vdev=net_af_xdp{i},iface={name}" for i, name in enumerate(("lan0", "wan0"))]
    command = ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", f"0@{SENDER_CORE},1@{WORKER_CORE}", "--no-huge", "-m", "512", "--no-pci",
               "--no-telemetry", "--file-prefix", prefix, *devices, "--", "--forward-mode=io", "--nb-cores=1",
               "--rxd=2048", "--txd=2048", "--total-num-mbufs=32768", "--no-mlockall", "--auto-start"]
    process = subprocess.Popen(lab.router.command(*command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    try:
        for line in process.stdout:
            if "Press enter to exit" in line:
                break
        else:
            raise SystemExit("dpdk-testpmd does not start")
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        shutil.rmtree(f"/run/dpdk/{prefix}", ignore_errors=True)


def io_forwarding(lab, seconds):
    with testpmd(lab):
        return rate(lab, lab.b.mac, seconds)  # the frame stays as it is, so it carries host b's address already


def row(name, rates):
    print(f"{name:8} {statistics.median(rates):10,.0f} packets/s  ({min(rates):,.0f} ... {max(rates):,.0f})")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repetitions", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=2)
    options = arguments.parse_args()
    ours, theirs = [], []
    with Pair() as lab:
        for interface in ("lan0", "wan0"):
            lab.router.ip("link", "set", interface, "up")
        for _ in range(options.repetitions):
            ours.append(surety(lab, options.seconds))
            theirs.append(io_forwarding(lab, options.seconds))
    row("surety", ours)
    row("testpmd", theirs)
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"ratio    {ratio:10.3f}  (target {TARGET})")
    return 0 if ratio >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
