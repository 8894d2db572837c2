# SPDX-License-Identifier: BSD-3-Clause
"""One trial: namespaces, router, traffic and measurements, and the way back."""
import pathlib
import re
import shutil
import subprocess
import sys
import time

import customers
import metrics
import namespaces
import verdict
from namespaces import Host, Namespace

HERE = pathlib.Path(__file__).resolve().parent
READY_WITHIN = 30


class Trial:
    def __init__(self, prefix, directory, binary, qos):
        self.prefix, self.directory, self.binary, self.qos = prefix, directory, binary, qos
        self.namespaces, self.router = {}, None

    def namespace(self, name):
        return f"{self.prefix}-{name}"

    def log(self, name):
        return self.directory / f"{name}.log"

    def build(self):
        def host(name, port, address, gateway):
            self.namespaces[name] = Host(name, self.namespaces["router"], port, [f"{address}/24"], [gateway], self.prefix).namespace
        self.namespaces["router"] = Namespace("router", self.prefix)
        for c in customers.EVERYBODY:
            host(c.name, c.name, c.address, f"{c.subnet}.1")
        host("far", "wan", customers.FAR, "10.20.0.1")

    def yaml(self):
        return customers.router_yaml(self.prefix, self.qos)

    def start_router(self):
        file = self.directory / "router.yaml"
        file.write_text(self.yaml())
        self.router = self._start("router", ["env", f"SURETY_STATE={self.directory}", str(self.binary), "run", str(file)])  # nothing of it stays
        namespaces.prefer(self.router.pid)  # at once: the threads it starts inherit that
        deadline = time.monotonic() + READY_WITHIN
        while self._scrape_or_none() is None:
            if self.router.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the router does not run; its log:\n{self.log('router').read_text()}")
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
        text = self.namespaces["far"].run("ss", "-tinH", "state", "established").stdout
        received = {c.name: 0 for c in customers.CUSTOMERS}
        by_port = {c.tcp_port: c.name for c in customers.CUSTOMERS}
        for port, rest in re.findall(r":(52\d\d)\s+\S+:\d+.*\n(.*)", text):
            if found := re.search(r"bytes_received:(\d+)", rest):
                received[by_port[int(port)]] += int(found[1])
        return received

    def scrape(self):
        return metrics.scrape(self.namespaces["router"])

    def measure(self):
        """A sample and the metrics it was made from."""
        m = self.scrape()
        by_precedence = [{c.name: m.service_bytes(c.name, p) for c in customers.CUSTOMERS} for p in ("in", "out")]
        counted = self.directory / "flood.bytes"
        flood = int(counted.read_text() or 0) if counted.exists() else 0
        carried = m.sum("surety_queue_departed_bytes_total", port="wan")
        got = {name: verdict.ip_bytes(payload) for name, payload in self.goodput().items()}
        seconds = {c.name: tuple(m.sum(f"surety_service_{kind}_seconds_total", service=c.name) for kind in ("demanding", "met"))
                   for c in customers.CUSTOMERS}
        return verdict.Sample(m.at, got, *by_precedence, m.lost_in_packets(), carried, flood, seconds), m

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
        if not namespaces.remove(self.prefix):
            print(f"{self.prefix}: some processes had to be killed", file=sys.stderr)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start(self, name, command, log=None):
        return self.namespaces[name].start(command, self.log(log or name))

    def _scrape_or_none(self):
        try:
            return self.scrape()
        except OSError:
            return None

    def _listening(self):
        text = self.namespaces["far"].run("ss", "-tlnH").stdout
        return {int(port) for port in re.findall(r":(\d+)\s", text)}

    def _wait(self, condition, otherwise):
        deadline = time.monotonic() + READY_WITHIN
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{otherwise}; the log of the router:\n{self.log('router').read_text()}")
            time.sleep(0.1)
