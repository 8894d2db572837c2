# SPDX-License-Identifier: BSD-3-Clause
"""Sends the frames of a file again and again, at a rate. It is a process of its own, so that measurements do not wait for it:
`flood.py INTERFACE FILE RATE SECONDS BURST` sends BURST frames back to back and prints a line as it begins; it ends with a signal, and
at the latest after SECONDS."""
import ctypes
import socket
import struct
import subprocess
import sys
import time

AT_MOST = 120  # s
AT_ONCE = 1024  # frames of one sendmmsg(), at most (UIO_MAXIOV)
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20
_libc = ctypes.CDLL(None, use_errno=True)


class _Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class _Header(ctypes.Structure):  # struct msghdr
    _fields_ = [("name", ctypes.c_void_p), ("name_length", ctypes.c_uint), ("iov", ctypes.POINTER(_Iovec)), ("iov_count", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t), ("flags", ctypes.c_int)]


class _Message(ctypes.Structure):  # struct mmsghdr
    _fields_ = [("header", _Header), ("sent", ctypes.c_uint)]


def write(path, frames):
    path.write_bytes(b"".join(struct.pack("<H", len(f)) + f for f in frames))


def _read(path):
    with open(path, "rb") as file:
        while prefix := file.read(2):
            yield file.read(struct.unpack("<H", prefix)[0])


class Flood:
    """`with Flood(namespace, file, rate, burst):` lasts from its first frame to the end of the block."""

    def __init__(self, namespace, file, rate, burst):
        self._process = subprocess.Popen(namespace.command(sys.executable, __file__, "eth0", file, rate, AT_MOST, burst),
                                         stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        if self._process.stdout.readline() != "begins\n":
            raise RuntimeError("the flood has not begun")

    def __exit__(self, *_):
        lasted = self._process.poll() is None
        self._process.terminate()
        self._process.wait(120)
        self._process.stdout.close()
        if not lasted:
            raise RuntimeError("the flood has ended before the measurement")


def _main(interface, path, rate, seconds, burst):
    frames = list(_read(path))
    while len(frames) < burst:
        frames += frames
    buffers = [ctypes.create_string_buffer(f, len(f)) for f in frames]
    vectors = (_Iovec * len(frames))(*(_Iovec(ctypes.addressof(b), len(b)) for b in buffers))
    messages = (_Message * len(frames))(*(_Message(_Header(iov=ctypes.pointer(v), iov_count=1)) for v in vectors))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as s:
        s.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        s.bind((interface, 0))
        print("begins", flush=True)
        began, due, at = time.monotonic(), 0, 0
        while (now := time.monotonic() - began) < seconds:
            if due > now * rate:
                time.sleep(0.0002)
                continue
            due += burst  # one that the wire does not take is lost, as on any wire
            left = burst
            while left:
                count = min(left, AT_ONCE, len(frames) - at)
                _libc.sendmmsg(s.fileno(), ctypes.byref(messages, at * ctypes.sizeof(_Message)), count, 0)
                at = (at + count) % len(frames)
                left -= count


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
