# SPDX-License-Identifier: BSD-3-Clause
"""`crowd.py send`: UDP of many customers, each at an even pace. `crowd.py sink NAMESPACE PORT`: counts what arrives, by source.

Lines of JSON on the standard input, each answered. To the sender: ["flow", LABEL, NAMESPACE, SOURCE or null, DESTINATION, PORT,
MBITS] begins one, ["end", LABEL] ends it, ["counts"] says how many packets each has sent; to the sink: ["counts"]. Packets have
1000 bytes, those of the IP header among them."""
import contextlib
import heapq
import json
import select
import socket
import sys
import time

from namespaces import Namespace

PACKET, HEADERS = 1000, 28  # IPv4 and UDP
IP_TRANSPARENT = 19  # any source address
SO_RCVBUFFORCE = 33


def flow_socket(namespace, source, destination, port):
    s = Namespace.called(namespace).socket(socket.AF_INET, socket.SOCK_DGRAM)
    if source:
        s.setsockopt(socket.IPPROTO_IP, IP_TRANSPARENT, 1)
        s.bind((source, 0))
    s.connect((destination, port))
    s.setblocking(False)
    return s


class Crowd:
    def __init__(self):
        self._due = []  # (when, label)
        self._flows = {}  # label: socket, seconds between packets
        self._sent = {}
        self._payload = bytes(PACKET - HEADERS)

    def flow(self, label, namespace, source, destination, port, mbits):
        self._flows[label] = flow_socket(namespace, source, destination, port), PACKET * 8 / (mbits * 1e6)
        self._sent.setdefault(label, 0)
        heapq.heappush(self._due, (time.monotonic(), label))

    def end(self, label):
        self._flows.pop(label)[0].close()

    def counts(self):
        return self._sent

    def pause(self):
        """Seconds until somebody is due."""
        return max(0.0, self._due[0][0] - time.monotonic()) if self._due else 1.0

    def step(self):
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            when, label = self._due[0]
            if label not in self._flows:
                heapq.heappop(self._due)
                continue
            s, gap = self._flows[label]
            with contextlib.suppress(OSError):  # refused, or no room
                s.send(self._payload)
                self._sent[label] += 1
            heapq.heapreplace(self._due, (max(when + gap, now - 0.1), label))  # what a busy machine has missed is not made up for


class Sink:
    def __init__(self, namespace, port):
        self._socket = Namespace.called(namespace).socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        self._socket.bind(("0.0.0.0", int(port)))
        self._socket.setblocking(False)
        self._received = {}

    def fileno(self):
        return self._socket.fileno()

    def counts(self):
        self.step()
        return self._received

    def pause(self):
        return 1.0

    def step(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                _, (source, _) = self._socket.recvfrom(2048)
                self._received[source] = self._received.get(source, 0) + 1


def serve(it, files):
    while True:
        ready = select.select([sys.stdin, *files], [], [], it.pause())[0]
        it.step()
        if sys.stdin in ready:
            line = sys.stdin.readline()
            if not line:
                return
            word, *rest = json.loads(line)
            print(json.dumps({"flow": getattr(it, "flow", None), "end": getattr(it, "end", None), "counts": it.counts}[word](*rest)), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        serve(Crowd(), [])
    else:
        sink = Sink(*sys.argv[2:])
        serve(sink, [sink])
