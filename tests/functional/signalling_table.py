#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""CSA's Table 3 on the wire: two `surety` processes, the kernel's TCP, signals off, observed and acted upon.

signalling_table.py [--case D] [--seconds 60] [--modes off observe act]: needs root and iperf3. As the paper has it: assured
flows of 1600 and 400 kbit/s behind a border router, best-effort flows behind another one, 30.792 Mbit/s of 576-byte IP
packets from the border to the core and out of it, access at 2 Mbit/s, Reno with 64 KB windows. The round-trip time is not
the paper's to say: 20 ms by default. Rates are of IP packets as they reach the sink, after a warm-up; RoS is the mean over a
class's flows of min(1, IN rate / contracted rate).
"""
import argparse
import contextlib
import pathlib
import struct
import subprocess
import tempfile
import time

from border_core import SINK, BorderCore, received, sent
from endpoint import Network

CASES = {"A": (5, 5, 10), "B": (13, 12, 10), "C": (5, 5, 40), "D": (13, 12, 40)}
# kbit/s and RoS of the two assured classes, kbit/s of best effort: off, on.
PAPER = {"A": ((1945.3, 97.5, 554.7, 99.2, 1216.5), (1965.2, 98.5, 548.1, 99.7, 1237.5)),
         "B": ((1574.8, 93.2, 428.4, 97.9, 297.1), (1639.2, 99.5, 408.35, 99.7, 271.1)),
         "C": ((1683.4, 86.8, 531.2, 95.8, 397.7), (1631.4, 97.6, 410.5, 98.9, 415.7)),
         "D": ((1330.3, 72.4, 456.1, 83.9, 157.7), (1623.6, 98.7, 408.3, 99.8, 59.1))}
CLASSES = ("AF_PHB_1", "AF_PHB_3", "BE")
RATES = (1600e3, 400e3, None)
PORTS = (5201, 5203, 5209)
AF21, SEGMENT = 18, 536
CONTRACTS = 20  # of each class: one for each flow, iperf3's control connection and `meet`


class Flow:
    def __init__(self):
        self.bytes = self.inside = 0


def flows_in(pcap, begin, end):
    """By (source, port, port): what arrived between two times of day."""
    flows = {}
    with open(pcap, "rb") as file:
        file.read(24)
        while len(header := file.read(16)) == 16:
            seconds, micro, kept, _ = struct.unpack("<IIII", header)
            frame = file.read(kept)
            if not begin <= seconds + micro * 1e-6 < end or len(frame) < 38 or frame[12:14] != b"\x08\x00" or frame[23] != 6:
                continue
            length = int.from_bytes(frame[16:18], "big")
            flow = flows.setdefault(frame[26:30] + frame[34:38], Flow())
            flow.bytes += length
            if frame[15] >> 2 == AF21:
                flow.inside += length
    return flows


@contextlib.contextmanager
def iperf(lab, counts, seconds, window):
    """Servers at the sink, and clients of all three classes; leaving it ends them."""
    with contextlib.ExitStack() as stack:
        def start(namespace, *words):
            process = subprocess.Popen(namespace.command("iperf3", *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        for port in PORTS:
            start(lab.sink.namespace, "-s", "-p", port)
        time.sleep(0.5)
        for host, count, port in zip((lab.af1, lab.af3, lab.be), counts, PORTS):
            start(host.namespace, "-c", SINK, "-p", port, "-P", count, "-C", "reno", "-M", SEGMENT, "-w", window,
                  "--fq-rate", "2M", "-t", seconds)
        yield


@contextlib.contextmanager
def capture(lab, path):
    process = subprocess.Popen(lab.sink.namespace.command("tcpdump", "-i", "eth0", "-s", "64", "-B", "8192", "-w", path, "tcp"),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def alpha_of(border):
    """What the assured flows live by: the least of the uplink's domain and, where signals are acted upon, of the path."""
    return border.value("surety_csa_alpha_ratio", domain="uplink/assured"), min(
        (value for _, value in border.select("surety_csa_path_alpha_ratio")), default=None)


def measure(lab, mode, counts, seconds, warm_up=10, window="64K"):
    with contextlib.ExitStack() as stack:
        core = stack.enter_context(lab.core("off" if mode == "off" else "act"))
        border = stack.enter_context(lab.border(mode))
        lab.meet()
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        pcap = pathlib.Path(directory) / "sink.pcap"
        alphas = []
        with capture(lab, pcap), iperf(lab, counts, warm_up + seconds + 5, window):
            time.sleep(warm_up)
            begin = time.time()
            while time.time() < begin + seconds:
                alphas.append(alpha_of(border.metrics()))
                time.sleep(0.5)
            end = time.time()
            shown = [(r.name, r.show("signalling").stdout) for r in (border, core)]
        signals = sent(core.metrics()), received(border.metrics())
        return flows_in(pcap, begin, end), end - begin, alphas, signals, shown


def rows(flows, seconds, counts):
    for name, rate, port, count in zip(CLASSES, RATES, PORTS, counts):
        # The control connection of iperf3 goes to the same port, but sends next to nothing.
        found = sorted((f for key, f in flows.items() if int.from_bytes(key[6:8], "big") == port), key=lambda f: -f.bytes)[:count]
        throughput = sum(f.bytes for f in found) * 8 / seconds / count
        ros = sum(min(1.0, f.inside * 8 / seconds / rate) for f in found) / count if rate else None
        yield name, count, throughput / 1000, None if ros is None else 100 * ros


def mean(values):
    values = [v for v in values if v is not None]
    return f"{sum(values) / len(values):.3f}" if values else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES, default="D")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--modes", nargs="+", choices=("off", "observe", "act"), default=["off", "observe", "act"])
    parser.add_argument("--rtt", type=int, default=20, help="ms")
    parser.add_argument("--control", choices=("search", "paper"), default="search", help="of alpha")
    parser.add_argument("--backlog", action="store_true", help="out_from_backlog: on")
    parser.add_argument("--warm-up", type=int, default=10, help="s")
    parser.add_argument("--window", default="64K", help="of TCP")
    parser.add_argument("--show", action="store_true", help="`surety show signalling` of both routers, too")
    arguments = parser.parse_args()
    counts, paper = CASES[arguments.case], PAPER[arguments.case]
    print(f"CSA Table 3, case {arguments.case}, {arguments.seconds} s, RTT {arguments.rtt} ms, control: {arguments.control}, "
          f"out_from_backlog: {arguments.backlog}")
    print(f"{'signals':8} {'class':9} {'flows':>5} {'kbit/s':>8} {'paper':>8} {'RoS %':>6} {'paper':>6}")
    with Network() as network:
        def far(*ends):
            network.impaired(*ends, "--delay", f"{arguments.rtt / 2}ms")

        with BorderCore(control=arguments.control, backlog=arguments.backlog, contracts=CONTRACTS, out_link=far) as lab:
            for host in (lab.af1, lab.af3, lab.be, lab.sink):
                host.namespace.run("sysctl", "-q", "net.ipv4.tcp_timestamps=0", "net.ipv4.tcp_sack=0")
            for mode in arguments.modes:
                flows, seconds, alphas, (out, came), shown = measure(lab, mode, counts, arguments.seconds, arguments.warm_up, arguments.window)
                theirs = paper[mode == "act"]
                for (name, count, kbps, ros), kbps_paper, ros_paper in zip(
                        rows(flows, seconds, counts), theirs[::2], (theirs[1], theirs[3], None)):
                    shares = f"{ros:6.1f} {ros_paper:6.1f}" if ros is not None else ""
                    print(f"{mode:8} {name:9} {count:5} {kbps:8.1f} {kbps_paper:8.1f} {shares}".rstrip(), flush=True)
                local, path = mean(a for a, _ in alphas), mean(b for _, b in alphas)
                print(f"{'':8} alpha: border's queue {local}, path {path}; signals: {out} sent, {came or 'none'} at the border")
                if arguments.show:
                    for name, text in shown:
                        print(f"\n{name}:\n{text}")


if __name__ == "__main__":
    main()
