# SPDX-License-Identifier: BSD-3-Clause
"""The least of a BGP peer (RFC 4271, RFC 4760): it opens a session and announces prefixes as fast as they are taken."""
import contextlib
import ipaddress
import socket
import struct
import threading

MARKER = b"\xff" * 16
OPEN, UPDATE, NOTIFICATION, KEEPALIVE = 1, 2, 3, 4
HOLD = 180
MOST = 4096  # bytes of a message
KEEP_EVERY = 20  # seconds


def message(kind, body=b""):
    return MARKER + struct.pack("!HB", 19 + len(body), kind) + body


def attribute(flags, kind, value):
    return struct.pack("!BBH", flags | 0x10, kind, len(value)) + value


def nlri(prefix):
    network = ipaddress.ip_network(prefix)
    return bytes([network.prefixlen]) + network.network_address.packed[:(network.prefixlen + 7) // 8]


class BgpSpeaker:
    """`namespace` has the address that the other side knows as its neighbour."""

    def __init__(self, namespace, neighbor, asn):
        self.asn = asn
        self._socket = namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.settimeout(120)
        self._socket.connect((neighbor, 179))
        self._lock = threading.Lock()
        self._up, self._ended = threading.Event(), threading.Event()
        self.error = None
        families = b"".join(bytes([2, 6, 1, 4]) + struct.pack("!HBB", afi, 0, 1) for afi in (1, 2))
        router_id = ipaddress.ip_address("192.0.2.99").packed
        self._send(OPEN, struct.pack("!BHH", 4, asn, HOLD) + router_id + bytes([len(families)]) + families)
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._receive, self._keep)]
        for t in self._threads:
            t.start()
        assert self._up.wait(120), f"no session: {self.error}"

    def _send(self, kind, body=b""):
        with self._lock:
            self._socket.sendall(message(kind, body))

    def _receive(self):
        with contextlib.suppress(OSError, ValueError), self._socket.makefile("rb") as stream:
            while header := stream.read(19):
                length, kind = struct.unpack("!HB", header[16:])
                body = stream.read(length - 19)
                if kind == OPEN:
                    self._send(KEEPALIVE)
                elif kind == NOTIFICATION:
                    self.error = body
                    return
                else:
                    self._up.set()

    def _keep(self):
        with contextlib.suppress(OSError):
            while not self._ended.wait(KEEP_EVERY):
                self._send(KEEPALIVE)

    def announce(self, prefixes, next_hop):
        """All through one next hop, in as few messages as they fit."""
        v6 = ":" in next_hop
        via = ipaddress.ip_address(next_hop).packed
        path = attribute(0x40, 1, b"\0") + attribute(0x40, 2, struct.pack("!BBH", 2, 1, self.asn))
        room = MOST - 19 - 4 - len(path) - 32
        parts, size = [], 0
        for one in map(nlri, prefixes):
            if size + len(one) > room:
                self._update(path, via, v6, b"".join(parts))
                parts, size = [], 0
            parts.append(one)
            size += len(one)
        self._update(path, via, v6, b"".join(parts))

    def _update(self, path, via, v6, routes):
        if v6:
            attributes = path + attribute(0x80, 14, struct.pack("!HBB", 2, 1, len(via)) + via + b"\0" + routes)
            routes = b""
        else:
            attributes = path + attribute(0x40, 3, via)
        self._send(UPDATE, struct.pack("!HH", 0, len(attributes)) + attributes + routes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for t in self._threads:
            t.join(5)
