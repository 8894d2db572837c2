# SPDX-License-Identifier: BSD-3-Clause
"""`memif_wire.py SOCKET NAMESPACE INTERFACE`: a wire between a memif server and a device of the kernel's, in Python."""
import os
import pathlib
import select
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE / "hostile"), str(HERE.parents[1] / "deploy/lib")]

from memif_peer import FLAGS, PATIENCE, TAIL, Client, Gone  # noqa: E402
from namespaces import Namespace  # noqa: E402
from tagger import AT_ONCE, PacketLine  # noqa: E402

RECONNECT = 600  # seconds that the server may be away


class MemifLine(Client):
    """Woken by the eventfd of the ring from the server."""

    @classmethod
    def joined(cls, path):
        line = cls.to(path, RECONNECT)
        line.bell = line.event()
        line.join(line.bell)
        line.back.put(FLAGS, 0)
        return line

    def send(self, frame):
        """What finds no room waits for it: behind it stands the large buffer of a socket."""
        until = time.monotonic() + PATIENCE
        while (self.sent - self.out.get(TAIL) & 0xFFFF) >= self.out.size - 2:
            if time.monotonic() > until:
                return
            time.sleep(0.0002)
        self.transmit(frame)

    def take(self):
        """The next frame; None: there is none."""
        return None if self.back.get(TAIL) == self.seen & 0xFFFF else self.receive()


def carry(memif, device):
    """Until the server goes."""
    poll = select.epoll()
    for fd in (memif.socket.fileno(), memif.bell, device.fileno()):
        poll.register(fd, select.EPOLLIN)
    while True:
        for fd, _ in poll.poll(0.05):
            if fd == memif.socket.fileno():
                memif.hear()
            elif fd == memif.bell:
                os.eventfd_read(fd)
        for _ in range(AT_ONCE):
            if (frame := device.receive()) is None:
                break
            memif.send(frame)
        while (frame := memif.take()) is not None:
            try:
                device.send(frame)
            except OSError:  # down, or full
                pass


def main(path, namespace, interface):
    device = PacketLine(Namespace.called(namespace), interface)
    while True:
        try:
            with MemifLine.joined(path) as memif:
                carry(memif, device)
        except (Gone, OSError, AssertionError):
            pass


if __name__ == "__main__":
    main(*sys.argv[1:])
