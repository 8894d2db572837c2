# SPDX-License-Identifier: BSD-3-Clause
"""A router that a memif peer attacks, between two hosts whose packets it has to go on forwarding."""
import contextlib
import os
import pathlib
import select
import socket
import tempfile
import time

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from harness import Router, UdpSink, law, wait_for
from memif_peer import Client, Gone
from pair import Pair, ports

OURS, PEER = "02:00:00:00:0e:01", "02:00:00:00:0e:02"
BACK = 4  # seconds until an honest peer has the link, at most: one that broke the rules costs one
PAYLOAD = b"\xa5" * 100


def readable(fd):
    return bool(select.select([fd], [], [], 0)[0])


class Victim:
    """host a - router - host b, and a memif port that is attacked."""

    def __init__(self, role):
        self._stack = contextlib.ExitStack()
        directory = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sf-"))
        self.path = pathlib.Path(directory) / "peer.sock"
        self._pair = self._stack.enter_context(Pair())
        self.a, self._yaml, self.router = self._pair.a, ports(lan="trust: core") + f"""\
  m0: {{device: memif {self.path} {role}, addresses: [10.3.0.1/24], trust: core, mac: "{OURS}"}}
neighbors: [{{address: 10.3.0.2, mac: "{PEER}", port: m0}}]
""", None
        self.source = self.a.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sinks = {host: self._stack.enter_context(UdpSink(host, host.addresses[0], 5001)) for host in (self.a, self._pair.b)}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with self._stack, contextlib.closing(self.source):  # whatever the router's end was
            if self.router:
                self.router.__exit__(*error)

    def alive(self):
        """Running; started anew if an attack has ended it."""
        if self.router and self.router.process.poll() is not None:
            self.router.__exit__(AssertionError, None, None)
            self.router = None
        if not self.router:
            self.router = Router(self._pair.router, self._yaml).__enter__()
            self._pair.meet()
        return self

    def to_peer(self, payload=PAYLOAD):
        self.source.sendto(payload, ("10.3.0.2", 5001))

    def ends_the_link_of(self, peer):
        """While packets go there."""
        until = time.monotonic() + 10
        while not readable(peer.socket):
            assert time.monotonic() < until, "the link lasts"
            self.to_peer()
            time.sleep(0.02)
        with pytest.raises(Gone):
            while True:
                peer.hear()

    def is_unharmed(self):
        """It runs, and forwards between its other ports."""
        assert self.router.process.poll() is None, f"the router has ended: {self.router.process.returncode}\n{self.router.stderr()}"
        sink = self.sinks[self._pair.b]
        before = sink.drain()
        for _ in range(100):
            self.source.sendto(PAYLOAD, ("10.2.0.1", 5001))
        wait_for(lambda: sink.drain() == before + 100, 5)
        law(self.router.metrics())

    def up(self):
        return self.router.metrics().value("surety_port_up", port="m0") == 1

    def twin(self, *changes):
        """As its administrator, or a kernel that errs, has the device; the router has heard of it."""
        self._pair.router.ip("link", "set", "m0", *changes)
        time.sleep(1.5)  # the kernel tells of a carrier once a second

    def reaches(self, client):
        while client.receive(0.1):
            pass
        self.to_peer()
        return (client.receive(0.3) or b"").endswith(PAYLOAD)

    def exchanges_with(self, client, size=100):
        """A packet of that many bytes each way."""
        payload, sink = os.urandom(size), self.sinks[self.a]
        seen = sink.drain()
        client.transmit(bytes(Ether(src=PEER, dst=OURS) / IP(src="10.3.0.2", dst="10.1.0.1") / UDP(sport=5001, dport=5001) / payload))
        wait_for(lambda: sink.drain() > seen, 5)
        assert sink.payloads[-1] == payload

        def comes():
            """the payload comes, behind what waited for another peer, once the router routes through the port again"""
            assert not readable(client.socket), f"the link of an honest peer has ended: {self.router.stderr()}"
            self.to_peer(payload)
            return (client.receive(0.1) or b"").endswith(payload)
        try:
            wait_for(comes, 10)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.told()}") from None

    def told(self):
        """What the router and its neighbours make of it, for whoever asks why nothing comes."""
        return "\n".join(asked.stdout + asked.stderr for asked in (
            self.router.show("drops", check=False), self.router.show("ports", check=False),
            self._pair.router.run("ip", "-br", "link", check=False), self.a.namespace.run("ip", "neigh", check=False)))

    def serves_an_honest_peer(self):
        def honest():
            """an honest peer has the link"""
            with contextlib.suppress(Gone, TimeoutError, OSError), Client.to(self.path) as client:
                self.exchanges_with(client.join())
                return True
        wait_for(honest, BACK)
