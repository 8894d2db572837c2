# SPDX-License-Identifier: BSD-3-Clause
"""Pings that tell a late answer from a lost one: deploy/try's and the functional tests'."""
import contextlib
import select
import socket
import struct
import threading
import time

PATIENCE = 20  # seconds, for the last answers


def checksum(header):
    """The Internet checksum of a header whose own is zero (RFC 1071)."""
    total = sum(int.from_bytes(header[i:i + 2], "big") for i in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return (~total & 0xffff).to_bytes(2, "big")


class Pings(contextlib.AbstractContextManager):
    """`count` pings of several hosts, one each `interval` seconds, while something else happens.

    ping(8) gives up two round trips after its last request, so that a late answer counts as lost; here the last ones have PATIENCE."""

    def __init__(self, flows, count=600, interval=0.01):
        self._count, self._interval, self._end, self._id = count, interval, threading.Event(), id(self) >> 4 & 0xffff
        self._to = {self._open(host, address): (address, set()) for host, address in flows}
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @staticmethod
    def _open(host, address):
        v6 = ":" in address
        s = host.namespace.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP)
        s.connect((address, 0))
        s.setblocking(False)
        return s

    def _run(self):
        began = time.monotonic()
        for number in range(self._count):
            for s, (address, _) in self._to.items():
                request = struct.pack("!BBHHH", 128 if ":" in address else 8, 0, 0, self._id, number)
                with contextlib.suppress(OSError):  # an answer of another kind than an echo
                    s.send(request if ":" in address else request[:2] + checksum(request) + request[4:])
            self._receive_until(began + (number + 1) * self._interval)
        self._receive_until(time.monotonic() + PATIENCE)

    def _receive_until(self, deadline):
        while not self._end.is_set() and any(len(got) < self._count for _, got in self._to.values()):
            left = deadline - time.monotonic()
            for s in select.select(list(self._to), [], [], max(0.0, min(left, 0.1)))[0]:
                self._receive(s, *self._to[s])
            if left <= 0:
                return

    def _receive(self, s, address, got):
        with contextlib.suppress(OSError):
            answer = s.recv(2048)[0 if ":" in address else 20:]
            if (answer[0], int.from_bytes(answer[4:6], "big")) == (129 if ":" in address else 0, self._id):
                got.add(answer[6:8])

    def done(self):
        return not self._thread.is_alive()

    def results(self):
        """(sent, answered) of each."""
        self._thread.join()
        return [(self._count, len(got)) for _, got in self._to.values()]

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
        for s in self._to:
            s.close()
