# SPDX-License-Identifier: BSD-3-Clause
"""One trial: namespaces, router, traffic and measurements, and the way back."""
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.error

import customers
import metrics
import namespaces
import verdict

HERE = pathlib.Path(__file__).resolve().parent
READY_WITHIN = 30


class Trial:
    def __init__(self, prefix, directory, binary, qos):
        self.prefix, self.directory, self.binary, self.qos = prefix, directory, binary, qos
        self.router = None

    def namespace(self, name):
        return f"{self.prefix}-{name}"

    def log(self, name):
        return self.directory / f"{name}.log"

    def build(self):
        for name in ("router", "far", *(c.name for c in customers.EVERYBODY)):
            namespaces.create(self.namespace(name))
        for c in customers.EVERYBODY:
            namespaces.connect(self.namespace("router"), c.name, self.namespace(c.name), c.address, f"{c.subnet}.1")
        namespaces.connect(self.namespace("router"), "wan", self.namespace("far"), customers.FAR, "10.20.0.1")

    def start_router(self):
        file = self.directory / "router.yaml"
        file.write_text(customers.router_yaml(self.prefix, self.qos))
        self.router = self._start("router", [str(self.binary), "run", str(file)])
        namespaces.prefer(self.router)  # at once: the threads it starts inherit that
        deadline = time.monotonic() + READY_WITHIN
        while self._scrape_or_none() is None:
            if self.router.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the router does not run; it said:\n{self.log('router').read_text()}")
            time.sleep(0.1)

    def start_customers(self):
        for c in customers.CUSTOMERS:
            self._start("far", ["iperf3", "-s", "-p", str(c.tcp_port)], f"server-{c.name}")
        self._wait(lambda: self._listening() >= {c.tcp_port for c in customers.CUSTOMERS}, "iperf3 does not listen")
        for c in customers.CUSTOMERS:
            self._start(c.name, ["iperf3", "-c", customers.FAR, "-p", str(c.tcp_port), "-C", c.congestion_control,
                                 "-t", "0", "--forceflush"])
        # More than the few bytes of iperf3's own greeting: the transfer has begun.
        self._wait(lambda: min(self.goodput().values()) > 100_000, "no TCP connection gets through the router")

    def start_flood(self):
        python = ["/usr/bin/python3", str(HERE / "flood.py")]
        self._start("far", [*python, "sink", str(self.directory / "flood.bytes")], "sink")
        self._start("flood", [*python, "send", customers.FAR, str(customers.FLOOD_MBITS)])

    def goodput(self):
        """Bytes received in order on the far side, by customer."""
        text = namespaces.sh("ip", "netns", "exec", self.namespace("far"), "ss", "-tinH", "state", "established")
        received = {c.name: 0 for c in customers.CUSTOMERS}
        by_port = {c.tcp_port: c.name for c in customers.CUSTOMERS}
        for port, rest in re.findall(r":(52\d\d)\s+\S+:\d+.*\n(.*)", text):
            if found := re.search(r"bytes_received:(\d+)", rest):
                received[by_port[int(port)]] += int(found[1])
        return received

    def scrape(self):
        return namespaces.inside(self.namespace("router"), metrics.scrape)

    def measure(self):
        """A sample and the metrics it was made from."""
        m = self.scrape()
        by_precedence = [{c.name: m.service_bytes(c.name, p) for c in customers.CUSTOMERS} for p in ("in", "out")]
        counted = self.directory / "flood.bytes"
        flood = int(counted.read_text() or 0) if counted.exists() else 0
        carried = m.total("surety_queue_departed_bytes_total", port="wan")
        got = {name: verdict.ip_bytes(payload) for name, payload in self.goodput().items()}
        return verdict.Sample(m.at, got, *by_precedence, m.lost_in_packets(), carried, flood), m

    def stop_router(self):
        """SIGTERM; True when the router ended by itself and content."""
        if self.router is None or self.router.poll() is not None:
            return False
        self.router.terminate()
        try:
            return self.router.wait(10) == 0
        except subprocess.TimeoutExpired:
            return False

    def remove(self):
        remove(self.prefix)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start(self, name, command, log=None):
        return namespaces.start(self.namespace(name), command, self.log(log or name))

    def _scrape_or_none(self):
        try:
            return self.scrape()
        except (OSError, urllib.error.URLError):
            return None

    def _listening(self):
        text = namespaces.sh("ip", "netns", "exec", self.namespace("far"), "ss", "-tlnH")
        return {int(port) for port in re.findall(r":(\d+)\s", text)}

    def _wait(self, condition, otherwise):
        deadline = time.monotonic() + READY_WITHIN
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{otherwise}; the router said:\n{self.log('router').read_text()}")
            time.sleep(0.1)


def remove(prefix):
    """Ends what runs in a trial's namespaces and removes them, whoever left them."""
    names = namespaces.with_prefix(prefix)
    if names and not namespaces.end_processes(names):
        print(f"{prefix}: something had to be killed", file=sys.stderr)
    namespaces.remove(names)
