# SPDX-License-Identifier: BSD-3-Clause
"""The route that Linux would use for an address, over rtnetlink(7): what `ip route get fibmatch` shows, some thousands a second."""
import errno
import ipaddress
import math
import socket
import struct

RTM_NEWROUTE, RTM_GETROUTE, NLMSG_ERROR, NLM_F_REQUEST = 24, 26, 2, 1
RTM_F_FIB_MATCH, RTNH_F_DEAD = 0x2000, 1
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_METRICS, RTA_MULTIPATH, RTA_VIA, RTA_ENCAP_TYPE, RTA_ENCAP = 1, 4, 5, 8, 9, 18, 21, 22
RTAX_MTU = 2
TYPES = {1: "unicast", 2: "local", 3: "broadcast", 4: "anycast", 6: "blackhole", 7: "unreachable", 8: "prohibited"}
REFUSALS = {errno.ENETUNREACH: "none", errno.EHOSTUNREACH: "unreachable", errno.EACCES: "prohibited", errno.EINVAL: "blackhole"}


def attributes(data):
    """{type: payload} of a run of attributes"""
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if not 4 <= length <= len(data):
            break
        found[kind & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


def number(payload):
    return int.from_bytes(payload, "little")


class KernelFib:
    """`lookup(address)`: a word (none, local, blackhole, ...), `encapsulated`, or the next hops {(gateway or None, device): weight} and
    the route's MTU."""

    def __init__(self, namespace):
        self._namespace = namespace
        self._socket = namespace.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self._socket.settimeout(120)
        self._sequence = 0

    def close(self):
        self._socket.close()

    def lookup(self, address):
        packed = ipaddress.ip_address(address).packed
        family, bits = (socket.AF_INET, 32) if len(packed) == 4 else (socket.AF_INET6, 128)
        self._sequence += 1
        body = struct.pack("=8BI", family, bits, 0, 0, 0, 0, 0, 0, RTM_F_FIB_MATCH) + struct.pack("=HH", 4 + len(packed), RTA_DST) + packed
        self._socket.send(struct.pack("=IHHII", 16 + len(body), RTM_GETROUTE, NLM_F_REQUEST, self._sequence, 0) + body)
        while True:
            answer = self._socket.recv(65536)
            kind, _, sequence = struct.unpack_from("=HHI", answer, 4)
            if sequence == self._sequence:
                break
        if kind == NLMSG_ERROR:
            error = -struct.unpack_from("=i", answer, 16)[0]
            return REFUSALS.get(error, errno.errorcode.get(error, str(error)))
        return self._route(family, answer[16:])

    def _route(self, family, message):
        kind, flags = message[7], struct.unpack_from("=I", message, 8)[0]
        a = attributes(message[12:])
        word = TYPES.get(kind, str(kind))
        if word != "unicast":
            return "local" if word == "anycast" else word
        hops, encapsulated = {}, RTA_ENCAP in a
        if RTA_MULTIPATH in a:
            data = a[RTA_MULTIPATH]
            while len(data) >= 8:
                length, hop_flags, less, index = struct.unpack_from("=HBBi", data)
                of_hop = attributes(data[8:length])
                encapsulated |= RTA_ENCAP in of_hop
                if not hop_flags & RTNH_F_DEAD:
                    hops[self._gateway(family, of_hop), self._device(index)] = less + 1
                data = data[(length + 3) & ~3:]
        elif not flags & RTNH_F_DEAD:
            hops[self._gateway(family, a), self._device(number(a.get(RTA_OIF, b"")))] = 1
        if encapsulated:
            return "encapsulated"
        common = math.gcd(*hops.values())
        return {hop: weight // common for hop, weight in hops.items()}, self._mtu(a)

    @staticmethod
    def _gateway(family, a):
        if RTA_VIA in a:
            return str(ipaddress.ip_address(a[RTA_VIA][2:]))
        return str(ipaddress.ip_address(a[RTA_GATEWAY])) if RTA_GATEWAY in a else None

    def _device(self, index):
        with self._namespace.entered():
            try:
                return socket.if_indextoname(index)
            except OSError:
                return str(index)

    @staticmethod
    def _mtu(a):
        return number(attributes(a.get(RTA_METRICS, b"")).get(RTAX_MTU, b""))
