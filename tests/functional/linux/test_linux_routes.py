# SPDX-License-Identifier: BSD-3-Clause
"""The table of the router says what the kernel's says: random histories of addresses, routes, next hop objects and links, and after each few
steps the same addresses looked up in both. What the data plane cannot do is refused by name (router/daemon/linux/README.md).

A failure names the seed and the step; SURETY_SEED=n runs that history alone, SURETY_STEPS=n another number of steps."""
import ipaddress
import json
import os
import random
import re
import time

import pytest

from harness import Lab, Router, connect, wait_for
from kernel_fib import KernelFib

PORTS = ["p0", "p1", "p2"]
YAML = "ports:\n" + "".join(f'  p{i}: {{device: af_packet p{i}, addresses: [10.0.{i}.254/24, "2001:db8:{i}::fe/64"], trust: core}}\n' for i in range(3))
SEEDS = [int(os.environ["SURETY_SEED"])] if "SURETY_SEED" in os.environ else range(4)
STEPS = int(os.environ.get("SURETY_STEPS", 200))
AT_ONCE = 4  # steps between two comparisons, at most
PATIENCE = 10  # seconds; of a link the kernel announces no routes, and the router reads them again a second later

PREFIXES = {4: ["0.0.0.0/0", "198.51.0.0/16", "198.51.100.0/24", "198.51.100.0/25", "203.0.113.0/24", "203.0.113.64/26", "203.0.113.7/32",
                "10.0.1.0/24"],
            6: ["::/0", "2001:db8:a::/48", "2001:db8:a:1::/64", "2001:db8:a:1::7/128", "2001:db8:b::/48", "2001:db8:1::/64"]}
GATEWAYS = {4: [(f"10.0.{i}.{n}", f"p{i}") for i in range(3) for n in (1, 2)], 6: [(f"2001:db8:{i}::{n}", f"p{i}") for i in range(3) for n in (1, 2)]}
ADDRESSES = {4: ["192.0.2.1/24", "192.0.2.129/25", "203.0.113.1/24"], 6: ["2001:db8:c::1/64", "2001:db8:b::1/64"]}
ENCAPS = {4: ["encap ip id 100 dst 10.9.9.9"], 6: ["encap seg6 mode encap segs 2001:db8:2::99", "encap ip6 id 100 dst 2001:db8:9::9"]}
PROBES = ["198.51.0.5", "198.51.100.5", "198.51.100.200", "203.0.113.5", "203.0.113.7", "203.0.113.70", "203.0.113.255", "192.0.2.1", "192.0.2.77",
          "192.0.2.200", "192.0.2.255", "10.0.1.9", "10.0.1.254", "10.0.2.9", "8.8.8.8", "2001:db8:a::5", "2001:db8:a:1::5", "2001:db8:a:1::7",
          "2001:db8:b::5", "2001:db8:b::1", "2001:db8:c::5", "2001:db8:1::9", "2001:db8:1::fe", "2001:db8:ffff::1"]

# Each finding of a comparison with Linux, as a history of its own.
FOUND = {
    "append": ["route add 198.51.100.0/24 via 10.0.1.1", "route append 198.51.100.0/24 via 10.0.2.1", "CHECK",
               "route del 198.51.100.0/24 via 10.0.2.1", "CHECK", "route append 198.51.100.0/24 via 10.0.2.1", "route del 198.51.100.0/24 via 10.0.1.1"],
    "prepend": ["route add 198.51.100.0/24 via 10.0.1.1", "route prepend 198.51.100.0/24 via 10.0.2.1", "CHECK",
                "route replace 198.51.100.0/24 via 10.0.0.1", "CHECK", "route del 198.51.100.0/24 via 10.0.0.1"],
    "append6": ["-6 route add 2001:db8:a::/48 via 2001:db8:1::1", "-6 route append 2001:db8:a::/48 via 2001:db8:2::1", "CHECK",
                "-6 route append 2001:db8:a::/48 dev p0", "CHECK", "-6 route del 2001:db8:a::/48 via 2001:db8:1::1", "CHECK",
                "-6 route del 2001:db8:a::/48 via 2001:db8:2::1"],
    "protocols": ["route add 198.51.100.0/24 via 10.0.1.1 proto static", "route append 198.51.100.0/24 via 10.0.1.1 proto zebra",
                  "route append 198.51.100.0/24 via 10.0.2.1", "CHECK", "route del 198.51.100.0/24 via 10.0.1.1 proto static", "CHECK",
                  "route del 198.51.100.0/24 via 10.0.1.1 proto zebra"],
    "encap": ["route add 0.0.0.0/0 via 10.0.0.1", "route add 198.51.100.0/24 encap ip id 100 dst 10.9.9.9 via 10.0.1.1",
              "-6 route add 2001:db8:a::/48 encap seg6 mode encap segs 2001:db8:2::99 via 2001:db8:1::1 dev p1"],
    "encap_multipath": ["route add 198.51.100.0/24 nexthop via 10.0.1.1 nexthop encap ip id 100 dst 10.9.9.9 via 10.0.2.1"],
    "encap_object": ["nexthop add id 7 via 2001:db8:1::1 dev p1 encap seg6 mode encap segs 2001:db8:2::99", "-6 route add 2001:db8:a::/48 nhid 7"],
    "noprefixroute": ["route add 192.0.2.0/24 via 10.0.2.1", "address add 192.0.2.1/24 dev p1 noprefixroute"],
    "address_metric": ["address add 203.0.113.1/24 dev p1 metric 500", "route add 203.0.113.0/24 via 10.0.2.1 metric 100"],
    "peer": ["address add 192.0.2.1 peer 203.0.113.1/24 dev p1"],
    "subnet_removed": ["route del 10.0.1.0/24 dev p1", "CHECK", "route add 10.0.1.0/24 via 10.0.2.1"],
    "local": ["route add 0.0.0.0/0 via 10.0.0.1", "route add local 203.0.113.0/28 dev lo", "route add 203.0.113.7/32 via 10.0.1.1", "CHECK",
              "route del local 203.0.113.0/28 dev lo"],
    "local_main": ["route add local 203.0.113.0/24 dev lo table main", "route add 203.0.113.7/32 via 10.0.1.1"],
    "broadcast": ["address add 192.0.2.1/24 brd 192.0.2.77 dev p1"],
    "mtu": ["route add 198.51.100.0/24 via 10.0.1.1 mtu 1400", "route add 203.0.113.0/24 via 10.0.1.1 mtu lock 1400",
            "-6 route add 2001:db8:a::/48 via 2001:db8:1::1 mtu lock 1400", "-6 route add 2001:db8:b::/48 via 2001:db8:1::1 mtu 1400",
            "CHECK", "-6 route replace 2001:db8:a::/48 via 2001:db8:1::1 mtu lock 1000", "-6 route replace 2001:db8:b::/48 via 2001:db8:1::1 mtu 1000"],
    "linkdown": ["sysctl net.ipv4.conf.p1.ignore_routes_with_linkdown=1", "route add 198.51.100.0/24 via 10.0.1.1 metric 10",
                 "route add 198.51.100.0/24 via 10.0.2.1 metric 20", "route add 10.0.1.0/24 via 10.0.2.1 metric 20", "CHECK", "carrier p1 down", "CHECK",
                 "route replace 198.51.100.0/24 via 10.0.1.1 metric 20", "CHECK", "carrier p1 up"],
    "linkdown_setting": ["route add 198.51.100.0/24 via 10.0.1.1 metric 10", "route add 198.51.100.0/24 via 10.0.2.1 metric 20", "carrier p1 down",
                         "CHECK", "sysctl net.ipv4.conf.p1.ignore_routes_with_linkdown=1", "CHECK", "carrier p1 up"],
    "tos": ["route add 198.51.100.0/24 via 10.0.1.1", "route add 198.51.100.0/24 tos 0x10 via 10.0.2.1", "CHECK", "route del 198.51.100.0/24 tos 0x10"],
    "source": ["-6 route add 2001:db8:a::/48 via 2001:db8:0::1", "-6 route add 2001:db8:a::/48 from 2001:db8:8::/48 via 2001:db8:1::1",
               "-6 route add 2001:db8:a::/48 from 2001:db8:9::/48 via 2001:db8:2::1", "CHECK",
               "-6 route del 2001:db8:a::/48 from 2001:db8:8::/48", "CHECK", "-6 route del 2001:db8:a::/48 from 2001:db8:9::/48"],
    "throw_local": ["route add 0.0.0.0/0 via 10.0.0.1", "route add throw 198.51.100.0/24 table local", "CHECK",
                    "route add 198.51.100.0/25 via 10.0.1.1", "-6 route add ::/0 via 2001:db8:0::1",
                    "-6 route add throw 2001:db8:a::/48 table local", "CHECK", "route del throw 198.51.100.0/24 table local"],
    "throw": ["route add 0.0.0.0/0 via 10.0.0.1", "route add throw 198.51.100.0/24"],
    "preference": ["-6 route add 2001:db8:a::/48 dev p1 pref low", "-6 route append 2001:db8:a::/48 dev p2 pref high"],
    "onlink": ["route add 198.51.100.0/24 via 172.31.1.1 dev p1 onlink"],
    "metrics": ["-6 route add 2001:db8:a::/48 via 2001:db8:1::1 metric 0", "-6 route add 2001:db8:a::/48 via 2001:db8:2::1 metric 1023"],
}


class History:
    """Random steps of a kernel's control plane: lines for ip(8), `carrier PORT up|down`, `sysctl NAME=VALUE`."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def step(self):
        # Few changes that the kernel does not announce: each takes a second.
        kinds = [(160, self.route), (16, self.next_hop), (10, self.address), (8, self.local), (1, self.link), (1, self.carrier), (1, self.setting),
                 (3, self.flush)]
        return self._random.choices([k for _, k in kinds], [w for w, _ in kinds])[0]()

    def pick(self, *those):
        return self._random.choice(those)

    def one_in(self, n):
        return self._random.randrange(n) == 0

    def family(self):
        return self.pick(4, 4, 6)

    def hop(self, family, word="via"):
        gateway, device = self.pick(*GATEWAYS[family])
        return self.pick(f"{word} {gateway} dev {device}", f"{word} {gateway} dev {device}", f"dev {device}")

    def way(self, family):
        kind = self._random.randrange(20)
        if kind < 9:
            return self.hop(family)
        if kind < 12:
            hops = self._random.sample(GATEWAYS[family], self.pick(2, 3))
            return " ".join(f"nexthop via {g} dev {d} weight {self.pick(1, 1, 2, 3)}" for g, d in hops)
        if kind < 14:
            return f"nhid {self.pick(1, 2, 3, 4, 11, 12)}"
        if kind < 15:
            return self.pick(*ENCAPS[family]) + " " + " ".join(("via {} dev {}".format(*self.pick(*GATEWAYS[family])),))
        if kind < 16 and family == 4:
            return "via inet6 {} dev {}".format(*self.pick(*GATEWAYS[6]))
        if kind < 17:
            return f"via {'172.31.1.1' if family == 4 else '2001:db8:77::1'} dev {self.pick(*PORTS)} onlink"
        return self.hop(family)

    def route(self):
        family = self.family()
        action = self.pick("add", "append", "append", "prepend", "replace", "change", "del", "del")
        words = [f"-{family} route {action}"]
        kind = self.pick(*["unicast"] * 8, "blackhole", "unreachable", "prohibit", "throw")
        if kind != "unicast":
            words.append(kind)
        words.append(self.pick(*PREFIXES[family]))
        if kind == "unicast" and not (action == "del" and self.one_in(2)):
            words.append(self.way(family))
        if self.one_in(3):
            words.append(f"metric {self.pick(5, 5, 20, 256)}")
        if self.one_in(4):
            words.append(f"proto {self.pick('static', 'zebra')}")
        if action == "del":
            return " ".join(words)
        if self.one_in(8) and family == 4:  # the next hops of an IPv6 multipath route have each their own
            words.append(f"mtu {self.pick('', 'lock ')}{self.pick(1300, 1400)}")
        if self.one_in(12) and family == 4:
            words.append(f"tos {self.pick('0x10', '0x08')}")
        if self.one_in(10) and family == 4:
            words.append(f"src 10.0.{self.pick(0, 1, 2)}.254")
        if self.one_in(8) and family == 6:
            words.append(f"pref {self.pick('low', 'medium', 'high')}")
        return " ".join(words)

    def next_hop(self):
        ident = self.pick(1, 2, 3, 4, 11, 12)
        action = self.pick("add", "add", "replace", "del")
        if action == "del":
            return f"nexthop del id {ident}"
        if ident > 10:
            return f"nexthop {action} id {ident} group {self.pick('1/2', '1,3/2', '2', '1/4', '3')}"
        if ident == 3:
            return f"nexthop {action} id 3 " + self.pick("blackhole", "via {} dev {}".format(*self.pick(*GATEWAYS[4])))
        family = 6 if ident == 4 and self.one_in(2) else 4
        gateway, device = self.pick(*GATEWAYS[family])
        return f"nexthop {action} id {ident} via {gateway} dev {device}" + (" " + self.pick(*ENCAPS[family]) if self.one_in(5) else "")

    def address(self):
        family, device = self.family(), self.pick(*PORTS)
        address = self.pick(*ADDRESSES[family])
        if self.one_in(2):
            return f"address del {address} dev {device}"
        more = self.pick("", "", "noprefixroute", "metric 500")
        if self.one_in(6):
            address = "192.0.2.1 peer 203.0.113.9/24" if family == 4 else "2001:db8:c::1 peer 2001:db8:b::9/64"
        return f"address add {address} dev {device} {more}{' nodad' if family == 6 else ''}"

    def local(self):
        family = self.family()
        where = self.pick("203.0.113.0/28", "198.51.100.0/24", "203.0.113.7/32") if family == 4 else self.pick("2001:db8:a:1::/64", "2001:db8:b::/48")
        return f"-{family} route {self.pick('add', 'add', 'del')} {self.pick('local', 'local', 'anycast')} {where} dev lo"

    def link(self):
        return f"link set {self.pick(*PORTS)} {self.pick('up', 'up', 'down')}"

    def carrier(self):
        return f"carrier {self.pick(*PORTS)} {self.pick('up', 'up', 'down')}"

    def setting(self):
        return f"sysctl net.ipv{self.family()}.conf.{self.pick(*PORTS)}.ignore_routes_with_linkdown={self.pick(0, 1)}"

    def flush(self):
        return f"-{self.family()} route flush proto {self.pick('zebra', 'static')}"


class Triple(Lab):
    """Three ports whose other ends answer nothing."""

    def __init__(self):
        super().__init__()
        self.far = self.host("far", "spare", []).namespace
        self.router.sysctl("net.ipv6.conf.all.forwarding=1", "net.ipv4.ip_forward=1")
        for port in PORTS:
            connect(self.router, port, self.far, port)
            self.far.sysctl(f"net.ipv4.conf.{port}.arp_ignore=8", f"net.ipv6.conf.{port}.disable_ipv6=1")

    def do(self, line):
        """A step; what the kernel refuses changes nothing."""
        if line.startswith("carrier "):
            _, port, state = line.split()
            self.far.ip("link", "set", port, state)
        elif line.startswith("sysctl "):
            self.router.sysctl(line.split()[1])
        else:
            self.router.ip(*line.split(), check=False)

    def clean(self):
        """As it was: only the router's addresses and their routes."""
        for setting in [f"net.ipv{f}.conf.{p}.ignore_routes_with_linkdown=0" for f in (4, 6) for p in PORTS]:
            self.router.sysctl(setting)
        for port in PORTS:
            self.far.ip("link", "set", port, "up")
            self.router.ip("link", "set", port, "down")  # takes its routes with it
        self.router.ip("nexthop", "flush", check=False)
        for family in (4, 6):
            for kind in ("unicast", "blackhole", "unreachable", "prohibit", "throw"):
                self.router.ip(f"-{family}", "route", "flush", "table", "main", "type", kind, check=False)
            for kind in ("local", "anycast", "throw"):
                self.router.ip(f"-{family}", "route", "flush", "table", "local", "type", kind, "proto", "boot", check=False)
        for port in PORTS:
            self.router.ip("address", "flush", "dev", port)
            self.router.ip("link", "set", port, "up")
            for address in (f"10.0.{port[1]}.254/24", f"2001:db8:{port[1]}::fe/64"):
                self.router.ip("address", "replace", address, "dev", port, "nodad", check=False)


class Table:
    """The router's routes, as `show` has them."""

    def __init__(self, router):
        self._rows = {}
        for row in json.loads(router.show("routes", "--json").stdout):
            if row["state"] in ("active", "unresolved"):
                self._rows.setdefault(ipaddress.ip_network(row["prefix"]), row)

    def lookup(self, address):
        address = ipaddress.ip_address(address)
        fitting = [n for n in self._rows if n.version == address.version and address in n]
        if not fitting:
            return "none"
        row = self._rows[max(fitting, key=lambda n: n.prefixlen)]
        way, _, mtu = row["next_hop"].partition(" mtu ")
        if not row["interface"]:
            return {"throw": "none"}.get(way, way)
        hops = {}
        for hop, device in zip(way.split(", "), row["interface"].split(", ")):
            gateway, _, weight = hop.partition(" x")
            hops[None if gateway == "on link" else gateway, device] = int(weight or 1)
        return hops, int(mtu or 0)


class Comparison:
    def __init__(self, lab, router):
        self._lab, self._router, self._fib = lab, router, KernelFib(lab.router)

    def close(self):
        self._fib.close()

    def differences(self):
        table = Table(self._router)
        found = {}
        for probe in PROBES:
            kernel, ours = self._fib.lookup(probe), table.lookup(probe)
            if kernel != ours and not self._is_named(probe, kernel, ours):
                found[probe] = f"kernel {kernel}, router {ours}"
        return found

    def agree(self, what):
        """They agree, within PATIENCE: the router follows."""
        until = time.monotonic() + PATIENCE
        while found := self.differences():
            if time.monotonic() > until:
                shown = self._lab.router.ip("route", "show", "table", "all").stdout + self._lab.router.ip("-6", "route", "show", "table", "all").stdout
                pytest.fail(f"{what}: {found}\n{shown}\n{self._router.show('routes').stdout}")
            time.sleep(0.02)

    def _is_named(self, probe, kernel, ours):
        """The list of router/daemon/linux/README.md."""
        if kernel == "encapsulated" and ours == "unsupported (encapsulation)":
            return True
        if kernel == "broadcast":
            return ours == "blackhole"
        if ours == "local":  # an address of the configuration, which a device that is down has lost
            return probe in YAML
        if ours == "blackhole":  # the first and the last address of a subnet, also where the kernel forwards to the first
            return probe in self._ends()
        if ours == "unsupported (source)":
            shown = self._lab.router.ip("-6", "route", "show", "table", "main").stdout
            return any(ipaddress.ip_address(probe) in ipaddress.ip_network(re.sub("^default", "::/0", line).split()[0])
                       for line in shown.splitlines() if " from " in line)
        if ours == "unsupported (tos)":
            shown = self._lab.router.ip("-4", "route", "show", "table", "main").stdout
            return any(ipaddress.ip_address(probe) in ipaddress.ip_network(re.sub("^default", "0.0.0.0/0", line.removeprefix("blackhole ").removeprefix(
                "unreachable ").removeprefix("prohibit ").removeprefix("throw ")).split()[0]) for line in shown.splitlines() if " tos " in line)
        return False

    def _ends(self):
        ends = set()
        for line in self._lab.router.ip("-o", "-4", "address").stdout.splitlines():
            words = line.split()
            for name in ("inet", "peer", "brd"):
                if name in words:
                    network = ipaddress.ip_network(words[words.index(name) + 1], strict=False)
                    ends |= {str(network[0]), str(network[-1])}
        return ends


@pytest.fixture(scope="module")
def running():
    with Triple() as lab, Router(lab.router, YAML) as router:
        router.follows_kernel()
        comparison = Comparison(lab, router)
        yield lab, router, comparison
        comparison.close()


@pytest.fixture
def net(running):
    lab, _, comparison = running
    comparison.agree("at the beginning")
    yield running
    lab.clean()


@pytest.mark.parametrize("name", FOUND)
def test_a_finding_is_as_with_linux(net, name):
    lab, _, comparison = net
    for step, line in enumerate(FOUND[name] + ["CHECK"]):
        if line == "CHECK":
            comparison.agree(f"{name}, before step {step}")
        else:
            lab.do(line)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_history_is_as_with_linux(net, seed):
    lab, _, comparison = net
    history, many, done = History(seed), random.Random(seed), []
    while len(done) < STEPS:
        for _ in range(many.randint(1, AT_ONCE)):
            done.append(history.step())
            lab.do(done[-1])
        comparison.agree(f"seed {seed}, after step {len(done)}, last {done[-8:]}")


def test_what_is_not_followed_is_said_once(net):
    lab, router, _ = net
    def told(kind):
        return [e["text"] for e in json.loads(router.show("events", "--json").stdout) if e["kind"] == kind]
    before = len(told("unsupported_route")), len(told("unfollowed_rule"))
    lab.router.ip("rule", "add", "from", "10.5.0.0/16", "lookup", "100", "priority", "7")
    lab.router.ip("route", "add", "198.51.100.0/24", "encap", "ip", "id", "100", "dst", "10.9.9.9", "via", "10.0.1.1")
    wait_for(lambda: any("198.51.100.0/24" in text for text in told("unsupported_route")[before[0]:]))
    wait_for(lambda: any("7: from 10.5.0.0/16 lookup 100" in text for text in told("unfollowed_rule")[before[1]:]))
    lab.router.ip("link", "set", "p2", "down")  # all is read again
    lab.router.ip("link", "set", "p2", "up")
    router.follows_kernel()
    assert (len(told("unsupported_route")), len(told("unfollowed_rule"))) == (before[0] + 1, before[1] + 1)
    lab.router.ip("rule", "del", "priority", "7")
    lab.router.ip("rule", "del", "priority", "32766")
    wait_for(lambda: any("32766: from all lookup 254 has been removed" in text for text in told("unfollowed_rule")))
    lab.router.ip("rule", "add", "lookup", "main", "priority", "32766")
