# SPDX-License-Identifier: BSD-3-Clause
"""Two routers of one virtual router (RFC 5798) on a LAN and on a WAN, each with a daemon of VRRP beside it; host a on the LAN, host b on the WAN."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

from frr import Frr
from harness import Host, Namespace, Router, connect

PATIENCE = 60  # seconds; the kernel changes addresses and devices of all namespaces one by one
INTERVAL = 0.1  # seconds between two advertisements
SIDES = {"lan": 1, "wan": 2}  # the number in its prefixes, and the virtual router's ID
PRIORITIES = [150, 100]
QUEUES = """queues:
  two:
    - {name: control, dscp: [CS6], priority: strict, rate: 1 Mbit/s, limit: 64 packets}
    - {name: rest, dscp: [BE], limit: 100 packets}
"""


def virtual(side):
    """The addresses of its virtual router: IPv4, IPv6, and the link-local one that an IPv6 advertisement begins with."""
    return f"10.{SIDES[side]}.0.254", f"2001:db8:{SIDES[side]}::fe", "fe80::fe"


def own(number, side="lan"):
    """A router's own address, by which it sends advertisements."""
    return f"10.{SIDES[side]}.0.{251 + number}"


class Site:
    """Namespaces: two routers, a switch with a bridge for each side, two hosts whose gateways are the virtual routers."""

    def __init__(self):
        self.switch, self.routers = Namespace("switch"), [Namespace("r1"), Namespace("r2")]
        for side in SIDES:
            self.switch.batch(f"link add {side} type bridge mcast_snooping 0", f"link set {side} up")
        self.a, self.b = (self._host(label, side) for label, side in (("a", "lan"), ("b", "wan")))
        for number, router in enumerate(self.routers):
            for side in SIDES:
                connect(router, f"{side}0", self.switch, f"{side}{number}")
                self.switch.ip("link", "set", f"{side}{number}", "master", side)
            router.sysctl("net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.rp_filter=0")

    def _host(self, label, side):
        host = Host(label, self.switch, f"{side}-host", [f"10.{SIDES[side]}.0.1/24", f"2001:db8:{SIDES[side]}::1/64"], virtual(side)[:2])
        self.switch.ip("link", "set", f"{side}-host", "master", side)
        return host

    def router(self, number, kind, classes):
        """`classes`: with one for advertisements."""
        last, more, queues = 251 + number, ", queues: two" if classes else "", QUEUES if classes else ""
        ports = "".join(f'  {side}0: {{device: {kind} {side}0, addresses: [10.{n}.0.{last}/24, "2001:db8:{n}::{last:x}/64"], shape: 20 Mbit/s, '
                        f"trust: {'core' if side == 'wan' else 'customer'}{more}}}\n" for side, n in SIDES.items())
        return Router(self.routers[number], f"ports:\n{ports}{queues}")

    def links(self, number, state):
        """The links of one router, at the switch."""
        self.switch.batch(*(f"link set {side}{number} {state}" for side in SIDES))

    def remove(self):
        for namespace in [self.switch, self.a.namespace, self.b.namespace, *self.routers]:
            namespace.remove()


class Keepalived:
    """Of one router: an instance for each side and family, which change their states together."""

    def __init__(self, namespace, number, vmac):
        self.namespace = namespace
        self._directory = tempfile.TemporaryDirectory(prefix="sf-keepalived-")
        self._path = pathlib.Path(self._directory.name)
        self._path.joinpath("conf").write_text(self._conf(number, vmac))

    @staticmethod
    def _conf(number, vmac):
        instances = {}
        for side, n in SIDES.items():
            v4, v6, link = virtual(side)
            for name, addresses in ((f"{side}4", [f"{v4}/24"]), (f"{side}6", [f"{link}/64", f"{v6}/64"])):
                instances[name] = (f"vrrp_instance {name} {{\n interface {side}0\n {'use_vmac' if vmac else ''}\n virtual_router_id {n}\n"
                                   f" priority {PRIORITIES[number]}\n advert_int {INTERVAL}\n virtual_ipaddress {{\n  " + "\n  ".join(addresses) + "\n }\n}\n")
        group = "vrrp_sync_group all {\n group {\n" + "".join(f"  {name}\n" for name in instances) + " }\n}\n"
        return f"global_defs {{\n router_id r{number}\n vrrp_version 3\n}}\n{group}" + "".join(instances.values())

    def start(self):
        """Also behind one that was killed, or that has killed a child: the files of both keep another one from starting."""
        path = self._path
        for file in ("pid", "vrrp.pid"):
            (path / file).unlink(missing_ok=True)
        with open(path / "log", "a") as log:
            self._process = subprocess.Popen(self.namespace.command("keepalived", "-n", "-l", "-D", "-f", path / "conf", "-p", path / "pid", "-r", path / "vrrp.pid"),
                                             stdout=log, stderr=log)
        return self

    def log(self):
        return (self._path / "log").read_text()

    def stop(self):
        """In order: it announces priority 0."""
        self._process.terminate()
        self._process.wait(PATIENCE)

    def kill(self):
        for file in ("pid", "vrrp.pid"):
            os.kill(int((self._path / file).read_text()), signal.SIGKILL)
        self._process.wait()

    def end(self):
        if self._process.poll() is None:
            self.stop()
        self._directory.cleanup()


class Vrrpd:
    """FRR's, of one router. The macvlan devices that it needs are there before the router starts."""

    def __init__(self, namespace, number):
        self.namespace, self._conf = namespace, ""
        for side, n in SIDES.items():
            v4, v6, _ = virtual(side)
            self._conf += (f"interface {side}0\n vrrp {n}\n vrrp {n} advertisement-interval {int(INTERVAL * 1000)}\n vrrp {n} priority {PRIORITIES[number]}\n"
                           f" vrrp {n} ip {v4}\n vrrp {n} ipv6 {v6}\n!\n")
            for name, mac, address in ((f"vrrp4-{n}", f"00:00:5e:00:01:{n:02x}", f"{v4}/24"), (f"vrrp6-{n}", f"00:00:5e:00:02:{n:02x}", f"{v6}/64 nodad")):
                namespace.batch(f"link add {name} link {side}0 address {mac} type macvlan mode bridge", f"link set {name} addrgenmode random",
                                f"address add {address} dev {name}", f"link set {name} up")

    def start(self):
        self._frr = Frr(self.namespace, vrrpd=self._conf).__enter__()
        return self

    def log(self):
        return self._frr.show("show vrrp")

    def stop(self):
        self._frr.__exit__()

    def end(self):
        self.stop()
        for name in (f"vrrp{family}-{n}" for family in (4, 6) for n in SIDES.values()):
            self.namespace.ip("link", "del", name)


class PingStream:
    """Pings of an address each 10 ms; the times at which those were sent that have been answered."""

    def __init__(self, host, address):
        self.answered = []
        self._process = host.namespace.popen("ping", "-n", "-D", "-i", "0.01", address)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        for line in self._process.stdout:
            if answer := re.match(r"\[([\d.]+)\].* time=([\d.]+) ms", line):
                self.answered.append(float(answer[1]) - float(answer[2]) / 1000)

    def since(self, moment):
        return bool(self.answered) and self.answered[-1] > moment

    def longest_gap(self, moment):
        """Seconds without an answer, from then on; for a reader's eyes."""
        times = [t for t in self.answered if t > moment] + [time.time()]
        return max((b - a for a, b in zip([moment, *times], times)), default=0)

    def stop(self):
        self._process.terminate()
        self._thread.join()
        self._process.wait()
        self._process.stdout.close()
