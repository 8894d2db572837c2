# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a file, again and again, at a rate and for some seconds: what an attacker has. A process of its own, so that nobody who
measures waits for it: python flood.py INTERFACE FILE RATE SECONDS prints how many frames left."""
import ctypes
import socket
import struct
import subprocess
import sys
import time

BATCH = 64
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
    """`with Flood(host, file, rate, seconds) as flood:`; `sent` afterwards."""

    def __init__(self, host, file, rate, seconds):
        self._process = subprocess.Popen(host.namespace.command(sys.executable, __file__, "eth0", file, rate, seconds),
                                         stdout=subprocess.PIPE, text=True)
        self._patience = seconds + 20

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.sent = int(self._process.communicate(timeout=self._patience)[0])
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise


def _main(interface, path, rate, seconds):
    frames = list(_read(path))
    while len(frames) < BATCH:
        frames += frames
    buffers = [ctypes.create_string_buffer(f, len(f)) for f in frames]
    vectors = (_Iovec * len(frames))(*(_Iovec(ctypes.addressof(b), len(b)) for b in buffers))
    messages = (_Message * len(frames))(*(_Message(_Header(iov=ctypes.pointer(v), iov_count=1)) for v in vectors))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as s:
        s.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        s.bind((interface, 0))
        began, due, sent, at = time.monotonic(), 0, 0, 0
        while (now := time.monotonic() - began) < seconds:
            if due > now * rate:
                time.sleep(0.0002)
                continue
            due += BATCH  # one that the wire does not take is lost, as on any wire
            count = min(BATCH, len(frames) - at)
            sent += max(0, _libc.sendmmsg(s.fileno(), ctypes.byref(messages, at * ctypes.sizeof(_Message)), count, 0))
            at = (at + count) % len(frames)
    print(sent)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))
