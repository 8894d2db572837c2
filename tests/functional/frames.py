# SPDX-License-Identifier: BSD-3-Clause
"""Frames on the wire of a host: sent as they are, and seen as they arrive."""
import contextlib
import select
import socket
import time

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader

ETH_P_ALL = 3
SO_RCVBUFFORCE = 33  # beyond net.core.rmem_max
PACKET_OUTGOING = 4


class Wire:
    """A raw socket on a host's eth0; what the host itself sends is not seen."""

    def __init__(self, host, interface="eth0"):
        self.socket = host.namespace.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        self.socket.bind((interface, ETH_P_ALL))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, frame):
        self.socket.send(bytes(frame))

    def read(self, patience=0.0):
        """The next frame as bytes, or None."""
        until = time.monotonic() + patience
        while select.select([self.socket], [], [], max(0.0, until - time.monotonic()))[0]:
            frame, where = self.socket.recvfrom(65536)
            if where[2] != PACKET_OUTGOING:
                return frame
        return None

    def find(self, wanted, patience=20.0):
        """The next frame that satisfies `wanted`, as scapy's Ether; None when none comes in time."""
        until = time.monotonic() + patience
        while (frame := self.read(until - time.monotonic())) is not None:
            packet = Ether(frame)
            if wanted(packet):
                return packet
        return None

    def drain(self):
        """All frames there are."""
        frames = []
        while (frame := self.read()) is not None:
            frames.append(frame)
        return frames


def udp_to(port):
    return lambda packet: UDP in packet and packet[UDP].dport == port


def dscp(packet):
    ip = packet[IP] if IP in packet else packet[IPv6]
    return (ip.tos if IP in packet else ip.tc) >> 2


def ecn(packet):
    return (packet[IP].tos if IP in packet else packet[IPv6].tc) & 3


def frames_of(path):
    """Those of a pcap file, as bytes."""
    with contextlib.closing(RawPcapReader(str(path))) as capture:
        return [frame for frame, _ in capture]
