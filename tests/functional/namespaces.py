# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces and the veth pairs between them. Everything is named sf-<pid>-<number>-..., so that runs do not meet."""
import contextlib
import ctypes
import fcntl
import itertools
import os
import socket
import struct
import subprocess

CLONE_NEWNET = 0x40000000
SIOCGIFHWADDR = 0x8927
OFFLOADS = ["tx", "rx", "sg", "tso", "gso", "gro", "txvlan", "rxvlan"]
# Addresses are usable at once, and nothing talks unless it is told to.
QUIET = ["net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0",
         "net.ipv6.conf.default.accept_ra=0", "net.ipv6.conf.default.router_solicitations=0"]

_numbers = itertools.count()
_libc = ctypes.CDLL(None, use_errno=True)


def sh(*command, check=True, timeout=20, **options):
    """Runs a command; its failure shows what it said."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


class Namespace:
    def __init__(self, label):
        self.name = f"sf-{os.getpid()}-{next(_numbers)}-{label}"
        sh("ip", "netns", "add", self.name)
        self.ip("link", "set", "lo", "up")
        self.run("sysctl", "-q", *QUIET)

    def command(self, *arguments):
        return ["ip", "netns", "exec", self.name, *map(str, arguments)]

    def run(self, *command, **options):
        return sh(*self.command(*command), **options)

    def ip(self, *arguments, **options):
        return sh("ip", "-n", self.name, *arguments, **options)

    @contextlib.contextmanager
    def entered(self):
        """The calling thread is in this namespace; sockets made meanwhile stay there for good."""
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{self.name}") as there:
            _setns(there)
            try:
                yield
            finally:
                _setns(home)

    def socket(self, *arguments):
        with self.entered():
            return socket.socket(*arguments)

    def add_address(self, interface, address):
        self.ip("address", "add", address, "dev", interface, *(["nodad"] if ":" in address else []))

    def mac(self, interface):
        """By ioctl, because /sys shows the namespace of whoever mounted it."""
        with self.socket() as s:
            return fcntl.ioctl(s, SIOCGIFHWADDR, struct.pack("256s", interface.encode()))[18:24].hex(":")

    def remove(self):
        sh("ip", "netns", "del", self.name, check=False)


def _setns(file):
    if _libc.setns(file.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def connect(a, a_interface, b, b_interface):
    """A veth pair without offloads: what is sent is what is on the wire."""
    sh("ip", "link", "add", a_interface, "netns", a.name, "type", "veth",
       "peer", "name", b_interface, "netns", b.name)
    for namespace, interface in ((a, a_interface), (b, b_interface)):
        namespace.run("ethtool", "-K", interface, *(word for o in OFFLOADS for word in (o, "off")), check=False)
        namespace.ip("link", "set", interface, "up")


class Host:
    """A station behind one port of the router: its interface is `eth0`."""

    def __init__(self, label, router_namespace, port, addresses, gateways):
        self.namespace = Namespace(label)
        self.addresses = [a.split("/")[0] for a in addresses]
        connect(router_namespace, port, self.namespace, "eth0")
        for address in addresses:
            self.namespace.add_address("eth0", address)
        for gateway in gateways:
            self.namespace.ip("route", "add", "default", "via", gateway)
        self.mac = self.namespace.mac("eth0")

    def address(self, family):
        return next(a for a in self.addresses if (":" in a) == (family == 6))


class Lab:
    """A namespace for the router and hosts around it; leaving it removes them all."""

    def __init__(self):
        self.router = Namespace("r")
        self.hosts = []

    def host(self, label, port, addresses, gateways=()):
        self.hosts.append(Host(label, self.router, port, addresses, gateways))
        return self.hosts[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for namespace in [h.namespace for h in self.hosts] + [self.router]:
            namespace.remove()
