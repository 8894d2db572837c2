#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""`flood.py send ADDRESS MBITS`: UDP at a constant rate. `flood.py sink FILE`: receives it, writes the bytes to FILE.

Bytes are those of IP packets, 1400 each.
"""
import os
import socket
import sys
import time

PORT = 9999
PACKET = 1400
HEADERS = 28  # IPv4 and UDP
TICK = 0.002


def send(address, mbits):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    payload = bytes(PACKET - HEADERS)
    per_second = mbits * 1e6 / 8 / PACKET
    start, sent = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - start) * per_second)
        for _ in range(due - sent):
            sock.sendto(payload, (address, PORT))
        sent = due
        time.sleep(TICK)


def sink(file):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("0.0.0.0", PORT))
    out = os.open(file, os.O_WRONLY | os.O_CREAT, 0o644)
    received = 0
    while True:
        received += len(sock.recv(2048)) + HEADERS
        os.pwrite(out, b"%020d" % received, 0)


if __name__ == "__main__":
    try:
        send(sys.argv[2], float(sys.argv[3])) if sys.argv[1] == "send" else sink(sys.argv[2])
    except KeyboardInterrupt:
        pass
