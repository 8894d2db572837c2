# SPDX-License-Identifier: BSD-3-Clause
"""`tagger.py NAMESPACE INTERFACE`: what a kernel with VLAN devices would do.

It stands between a device with tagged frames and a TAP device per customer. It takes lines of JSON and answers each:
["add", NAMESPACE, DEVICE, [[TPID, VLAN], ...]] makes a TAP device there; ["remove", NAMESPACE] takes it away. At the end of
its standard input it ends, and the devices with it."""
import fcntl
import json
import os
import select
import socket
import struct
import sys

from namespaces import Namespace

ETH_P_ALL = 3
SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
SO_RCVBUFFORCE, SO_SNDBUFFORCE = 33, 32
VLAN_VALID, VLAN_TPID_VALID = 0x10, 0x40
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454ca, 2, 0x1000
TAGS = (b"\x81\x00", b"\x88\xa8", b"\x91\x00")
AT_ONCE = 64  # frames


class PacketLine:
    """A device of the kernel's, all frames as they are on the wire: the kernel takes the outer tag out, and says so beside."""

    def __init__(self, namespace, interface):
        self._socket = s = namespace.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        s.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 32 << 20)
        s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        s.bind((interface, ETH_P_ALL))
        s.setblocking(False)

    def fileno(self):
        return self._socket.fileno()

    def close(self):
        self._socket.close()

    def send(self, frame):
        self._socket.send(frame)

    def receive(self):
        """The next frame; None: there is none."""
        try:
            frame, beside, _, _ = self._socket.recvmsg(65536, 64)
        except (BlockingIOError, OSError):  # a device that goes down is an error once
            return None
        for _, kind, data in beside:
            if kind == PACKET_AUXDATA:
                status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", data[:20])
                if status & VLAN_VALID:
                    return frame[:12] + struct.pack("!HH", tpid if status & VLAN_TPID_VALID else 0x8100, tci) + frame[12:]
        return frame


def tag_bytes(tags):
    return b"".join(struct.pack("!HH", tpid, vlan) for tpid, vlan in tags)


def open_tap(namespace, device):
    """It is there for as long as the file is open."""
    with namespace.entered():
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP | IFF_NO_PI))
    return fd


def split(frame):
    """The tags of a frame without their priorities, and where they end."""
    tags, at = b"", 12
    while frame[at:at + 2] in TAGS:
        tags += frame[at:at + 2] + bytes((frame[at + 2] & 0x0f, frame[at + 3]))
        at += 4
    return tags, at


class Taps:
    def __init__(self, line):
        self._line = line
        self._by_tags, self._by_fd, self._by_name = {}, {}, {}
        self._poll = select.epoll()
        self._poll.register(line.fileno(), select.EPOLLIN)
        self._poll.register(0, select.EPOLLIN)

    def add(self, name, device, tags):
        tags = tag_bytes(tags)
        fd = open_tap(Namespace.called(name), device)
        self._by_tags[tags], self._by_fd[fd], self._by_name[name] = fd, tags, fd
        self._poll.register(fd, select.EPOLLIN)

    def remove(self, name):
        fd = self._by_name.pop(name)
        self._poll.unregister(fd)
        del self._by_tags[self._by_fd.pop(fd)]
        os.close(fd)

    def run(self):
        while True:
            for fd, _ in self._poll.poll():
                if fd == 0:
                    if not self._obey():
                        return
                elif fd == self._line.fileno():
                    self._down()
                elif fd in self._by_fd:
                    self._up(fd)

    def _obey(self):
        line = sys.stdin.readline()
        if not line:
            return False
        word, *rest = json.loads(line)
        {"add": self.add, "remove": self.remove}[word](*rest)
        print("done", flush=True)
        return True

    def _down(self):
        for _ in range(AT_ONCE):
            frame = self._line.receive()
            if frame is None:
                return
            tags, at = split(frame)
            fd = self._by_tags.get(tags)
            if fd is not None:
                try:
                    os.write(fd, frame[:12] + frame[at:])
                except OSError:  # it is not up yet, or has no room
                    pass

    def _up(self, fd):
        tags = self._by_fd[fd]
        for _ in range(AT_ONCE):
            try:
                frame = os.read(fd, 65536)
            except OSError:
                return
            try:
                self._line.send(frame[:12] + tags + frame[12:])
            except OSError:  # down, or full: as a wire would lose it
                pass


def main(namespace, interface):
    line = PacketLine(Namespace.called(namespace), interface)
    print("done", flush=True)
    Taps(line).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
