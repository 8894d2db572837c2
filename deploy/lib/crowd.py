# SPDX-License-Identifier: BSD-3-Clause
"""`crowd.py send`: UDP of many, each at an even pace. `crowd.py sink`: counts what arrives, and how long it was under way.

Lines of JSON on the standard input, each answered. To the sender: ["flow", LABEL, NAMESPACE, SOURCE or null, DESTINATION, PORT,
MBITS, BYTES, TOS] begins one (packets of 1000 bytes and TOS 0, if nothing else is said; the IP header's among the bytes), ["end",
LABEL] ends it, ["counts"] says when it was asked (seconds of the monotonic clock) and how many packets each has sent. To the sink:
["listen", LABEL or null, NAMESPACE, PORT, TIMED], ["counts"]: when, and packets by label, or by source where that is null; ["delays", LABEL]:
milliseconds of its packets since it was asked last, if timed."""
import contextlib
import heapq
import itertools
import json
import select
import socket
import struct
import sys
import time

from namespaces import Namespace

PACKET, HEADERS = 1000, 28  # IPv4 and UDP
IP_TRANSPARENT = 19  # any source address
SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
STAMP, TIMESPEC = struct.Struct("!Q"), struct.Struct("=qq")


def flow_socket(namespace, source, destination, port, tos):
    s = Namespace.called(namespace).socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    if source:
        s.setsockopt(socket.IPPROTO_IP, IP_TRANSPARENT, 1)
        s.bind((source, 0))
    s.connect((destination, port))
    s.setblocking(False)
    return s


class Crowd:
    def __init__(self):
        self._due = []  # (when, number, label)
        self._flows = {}  # label: number, socket, seconds between packets, what follows their time stamps
        self._sent = {}
        self._numbers = itertools.count()

    def flow(self, label, namespace, source, destination, port, mbits, size=PACKET, tos=0):
        number, made = next(self._numbers), flow_socket(namespace, source, destination, port, tos)
        self._flows[label] = number, made, size * 8 / (mbits * 1e6), bytes(size - HEADERS - STAMP.size)
        self._sent.setdefault(label, 0)
        heapq.heappush(self._due, (time.monotonic(), number, label))

    def end(self, label):
        self._flows.pop(label)[1].close()

    def counts(self):
        return time.monotonic(), self._sent

    def pause(self):
        """Seconds until somebody is due."""
        return max(0.0, self._due[0][0] - time.monotonic()) if self._due else 1.0

    def step(self, _=()):
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            when, number, label = self._due[0]
            if label not in self._flows or self._flows[label][0] != number:  # it has ended
                heapq.heappop(self._due)
                continue
            _, s, gap, rest = self._flows[label]
            with contextlib.suppress(OSError):  # refused, or no room
                s.send(STAMP.pack(time.time_ns()) + rest)
                self._sent[label] += 1
            heapq.heapreplace(self._due, (max(when + gap, now - 0.1), number, label))  # what a busy machine has missed is not made up for


def milliseconds(sent, arrived):
    seconds, nanoseconds = TIMESPEC.unpack(arrived)
    return (seconds * 10**9 + nanoseconds - STAMP.unpack(sent)[0]) / 1e6


class Sink:
    def __init__(self):
        self._sockets = {}  # socket: label, whether its packets are timed
        self._received, self._delays = {}, {}

    def listen(self, label, namespace, port, timed=False):
        s = Namespace.called(namespace).socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, timed)  # the kernel's: when it came, not when this program had time for it
        s.bind(("0.0.0.0", port))
        s.setblocking(False)
        self._sockets[s] = label, timed

    def files(self):
        return self._sockets

    def counts(self):
        self.step(self._sockets)
        return time.monotonic(), self._received

    def delays(self, label):
        self.step(self._sockets)
        return self._delays.pop(label, [])

    def pause(self):
        return 1.0

    def step(self, ready):
        for s in self._sockets.keys() & ready:
            label, timed = self._sockets[s]
            with contextlib.suppress(BlockingIOError):
                while True:
                    stamp, beside, _, source = s.recvmsg(STAMP.size, 64)
                    who = label or source[0]
                    self._received[who] = self._received.get(who, 0) + 1
                    if timed:
                        self._delays.setdefault(who, []).append(milliseconds(stamp, beside[0][2]))


def serve(it, words, files):
    while True:
        ready = select.select([sys.stdin, *files()], [], [], it.pause())[0]
        it.step(ready)
        if sys.stdin in ready:
            line = sys.stdin.readline()
            if not line:
                return
            word, *rest = json.loads(line)
            print(json.dumps({w: getattr(it, w) for w in words}[word](*rest)), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        serve(Crowd(), ["flow", "end", "counts"], list)
    else:
        sink = Sink()
        serve(sink, ["listen", "counts", "delays"], sink.files)
