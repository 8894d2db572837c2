# SPDX-License-Identifier: BSD-3-Clause
"""Real traffic between hosts: TCP through the kernel's own stacks, UDP at a given rate."""
import contextlib
import socket
import struct
import threading
import time

from frames import SO_RCVBUFFORCE
from router import Lateness, wait_for

FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
CHUNK = bytes(65536)


class TcpTransfer:
    """One TCP connection that sends as fast as it may, until stopped."""

    def __init__(self, source, destination, port, family=4, congestion="cubic", address=None, bind=None, traffic_class=0):
        self.received = 0
        self._stop = threading.Event()
        to = address or destination.address(family)
        self._server = destination.namespace.socket(FAMILY[family], socket.SOCK_STREAM)
        self._server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._server.bind((to, port))
        self._server.listen(1)
        self._server.settimeout(120)
        self._client = source.namespace.socket(FAMILY[family], socket.SOCK_STREAM)
        self._client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        if traffic_class:
            self._client.setsockopt(*((socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if family == 6 else (socket.IPPROTO_IP, socket.IP_TOS)), traffic_class)
        self._client.settimeout(120)
        if bind:
            self._client.bind((bind, 0))
        self._client.connect((to, port))
        self._peer, _ = self._server.accept()
        self._peer.settimeout(120)
        self._threads = [threading.Thread(target=self._send, daemon=True),
                         threading.Thread(target=self._receive, daemon=True)]
        for thread in self._threads:
            thread.start()

    def _send(self):
        with contextlib.suppress(OSError):
            while not self._stop.is_set():
                self._client.send(CHUNK)
            self._client.shutdown(socket.SHUT_WR)

    def _receive(self):
        with contextlib.suppress(OSError):
            while data := self._peer.recv(1 << 20):
                self.received += len(data)

    def stop(self):
        """Ends the connection in order; all that was sent has been received."""
        self._stop.set()
        return self._end()

    def abort(self):
        """Ends it at once: what is still in the sender's buffer is never sent."""
        self._stop.set()
        for s in (self._client, self._peer):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError):  # the other end was quicker
                s.shutdown(socket.SHUT_RDWR)
        return self._end()

    def _end(self):
        for thread in self._threads:
            thread.join(60)
        alive = any(thread.is_alive() for thread in self._threads)
        for s in (self._client, self._peer, self._server):
            s.close()
        assert not alive, "the TCP connection does not end"
        return self.received

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def transfer(source, destination, port, seconds, enough, **options):
    """Bytes that one connection brought over in so many seconds; it ends sooner when they are enough, later by the time that others had the core."""
    with TcpTransfer(source, destination, port, **options) as connection:
        began, late = time.monotonic(), Lateness()
        while connection.received < enough and ((took := time.monotonic() - began) < seconds or took < seconds + late.seconds()):
            time.sleep(0.01)
    return connection.received


class UdpSink:
    def __init__(self, host, address, port):
        family = 6 if ":" in address else 4
        self.socket = host.namespace.socket(FAMILY[family], socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        self.socket.bind((address, port))
        self.socket.settimeout(0)
        self.payloads = []

    def drain(self):
        """Takes in the payloads that have arrived, in order; how many there have been."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self.payloads.append(self.socket.recv(65536))
        return len(self.payloads)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class UdpSource:
    def __init__(self, host, address, port, traffic_class=0, bind=None):
        v6 = ":" in address
        self.socket = host.namespace.socket(FAMILY[6 if v6 else 4], socket.SOCK_DGRAM)
        if v6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, traffic_class)
        else:
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, traffic_class)
        if bind:
            self.socket.bind(bind)
        self._to = (address, port)

    def send(self, payload):
        self.socket.sendto(payload, self._to)

    def pace(self, payload, packets_per_second, packets):
        """Sends at an even pace; returns the seconds from the first packet to the last."""
        start = time.monotonic()
        for i in range(packets):
            ahead = start + i / packets_per_second - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
            self.socket.sendto(payload, self._to)
        return time.monotonic() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class UdpStream:
    """UDP at an even pace, in a thread, until it is left: what was sent (`sent`), and the rate of what arrives."""

    def __init__(self, source, sink, address, packets_per_second, size=972, bind=None):
        self.sink = UdpSink(sink, address, 4100)
        self._source = UdpSource(source, address, 4100, bind=(bind, 0) if bind else None)
        self._pace, self._size = packets_per_second, size
        self._done, self._thread = threading.Event(), threading.Thread(target=self._send)
        self._count, self._at, self.sent = 0, time.monotonic(), 0

    def _send(self):
        portion = max(1, int(self._pace / 12))
        while not self._done.is_set():
            self._source.pace(bytes(self._size), self._pace, portion)
            self.sent += portion

    def rate(self):
        """Bytes of IP packets a second, since the last call."""
        count, now = self.sink.drain(), time.monotonic()
        rate = (count - self._count) * (self._size + 28) / (now - self._at)
        self._count, self._at = count, now
        return rate

    def stop(self):
        """Stops sending; what is on its way still arrives."""
        self._done.set()
        self._thread.join()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stop()
        for end in (self.sink, self._source):
            end.__exit__()


def udp_in_order(source, destination, family, packets=5000):
    """Datagrams of all sizes, as sent and as received; in portions for which no queue on the way has to be deep."""
    address = destination.address(family)
    sent = [i.to_bytes(4, "big") + bytes(i % 1400) for i in range(packets)]
    with UdpSink(destination, address, 4000) as sink, UdpSource(source, address, 4000) as sender:
        for begin in range(0, packets, 50):
            for payload in sent[begin:begin + 50]:
                sender.send(payload)
            wait_for(lambda: sink.drain() >= begin + 50)
        return sent, sink.payloads
