# SPDX-License-Identifier: BSD-3-Clause
"""Customers behind VLAN tags of one port of the router, where this kernel may have no VLAN devices."""
import contextlib
import json
import pathlib
import subprocess

from namespaces import Namespace, connect, prefer

TAGGER = pathlib.Path(__file__).resolve().parent / "tagger.py"
CUSTOMER_TAG, SERVICE_TAG = 0x8100, 0x88a8  # 802.1Q, 802.1ad
ROOM = 8  # bytes of two tags


def q(vlan):
    """The tags of a customer on a VLAN."""
    return [(CUSTOMER_TAG, vlan)]


def qinq(outer, inner, protocol=SERVICE_TAG):
    return [(protocol, outer), (CUSTOMER_TAG, inner)]


class Customer:
    """A host whose `eth0` lies behind these tags; used as a Host of namespaces.py."""

    def __init__(self, trunk, label, tags, addresses, gateways, prefix=None):
        self.tags = tags
        self.namespace = Namespace(label, prefix)
        self.addresses = [a.split("/")[0] for a in addresses]
        trunk.tell("add", self.namespace.name, "eth0", tags)
        self.namespace.set_up("eth0")
        self.namespace.configure("eth0", addresses, gateways)
        self.mac = self.namespace.mac("eth0")

    def address(self, family):
        return next(a for a in self.addresses if (":" in a) == (family == 6))


class Trunk:
    """The line with the tags, its far end `eth0` in a namespace of its own, and the process that strips and adds them."""

    def __init__(self, near_namespace, port, prefix=None):
        self.namespace = Namespace("trunk", prefix)
        self.customers = {}
        self._prefix = prefix
        connect(near_namespace, port, self.namespace, "eth0")
        self.namespace.sysctl("net.ipv6.conf.eth0.disable_ipv6=1")  # it says nothing itself
        for namespace, interface in ((near_namespace, port), (self.namespace, "eth0")):
            namespace.ip("link", "set", interface, "mtu", 1500 + ROOM)
        self._tagger = subprocess.Popen(["/usr/bin/python3", TAGGER, self.namespace.name, "eth0"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)
        self._answered()

    def _answered(self):
        if self._tagger.stdout.readline() != "done\n":
            raise RuntimeError("the tagger has ended")

    def prefer(self):
        """A line is never late."""
        prefer(self._tagger.pid)

    def tell(self, *words):
        self._tagger.stdin.write(json.dumps(words) + "\n")
        self._tagger.stdin.flush()
        self._answered()

    def customer(self, label, tags, addresses, gateways=()):
        made = Customer(self, label, tags, addresses, gateways, self._prefix)
        self.customers[label] = made
        return made

    def leave(self, customer):
        """He goes, and his namespace with him."""
        self.tell("remove", customer.namespace.name)
        self.customers = {label: c for label, c in self.customers.items() if c is not customer}
        customer.namespace.remove()

    def remove(self):
        with contextlib.suppress(OSError):
            self._tagger.stdin.close()
        try:
            self._tagger.wait(10)
        except subprocess.TimeoutExpired:
            self._tagger.kill()
            self._tagger.wait()
        self._tagger.stdout.close()
        for namespace in [c.namespace for c in self.customers.values()] + [self.namespace]:
            namespace.remove()
