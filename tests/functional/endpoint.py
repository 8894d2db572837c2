# SPDX-License-Identifier: BSD-3-Clause
"""A running `surety-endpoint run`, and the networks that endpoint tests need: namespaces with impaired links."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading

from namespaces import Namespace, connect
from router import ROOT, START, STOP, wait_for

BUILD = ROOT / "build/release/bin"
ENDPOINT = pathlib.Path(os.environ.get("SURETY_ENDPOINT", BUILD / "surety-endpoint"))
IMPAIR = BUILD / "impair"
DEFAULTS = {"dpdk": "{hugepages: off}"}


class Endpoint:
    """`Endpoint(namespace, yaml).start()`; yaml without `version`. result() waits for its end and returns the report."""

    def __init__(self, namespace, yaml, *arguments):
        self.namespace = namespace
        self._directory = tempfile.TemporaryDirectory(prefix="sf-")
        directory = pathlib.Path(self._directory.name)
        self.path, self._json, self._out = (directory / f for f in ("endpoints.yaml", "report.json", "out"))
        more = "".join(f"{key}: {value}\n" for key, value in DEFAULTS.items() if f"{key}:" not in yaml)
        self.path.write_text(f"version: 1\n{yaml}{more}")
        self._arguments = arguments
        self.process = None
        self.report = None

    def start(self):
        with open(self._out, "w") as out:
            self.process = subprocess.Popen(
                self.namespace.command(ENDPOINT, "run", self.path, "--json", self._json, *self._arguments),
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, text=True)
        return self

    def output(self):
        return self._out.read_text()

    def result(self, patience, statuses=(0,)):
        """The report of a run that ends by itself."""
        try:
            status = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end within {patience} s\n{self.output()}") from None
        assert status in statuses, f"exit status {status}\n{self.output()}"
        self.report = json.loads(self._json.read_text())
        self.report["status"] = status
        return self.report

    def stop(self, statuses=(0,)):
        """The report of a run that is told to end."""
        self.process.send_signal(signal.SIGTERM)
        return self.result(STOP, statuses)

    def started(self):
        """Starts it and waits until its ports are up: it answers to ARP from then on."""
        self.start()
        def ready():
            """the endpoint has started"""
            assert self.process.poll() is None, f"surety-endpoint ended: {self.process.returncode}\n{self.output()}"
            return "started" in self.output()
        wait_for(ready, START)
        return self

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._directory.cleanup()


def flow(report, name, where="flows"):
    found = [f for f in report[where] if f["name"] == name]
    assert len(found) == 1, f"{len(found)} flows called {name} in {report}"
    return found[0]


class Network:
    """Namespaces and what runs in them; leaving it removes all."""

    def __init__(self):
        self._namespaces, self._impairs, self._threads = [], [], []

    def namespace(self, label):
        self._namespaces.append(Namespace(label))
        return self._namespaces[-1]

    def impaired(self, a, a_interface, b, b_interface, *options):
        """Connects two namespaces through a bad network (impair.cc)."""
        between = self.namespace("x")
        connect(a, a_interface, between, "left")
        connect(between, "right", b, b_interface)
        process = subprocess.Popen(between.command(IMPAIR, "left", "right", *options), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True)
        self._impairs.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._impairs:
            process.terminate()
        for process in self._impairs:
            process.wait(STOP)
            process.stdout.close()
        for namespace in self._namespaces:
            namespace.remove()


class PatternReceiver(threading.Thread):
    """A plain TCP receiver on the kernel's own stack: counts the bytes of one connection and compares each of them with what
    our senders send (endpoints/tcp/wire_tcp.h)."""

    def __init__(self, namespace, address, port, pattern):
        super().__init__(daemon=True)
        self.received, self.wrong, self.ended = 0, 0, False
        self._pattern = pattern
        self._server = namespace.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        self._server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._server.bind((address, port))
        self._server.listen(1)
        self.start()

    def run(self):
        connection, _ = self._server.accept()
        doubled = self._pattern * 3
        room = bytearray(2 * len(self._pattern))
        with connection:
            while n := connection.recv_into(room):
                at = self.received % len(self._pattern)
                if room[:n] != doubled[at:at + n]:
                    self.wrong += sum(x != y for x, y in zip(room[:n], doubled[at:at + n]))
                self.received += n
        self.ended = True

    def close(self):
        self._server.close()
