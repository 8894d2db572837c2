# SPDX-License-Identifier: BSD-3-Clause
"""The other end of a memif link, in Python: as it should be, or as whoever means harm would have it.

The layout is that of memif 2.0 (router/daemon/memif): 128-byte messages with at most one descriptor; rings of 16-byte descriptors."""
import contextlib
import fcntl
import mmap
import os
import socket
import struct
import time

ACK, HELLO, INIT, ADD_REGION, ADD_RING, CONNECT, CONNECTED, DISCONNECT = range(1, 9)
VERSION, COOKIE = 0x0200, 0x3E31F20
TO_SERVER, NEXT, MASK_INT = 1, 1, 1
FLAGS, HEAD, TAIL, DESCRIPTORS = 4, 6, 64, 128
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
PATIENCE = 5


class Gone(Exception):
    """The router has ended the conversation."""


def message(kind, body=b""):
    return struct.pack("<H126s", kind, body)


def hello(max_ring=0, max_log2=14, min_version=VERSION):
    return message(HELLO, struct.pack("<32sHHHHHB", b"python", min_version, VERSION, 15, max_ring, max_ring, max_log2))


def init(version=VERSION, interface=0, mode=0):
    return message(INIT, struct.pack("<HIB24s32s", version, interface, mode, b"", b"python"))


def add_region(index, size):
    return message(ADD_REGION, struct.pack("<HQ", index, size))


def add_ring(flags, index, region, offset, log2):
    return message(ADD_RING, struct.pack("<HHHIBH", flags, index, region, offset, log2, 0))


def memfd(size, seals=F_SEAL_SHRINK):
    fd = os.memfd_create("python", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    if seals:
        fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd


class Channel:
    """Messages through a socket; what it made is closed in the end."""

    def __init__(self, connected):
        self.socket = connected
        self.socket.settimeout(PATIENCE)
        self.fds = []

    @classmethod
    def to(cls, path, patience=PATIENCE):
        """Connected to the server there, as soon as it has room."""
        until = time.monotonic() + patience
        while True:
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                s.connect(str(path))
                return cls(s)
            except OSError:
                s.close()
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def own(self, fd):
        self.fds.append(fd)
        return fd

    def say(self, bytes_, *fds):
        try:
            socket.send_fds(self.socket, [bytes_], fds)
        except (BrokenPipeError, ConnectionResetError):
            raise Gone from None

    def hear(self):
        """(type, body), or Gone."""
        try:
            data, fds, _, _ = socket.recv_fds(self.socket, 128, 4)
        except ConnectionResetError:
            data, fds = b"", []
        self.fds += fds
        if not data or (kind := struct.unpack_from("<H", data)[0]) == DISCONNECT:
            raise Gone(data[6:].rstrip(b"\0").decode())
        return kind, data[2:], fds

    def ask(self, bytes_, *fds):
        """Says it and hears the answer."""
        self.say(bytes_, *fds)
        return self.hear()[0]

    def close(self):
        self.socket.close()
        for fd in self.fds:
            with contextlib.suppress(OSError):
                os.close(fd)
        self.fds = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Ring:
    """Of 2**log2 descriptors at `at` in a mapping."""

    def __init__(self, memory, at, log2):
        self.memory, self.at, self.size = memory, at, 1 << log2
        self.words = memoryview(memory)[:len(memory) // 2 * 2].cast("H")

    def put(self, what, value):
        """In one piece: struct.pack_into() would write zeros first."""
        self.words[(self.at + what) // 2] = value & 0xFFFF

    def get(self, what):
        return self.words[(self.at + what) // 2]

    def describe(self, slot, offset, length, flags=0, region=0):
        struct.pack_into("<HHIII", self.memory, self.at + DESCRIPTORS + 16 * (slot % self.size), flags, region, length, offset, 0)

    def described(self, slot):
        """(flags, region, length, offset)"""
        return struct.unpack_from("<HHII", self.memory, self.at + DESCRIPTORS + 16 * (slot % self.size))


class Client(Channel):
    """A memif client; each step may be another one than that of the protocol."""
    LOG2, BUFFER = 8, 2048

    def greet(self):
        assert self.hear()[0] == HELLO

    def lay_out(self, buffer=BUFFER, size=None, seals=F_SEAL_SHRINK):
        """The region: ring to the server, ring from it, then their buffers."""
        self.buffer, self.ring_bytes = buffer, DESCRIPTORS + (16 << self.LOG2)
        self.size = size or 2 * self.ring_bytes + 2 * (buffer << self.LOG2)
        self.file = self.own(memfd(self.size, seals))
        self.memory = mmap.mmap(self.file, self.size)
        self.out, self.back = Ring(self.memory, 0, self.LOG2), Ring(self.memory, self.ring_bytes, self.LOG2)
        for ring in (self.out, self.back):
            struct.pack_into("<I", self.memory, ring.at, COOKIE)
            ring.put(FLAGS, MASK_INT if ring is self.back else 0)
        self.sent = self.seen = 0

    def offset(self, ring, slot):
        return 2 * self.ring_bytes + ((ring is self.back) * ring.size + slot % ring.size) * self.buffer

    def event(self):
        return self.own(os.eventfd(0, os.EFD_NONBLOCK))

    def join(self, event=None, **layout):
        """All that makes a link; buffers are offered."""
        self.greet()
        self.lay_out(**layout)
        assert self.ask(init()) == ACK
        assert self.ask(add_region(0, self.size), self.file) == ACK
        assert self.ask(add_ring(TO_SERVER, 0, 0, 0, self.LOG2), self.event()) == ACK
        assert self.ask(add_ring(0, 0, 0, self.ring_bytes, self.LOG2), event or self.event()) == ACK
        assert self.ask(message(CONNECT)) == CONNECTED
        for slot in range(self.back.size):
            self.back.describe(slot, self.offset(self.back, slot), self.buffer)
        self.back.put(HEAD, self.back.size)
        return self

    def transmit(self, frame):
        """One frame, over as many buffers as it needs."""
        parts = [frame[i:i + self.buffer] for i in range(0, len(frame), self.buffer)]
        for i, part in enumerate(parts):
            at = self.offset(self.out, self.sent)
            self.memory[at:at + len(part)] = part
            self.out.describe(self.sent, at, len(part), NEXT if i < len(parts) - 1 else 0)
            self.sent += 1
        self.out.put(HEAD, self.sent)

    def receive(self, patience=PATIENCE):
        """The next frame; None: none comes."""
        until, frame = time.monotonic() + patience, b""
        while time.monotonic() < until:
            if self.back.get(TAIL) == self.seen & 0xFFFF:
                time.sleep(0.001)
                continue
            flags, _, length, offset = self.back.described(self.seen)
            frame += self.memory[offset:offset + length]
            self.back.describe(self.seen, self.offset(self.back, self.seen), self.buffer)
            self.seen += 1
            self.back.put(HEAD, self.seen + self.back.size)
            if not flags & NEXT:
                return frame
        return None


class Server(Channel):
    """A memif server, once a client has connected."""

    def __init__(self, listener):
        super().__init__(listener.accept()[0])

    def meet(self, **offer):
        """As it should be, but for the greeting: the rings that the client gave."""
        self.say(hello(**offer))
        self.rings = []
        while True:
            kind, body, fds = self.hear()
            if kind == CONNECT:
                return self
            if kind == ADD_REGION:
                self.file, self.size = fds[0], struct.unpack_from("<HQ", body)[1]
                self.memory = mmap.mmap(self.file, self.size)
            elif kind == ADD_RING:
                _, _, _, offset, log2, _ = struct.unpack_from("<HHHIBH", body)
                self.rings.append(Ring(self.memory, offset, log2))
                self.events = getattr(self, "events", []) + fds
            self.say(message(ACK))

    def connected(self):
        self.say(message(CONNECTED))
        return self
