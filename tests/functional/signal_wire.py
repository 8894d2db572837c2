# SPDX-License-Identifier: BSD-3-Clause
"""Congestion signals from their definition (router/pipeline/signals/signal_message.md), independent of the product's code."""
import socket
import struct
import time

from scapy.layers.inet import IP
from scapy.utils import checksum

QUOTE, EXTENSION, OBJECT, MAC, END = 8, 136, 140, 168, 184  # from the ICMP header on


def siphash_2_4_128(key, data):
    """From the paper (Aumasson, Bernstein 2012) and its reference for 128 bits."""
    mask = 2**64 - 1
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def turn(i, by):
        v[i] = (v[i] << by | v[i] >> (64 - by)) & mask

    def rounds(n):
        for _ in range(n):
            for a, b, by in ((0, 1, 13), (2, 3, 16)):
                v[a] = (v[a] + v[b]) & mask
                turn(b, by)
                v[b] ^= v[a]
            turn(0, 32)
            for a, b, by in ((2, 1, 17), (0, 3, 21)):
                v[a] = (v[a] + v[b]) & mask
                turn(b, by)
                v[b] ^= v[a]
            turn(2, 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    out = b""
    for place, by in ((2, 0xEE), (1, 0xDD)):
        v[place] ^= by
        rounds(4)
        out += struct.pack("<Q", v[0] ^ v[1] ^ v[2] ^ v[3])
    return out


def mac(key, addresses, message):
    """Of an ICMP message behind the addresses of an IP header."""
    covered = bytearray(message[:MAC])
    covered[2:4] = covered[EXTENSION + 2:EXTENSION + 4] = bytes(2)
    return siphash_2_4_128(key, addresses + bytes(covered))


def repaired(message):
    """With both checksums right, for IPv4."""
    message = bytearray(message)
    for begin, at in ((EXTENSION, EXTENSION + 2), (0, 2)):
        message[at:at + 2] = bytes(2)
        message[at:at + 2] = checksum(bytes(message[begin:])).to_bytes(2, "big")
    return bytes(message)


class Signal:
    """A signal in IPv4 as some router would send it; every field may be another one."""

    def __init__(self, key, key_id, source, destination, dscp=0, router="10.9.0.77", sender="10.9.0.2", to=None, port=1, queue=0):
        self.key, self.key_id, self.router, self.port, self.queue = key, key_id, router, port, queue
        self.source, self.destination, self.dscp = source, destination, dscp
        self.sender, self.to = sender, to or source
        self.sequence = time.time_ns() << 2
        self.age = 0.0  # seconds

    def message(self):
        quote = bytes(IP(src=self.source, dst=self.destination, tos=self.dscp << 2, proto=6, len=1500))
        data = struct.pack("!BBHBBH", 253, 0, 0, 0, 32, 0) + quote.ljust(128, b"\0") + struct.pack("!HHHBB", 0x2000, 0, 44, 249, 83)
        self.sequence += 1
        data += struct.pack("!BBBB4sQQ", 1, self.key_id, self.port, self.queue, socket.inet_aton(self.router), self.sequence,
                            int((time.time() - self.age) * 1000))
        addresses = socket.inet_aton(self.sender) + socket.inet_aton(self.to)
        return repaired(data + mac(self.key, addresses, data))

    def around(self, message):
        """The IP packet of a message."""
        return bytes(IP(src=self.sender, dst=self.to, proto=1, tos=48 << 2) / message)

    def packet(self):
        return self.around(self.message())
