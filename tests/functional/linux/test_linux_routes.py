# SPDX-License-Identifier: BSD-3-Clause
"""The table of the router says what the kernel's says: random histories of addresses, routes, next hop objects and links, and after each few
steps the same addresses looked up in both. What the data plane cannot do is refused by name (router/daemon/linux/README.md).

A failure names the seed and the step; SURETY_SEED=n runs that history alone, SURETY_STEPS=n another number of steps. `--long` runs 10,000
steps more."""
import collections
import contextlib
import ipaddress
import itertools
import json
import math
import os
import random
import re
import time

import pytest

from harness import Lab, Router, connect, wait_for
from histories import OTHER, PORTS, RULES, History
from kernel_fib import KernelFib
from router import Lateness

YAML = "ports:\n" + "".join(f'  p{i}: {{device: af_packet p{i}, addresses: [10.0.{i}.254/24, "2001:db8:{i}::fe/64"], trust: core}}\n' for i in range(3))
MORE = pytest.mark.long("10,000 steps, minutes")
SEEDS = [int(os.environ["SURETY_SEED"])] if "SURETY_SEED" in os.environ else [*range(4), *(pytest.param(n, marks=MORE) for n in range(4, 54))]
STEPS = int(os.environ.get("SURETY_STEPS", 200))
SPECIAL = ("-4", "-6", "carrier", "sysctl", "recreate", "swap")  # all other lines go to ip(8) as they are
AT_ONCE, BURST = 4, 40  # steps between two comparisons, at most; of one in ten
PATIENCE = 10  # seconds; of a link the kernel announces no routes, and the router reads them again a second later
HIDDEN = 80  # seconds; IPv6 routes that were between next hops of a multipath route are read again a minute after its end

PROBES = ["198.51.0.5", "198.51.100.5", "198.51.100.200", "203.0.113.5", "203.0.113.7", "203.0.113.70", "203.0.113.255", "192.0.2.1", "192.0.2.77",
          "192.0.2.200", "192.0.2.255", "10.0.1.9", "10.0.1.254", "10.0.2.9", "8.8.8.8", "2001:db8:a::5", "2001:db8:a:1::5", "2001:db8:a:1::7",
          "2001:db8:b::5", "2001:db8:b::1", "2001:db8:c::5", "2001:db8:1::", "2001:db8:1::9", "2001:db8:1::fe", "2001:db8:ffff::1"]

# Each finding of a comparison with Linux, as a history of its own.
FOUND = {
    "append": ["route add 198.51.100.0/24 via 10.0.1.1", "route append 198.51.100.0/24 via 10.0.2.1", "CHECK",
               "route del 198.51.100.0/24 via 10.0.2.1", "CHECK", "route append 198.51.100.0/24 via 10.0.2.1", "route del 198.51.100.0/24 via 10.0.1.1"],
    "prepend": ["route add 198.51.100.0/24 via 10.0.1.1", "route prepend 198.51.100.0/24 via 10.0.2.1", "CHECK",
                "route replace 198.51.100.0/24 via 10.0.0.1", "CHECK", "route del 198.51.100.0/24 via 10.0.0.1"],
    "append6": ["route add 2001:db8:a::/48 via 2001:db8:1::1", "route append 2001:db8:a::/48 via 2001:db8:2::1", "CHECK",
                "route append 2001:db8:a::/48 dev p0", "CHECK", "route del 2001:db8:a::/48 via 2001:db8:1::1", "CHECK",
                "route del 2001:db8:a::/48 via 2001:db8:2::1"],
    "protocols": ["route add 198.51.100.0/24 via 10.0.1.1 proto static", "route append 198.51.100.0/24 via 10.0.1.1 proto zebra",
                  "route append 198.51.100.0/24 via 10.0.2.1", "CHECK", "route del 198.51.100.0/24 via 10.0.1.1 proto static", "CHECK",
                  "route del 198.51.100.0/24 via 10.0.1.1 proto zebra"],
    "encap": ["route add 0.0.0.0/0 via 10.0.0.1", "route add 198.51.100.0/24 encap ip id 100 dst 10.9.9.9 via 10.0.1.1",
              "route add 2001:db8:a::/48 encap seg6 mode encap segs 2001:db8:2::99 via 2001:db8:1::1 dev p1"],
    "encap_multipath": ["route add 198.51.100.0/24 nexthop via 10.0.1.1 nexthop encap ip id 100 dst 10.9.9.9 via 10.0.2.1"],
    "encap_object": ["nexthop add id 7 via 2001:db8:1::1 dev p1 encap seg6 mode encap segs 2001:db8:2::99", "route add 2001:db8:a::/48 nhid 7"],
    "noprefixroute": ["route add 192.0.2.0/24 via 10.0.2.1", "address add 192.0.2.1/24 dev p1 noprefixroute"],
    "address_metric": ["address add 203.0.113.1/24 dev p1 metric 500", "route add 203.0.113.0/24 via 10.0.2.1 metric 100"],
    "peer": ["address add 192.0.2.1 peer 203.0.113.1/24 dev p1"],
    "subnet_removed": ["route del 10.0.1.0/24 dev p1", "CHECK", "route add 10.0.1.0/24 via 10.0.2.1"],
    "local": ["route add 0.0.0.0/0 via 10.0.0.1", "route add local 203.0.113.0/28 dev lo", "route add 203.0.113.7/32 via 10.0.1.1", "CHECK",
              "route del local 203.0.113.0/28 dev lo"],
    "local_main": ["route add local 203.0.113.0/24 dev lo table main", "route add 203.0.113.7/32 via 10.0.1.1"],
    "broadcast": ["address add 192.0.2.1/24 brd 192.0.2.77 dev p1"],
    "mtu": ["route add 198.51.100.0/24 via 10.0.1.1 mtu 1400", "route add 203.0.113.0/24 via 10.0.1.1 mtu lock 1400",
            "route add 2001:db8:a::/48 via 2001:db8:1::1 mtu lock 1400", "route add 2001:db8:b::/48 via 2001:db8:1::1 mtu 1400",
            "CHECK", "route replace 2001:db8:a::/48 via 2001:db8:1::1 mtu lock 1000", "route replace 2001:db8:b::/48 via 2001:db8:1::1 mtu 1000"],
    "linkdown": ["sysctl net.ipv4.conf.p1.ignore_routes_with_linkdown=1", "route add 198.51.100.0/24 via 10.0.1.1 metric 10",
                 "route add 198.51.100.0/24 via 10.0.2.1 metric 20", "route add 10.0.1.0/24 via 10.0.2.1 metric 20", "CHECK", "carrier p1 down", "CHECK",
                 "route replace 198.51.100.0/24 via 10.0.1.1 metric 20", "CHECK", "carrier p1 up"],
    "linkdown_setting": ["route add 198.51.100.0/24 via 10.0.1.1 metric 10", "route add 198.51.100.0/24 via 10.0.2.1 metric 20", "carrier p1 down",
                         "CHECK", "sysctl net.ipv4.conf.p1.ignore_routes_with_linkdown=1", "CHECK", "carrier p1 up"],
    # A report of all routes has the dead one.
    "linkdown_removed": ["sysctl net.ipv4.conf.p2.ignore_routes_with_linkdown=1", "route add blackhole 198.51.100.0/24",
                         "route prepend 198.51.100.0/24 via 10.0.2.2 dev p2", "carrier p2 down", "link set p1 down", "CHECK", "link set p1 up", "CHECK",
                         "route del 198.51.100.0/24", "CHECK", "carrier p2 up"],
    # IPv6 replaces the first route, also if the same one is behind it.
    "replace_equal": ["route add 2001:db8:a::/48 dev p0", "route append 2001:db8:a::/48 dev p2 pref low",
                      "route change 2001:db8:a::/48 dev p2 proto static", "CHECK", "route del 2001:db8:a::/48 dev p2 proto static"],
    # A report of all routes leaves out those between the next hops of a multipath route.
    "replace_beside": ["route append 2001:db8:a::/48 dev p2", "route append 2001:db8:a::/48 dev p0",
                       "route change 2001:db8:a::/48 nexthop via 2001:db8:1::2 dev p1 nexthop via 2001:db8:0::1 dev p0 nexthop via 2001:db8:2::2 dev p2",
                       "CHECK", "link set p2 down", "CHECK", "link set p2 up", "CHECK", "PAUSE", "route change unreachable 2001:db8:a::/48"],
    "tos_object": ["nexthop add id 4 via 10.0.1.1 dev p1", "route add 203.0.113.7/32 nhid 4 tos 0x08",
                   "nexthop replace id 4 via 10.0.0.2 dev p0 encap ip id 100 dst 10.9.9.9"],
    "tos_elsewhere": ["route add blackhole 198.51.100.0/24", "route add 198.51.100.0/24 dev d0 tos 0x08"],
    "tos": ["route add 198.51.100.0/24 via 10.0.1.1", "route add 198.51.100.0/24 tos 0x10 via 10.0.2.1", "CHECK", "route del 198.51.100.0/24 tos 0x10"],
    "source": ["route add 2001:db8:a::/48 via 2001:db8:0::1", "route add 2001:db8:a::/48 from 2001:db8:8::/48 via 2001:db8:1::1",
               "route add 2001:db8:a::/48 from 2001:db8:9::/48 via 2001:db8:2::1", "CHECK",
               "route del 2001:db8:a::/48 from 2001:db8:8::/48", "CHECK", "route del 2001:db8:a::/48 from 2001:db8:9::/48"],
    "throw_local": ["route add 0.0.0.0/0 via 10.0.0.1", "route add throw 198.51.100.0/24 table local", "CHECK",
                    "route add 198.51.100.0/25 via 10.0.1.1", "route add ::/0 via 2001:db8:0::1",
                    "route add throw 2001:db8:a::/48 table local", "CHECK", "route del throw 198.51.100.0/24 table local"],
    "throw": ["route add 0.0.0.0/0 via 10.0.0.1", "route add throw 198.51.100.0/24"],
    "preference": ["route add 2001:db8:a::/48 dev p1 pref low", "route append 2001:db8:a::/48 dev p2 pref high"],
    "onlink": ["route add 198.51.100.0/24 via 172.31.1.1 dev p1 onlink"],
    "metrics": ["route add 2001:db8:a::/48 via 2001:db8:1::1 metric 0", "route add 2001:db8:a::/48 via 2001:db8:2::1 metric 1023"],
}


class Triple(Lab):
    """Three ports whose other ends answer nothing, and a device that is no port."""

    def __init__(self):
        super().__init__()
        self.far = self.host("far", "spare", []).namespace
        self.router.sysctl("net.ipv6.conf.all.forwarding=1", "net.ipv4.ip_forward=1")
        self._ends = {port: port for port in PORTS}  # by port, the device at the other end
        for device in [*PORTS, OTHER]:
            self._create(device)

    def _create(self, device):
        end = self._ends.get(device, device)
        connect(self.router, device, self.far, end)
        self.far.sysctl(f"net.ipv4.conf.{end}.arp_ignore=8", f"net.ipv6.conf.{end}.disable_ipv6=1")

    def do(self, *lines):
        """Steps; what the kernel refuses changes nothing."""
        for first, run in itertools.groupby(lines, lambda line: line.split()[0] if line.startswith(SPECIAL) else "ip"):
            if first == "ip":
                self._batch(*run)
            elif first in ("-4", "-6"):
                self._batch(*(line.removeprefix(first) for line in run), family=[first])
            else:
                for line in run:
                    self._do_special(*line.split())

    def _batch(self, *lines, family=()):
        self.router.ip(*family, "-force", "-batch", "-", input="".join(f"{line}\n" for line in lines), check=False)

    def _do_special(self, word, *what):
        if word == "carrier":
            self.far.ip("link", "set", self._ends[what[0]], what[1])
        elif word == "sysctl":
            with contextlib.suppress(OSError):  # a device with a small MTU has no IPv6
                self.router.sysctl(what[0])
        elif word == "recreate":
            self.router.ip("link", "del", what[0])
            self._create(what[0])
        else:
            a, b = what
            self.router.batch(f"link set {a} name swap", f"link set {b} name {a}", f"link set swap name {b}")
            self._ends[a], self._ends[b] = self._ends[b], self._ends[a]

    def clean(self):
        """As it was: only the router's addresses and their routes."""
        self.do(*(f"link set {port} mtu 1500" for port in PORTS),
                *(f"sysctl net.ipv{f}.conf.{p}.ignore_routes_with_linkdown=0" for f in (4, 6) for p in PORTS),
                *(f"sysctl net.ipv6.conf.{p}.disable_ipv6=0" for p in PORTS))
        lines = [*(f"link set {port} down" for port in [*PORTS, OTHER]),  # takes its routes with it
                 "nexthop flush", "address flush dev lo scope global", f"address flush dev {OTHER}"]
        for family in (4, 6):
            lines += [f"-{family} route flush table main type {kind}" for kind in ("unicast", "blackhole", "unreachable", "prohibit", "throw")]
            lines += [f"-{family} route flush table local type {kind} proto boot" for kind in ("local", "anycast", "throw")]
            lines += [f"-{family} route flush table 100", *(f"-{family} rule del priority 7" for _ in RULES)]
        for port in PORTS:
            self.far.ip("link", "set", port, "up")
            lines += [f"address flush dev {port}", f"link set {port} up", f"address replace 10.0.{port[1]}.254/24 dev {port}",
                      f"address replace 2001:db8:{port[1]}::fe/64 dev {port} nodad"]
        self.do(*lines, f"link set {OTHER} up")


class Table:
    """The router's routes, as `show` has them."""

    def __init__(self, shown):
        self._rows = {}
        for row in json.loads(shown):
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


def only_ports(found):
    """What a lookup in the kernel finds, where the data plane uses ports only and leaves the rest to the kernel."""
    if isinstance(found, str):
        return found
    hops = {hop: weight for hop, weight in found[0].items() if hop[1] in PORTS}
    common = math.gcd(*hops.values())
    return ({hop: weight // common for hop, weight in hops.items()}, found[1]) if hops else "kernel"


class Comparison:
    def __init__(self, lab, router):
        self._lab, self._router, self._fib, self.done = lab, router, KernelFib(lab.router), []

    def close(self):
        self._fib.close()

    def differences(self):
        shown = self._router.show("routes", "--json", check=False)
        if shown.returncode != 0:  # busy
            return {"show": shown.stderr}
        table, found = Table(shown.stdout), {}
        for probe in PROBES:
            kernel, ours = only_ports(self._fib.lookup(probe)), table.lookup(probe)
            if kernel != ours and not self._is_named(probe, kernel, ours):
                found[probe] = f"kernel {kernel}, router {ours}"
        return found

    def agree(self, what):
        """They agree, within PATIENCE: the router follows."""
        late, began = Lateness(), time.monotonic()
        while found := self.differences():
            until = began + (HIDDEN if all(self._was_between(probe) for probe in found) else PATIENCE)
            if time.monotonic() > until and time.monotonic() > until + late.seconds():
                shown = self._lab.router.ip("route", "show", "table", "all").stdout + self._lab.router.ip("-6", "route", "show", "table", "all").stdout
                pytest.fail(f"{what}: {found}\n{shown}\n{self._router.show('routes').stdout}")
            time.sleep(0.02)

    def _was_between(self, probe):
        """Whether this history gave a prefix of the probe several gateways and a route without one, of one metric (router/daemon/linux/README.md)."""
        if ":" not in probe:
            return False
        gateways, others = collections.Counter(), set()
        for line in self.done:
            if (found := re.match(r"route (?:add|append|prepend|replace) (?:(?:unreachable|prohibit|blackhole|throw) )?(\S*:\S*/\d+)", line)) \
                    and ipaddress.ip_address(probe) in ipaddress.ip_network(found[1], strict=False):
                metric = re.search(r" metric (\d+)", line)
                place = found[1], metric and metric[1]
                gateways[place] += line.count(" via ")
                others |= set() if " via " in line else {place}
        return any(gateways[place] > 1 for place in others)

    def _is_named(self, probe, kernel, ours):
        """The list of router/daemon/linux/README.md."""
        if kernel == "encapsulated" and ours == "unsupported (encapsulation)":
            return True
        if kernel == "broadcast":
            return ours == "blackhole"
        if not isinstance(kernel, str) and not isinstance(ours, str) and ":" in probe and len(ours[0]) > 1:
            return kernel[0] == ours[0]  # each of several next hops of IPv6 has an MTU of its own
        if ours == ({(None, self._removed(probe)): 1}, 0):
            return True
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

    def _removed(self, probe):
        """The port whose subnet has it, if the kernel has lost the port's address there: the router sets it again, after pauses."""
        for port in PORTS:
            for own in (f"10.0.{port[1]}.254/24", f"2001:db8:{port[1]}::fe/64"):
                if ipaddress.ip_address(probe) in ipaddress.ip_network(own, strict=False):
                    return None if own in self._lab.router.ip("address", "show", "dev", port).stdout else port
        return None

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
        if line == "PAUSE":
            time.sleep(1.5)
        elif line == "CHECK":
            comparison.agree(f"{name}, before step {step}")
        else:
            lab.do(line)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_history_is_as_with_linux(net, seed):
    lab, _, comparison = net
    history, many, done = History(seed), random.Random(seed), []
    while len(done) < STEPS:
        steps = [history.step() for _ in range(many.randint(1, AT_ONCE if many.randrange(10) else BURST))]
        lab.do(*steps)
        done += steps
        comparison.done = done
        comparison.agree(f"seed {seed}, after step {len(done)}, last {done[-len(steps) - 8:]}")


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
