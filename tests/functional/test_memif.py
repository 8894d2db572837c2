# SPDX-License-Identifier: BSD-3-Clause
"""memif: two routers on one machine, in every order of starting and dying, and endpoints joined by it."""
import contextlib
import pathlib
import signal
import socket
import struct
import tempfile
import threading
import time

import pytest

from endpoint import Endpoint, flow
from harness import Lab, Router, UdpSink, law, wait_for
from namespaces import Namespace
from router import START

EDGE_MAC, CORE_MAC = "02:00:00:00:0e:01", "02:00:00:00:0c:01"
BACK = 2  # seconds until traffic flows again, at most
RATE = 500  # packets per second


class Chain(contextlib.AbstractContextManager):
    """host a - edge (memif server) - core (memif client) - host b; routers come and go."""

    def __init__(self):
        self._stack = contextlib.ExitStack()
        directory = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sf-"))
        self.socket = pathlib.Path(directory) / "edge-core.sock"
        west, east = (self._stack.enter_context(Lab()) for _ in "we")
        self.a = west.host("a", "lan0", ["10.1.0.1/24"], ["10.1.0.254"])
        self.b = east.host("b", "wan0", ["10.2.0.1/24"], ["10.2.0.254"])
        self._namespaces = {"edge": west.router, "core": east.router}
        self._running = {}

    def yaml(self, name):
        if name == "edge":
            return f"""ports:
  lan0: {{device: af_xdp lan0, addresses: [10.1.0.254/24], trust: core}}
  core0: {{device: memif {self.socket} server, addresses: [10.3.0.1/24], trust: core, mac: "{EDGE_MAC}"}}
routes: [{{to: 10.2.0.0/24, via: 10.3.0.2}}]
neighbors: [{{address: 10.3.0.2, mac: "{CORE_MAC}", port: core0}}]
"""
        return f"""ports:
  in0: {{device: memif {self.socket} client, addresses: [10.3.0.2/24], trust: core, mac: "{CORE_MAC}"}}
  wan0: {{device: af_xdp wan0, addresses: [10.2.0.254/24], trust: core}}
routes: [{{to: 10.1.0.0/24, via: 10.3.0.1}}]
neighbors: [{{address: 10.3.0.1, mac: "{EDGE_MAC}", port: in0}}]
"""

    def start(self, name):
        self._running[name] = router = Router(self._namespaces[name], self.yaml(name))
        return router.__enter__()

    def stop(self, name):
        self._running.pop(name).__exit__(None, None, None)

    def kill(self, name):
        """As the kernel kills it: nothing is cleaned up."""
        router = self._running.pop(name)
        router.process.send_signal(signal.SIGKILL)
        router.process.wait(START)
        router.__exit__(AssertionError, None, None)

    def __exit__(self, *error):
        for name in list(self._running):
            self._running[name].__exit__(AssertionError, None, None)
        return self._stack.__exit__(*error)


class Stream:
    """Numbered packets from host a to host b for as long as it lasts; when each arrived."""

    def __init__(self, chain):
        self._sink = UdpSink(chain.b, "10.2.0.1", 5001)
        self._sink.socket.settimeout(0.1)
        self._source = chain.a.namespace.socket(2, 2)  # AF_INET, SOCK_DGRAM
        self.sent, self.arrivals = 0, []  # (time, number)
        self._over = threading.Event()
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._send, self._receive)]

    def _send(self):
        while not self._over.wait(1 / RATE):
            with contextlib.suppress(OSError):  # no route while the kernel resolves
                self._source.sendto(self.sent.to_bytes(8, "big"), ("10.2.0.1", 5001))
                self.sent += 1

    def _receive(self):
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                self.arrivals.append((int.from_bytes(self._sink.socket.recv(64), "big"), time.monotonic()))

    def flows_within(self, patience):
        """How long until packets arrive that were sent after now."""
        begin, first = time.monotonic(), self.sent
        wait_for(lambda: any(number > first for number, _ in self.arrivals[-1:]), patience)
        return time.monotonic() - begin

    def stands_still(self):
        """Nothing has arrived for a while."""
        last = self.arrivals[-1][1] if self.arrivals else 0
        return time.monotonic() - last > 0.3

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join(5)
        self._sink.socket.close()
        self._source.close()


OTHER = {"edge": "core", "core": "edge"}


@pytest.mark.parametrize("first", ["edge", "core"])
def test_connects_in_either_order(first):
    with Chain() as chain, Stream(chain) as stream:
        chain.start(first)
        assert not stream.arrivals
        chain.start(OTHER[first])
        stream.flows_within(BACK)
        assert [n for n, _ in stream.arrivals] == sorted(n for n, _ in stream.arrivals)


@pytest.mark.parametrize("how", ["stop", "kill"])
@pytest.mark.parametrize("victim", ["edge", "core"])
def test_connects_again_when_one_side_comes_back(victim, how):
    with Chain() as chain, Stream(chain) as stream:
        survivor = chain.start(OTHER[victim])
        for _ in range(2):
            chain.start(victim)
            stream.flows_within(BACK)
            getattr(chain, how)(victim)
            wait_for(stream.stands_still)
            law(survivor.metrics())
        chain.start(victim)
        stream.flows_within(BACK)
        law(survivor.metrics())
    # The chain is gone, and nothing of it is left to say that somebody serves the socket.
    assert not chain.socket.exists()


def test_loses_nothing_while_both_sides_live():
    with Chain() as chain:
        edge, core = chain.start("edge"), chain.start("core")
        with Stream(chain) as stream:
            stream.flows_within(BACK)
            first = len(stream.arrivals)
            wait_for(lambda: len(stream.arrivals) > first + 4 * RATE)
            numbers = [n for n, _ in stream.arrivals[first:]]
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        left, entered = edge.settle(), core.settle()
        sent = left.value("surety_port_tx_packets_total", port="core0")
        assert entered.value("surety_port_rx_packets_total", port="in0") == sent


def test_a_socket_that_is_served_is_not_taken_over():
    with Chain() as chain:
        chain.start("edge")
        namespace = Namespace("second")
        try:
            second = Router(namespace, f"""ports:
  p0: {{device: memif {chain.socket} server, addresses: [10.3.0.9/24], trust: core}}
metrics: {{listen: off}}
""")
            status, said = second.fails()
            assert status != 0
            assert f"port p0: another process serves {chain.socket}" in said
        finally:
            namespace.remove()
        core = chain.start("core")  # the first one has not lost it
        wait_for(lambda: core.metrics().value("surety_port_up", port="in0") == 1, BACK)


def visit(path, *messages):
    """Connects to a memif server, says what is to be said, and leaves."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as visitor:
        visitor.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 5, 0))  # its queue holds two
        visitor.connect(str(path))
        for message in messages:
            with contextlib.suppress(OSError):
                visitor.send(message)


def open_files(router):
    return len(list(pathlib.Path(f"/proc/{router.process.pid}/fd").iterdir()))


@pytest.mark.parametrize("messages", [(), (b"?",), (bytes(128),), (b"\xff" * 128,), (bytes(64), bytes(128))],
                         ids=["silent", "short", "zeros", "ones", "several"])
def test_whoever_connects_and_leaves_at_once_does_no_harm(messages):
    with Chain() as chain:
        edge = chain.start("edge")
        before = open_files(edge)
        for i in range(100):
            visit(chain.socket, *messages)
            time.sleep(i % 10 / 1000)
        assert edge.process.poll() is None, edge.stderr()
        wait_for(lambda: open_files(edge) <= before)  # a scrape may have been open
        core = chain.start("core")
        wait_for(lambda: core.metrics().value("surety_port_up", port="in0") == 1, BACK)
        for _ in range(100):
            visit(chain.socket, *messages)
        with Stream(chain) as stream:
            stream.flows_within(BACK)


def endpoints(stack):
    """A sender that serves a memif socket, a sink that is its client, and the socket."""
    namespace = Namespace("e")
    stack.callback(namespace.remove)
    path = stack.enter_context(tempfile.TemporaryDirectory(prefix="sf-")) + "/ab.sock"
    sender = Endpoint(namespace, f"""ports:
  p0: {{device: memif {path} server, addresses: [10.1.0.1/24]}}
senders:
  - {{name: bulk, port: p0, protocol: newreno, to: "10.1.0.2:5001", window: 1 MB, bytes: 20 MB}}
""")
    sink = Endpoint(namespace, f"""ports:
  p0: {{device: memif {path} client, addresses: [10.1.0.2/24]}}
sinks:
  - {{port: p0, listen: [tcp 5001]}}
""")
    return sender, sink, path


def test_nor_does_it_to_an_endpoint():
    with contextlib.ExitStack() as stack:
        sender, sink, path = endpoints(stack)
        stack.enter_context(sender.started())
        for _ in range(100):
            visit(path)
        stack.enter_context(sink.started())
        assert flow(sender.result(120), "bulk")["state"] == "closed"


@pytest.mark.parametrize("first", ["sender", "sink"])
def test_endpoints_talk_over_memif(first):
    with contextlib.ExitStack() as stack:
        sender, sink, _ = endpoints(stack)
        for endpoint in (sender, sink) if first == "sender" else (sink, sender):
            stack.enter_context(endpoint.started())
        bulk = flow(sender.result(120), "bulk")
        assert (bulk["state"], bulk["failure"], bulk["payload_bytes"]) == ("closed", "none", 20_000_000)
        assert sum(f["payload_bytes"] for f in sink.stop()["accepted"]) == 20_000_000
