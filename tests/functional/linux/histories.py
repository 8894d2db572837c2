# SPDX-License-Identifier: BSD-3-Clause
"""Random histories of a kernel's control plane, for a router with the ports p0, p1, p2 and a device d0 that is no port."""
import random

PORTS = ["p0", "p1", "p2"]
PREFIXES = {4: ["0.0.0.0/0", "198.51.0.0/16", "198.51.100.0/24", "198.51.100.0/25", "203.0.113.0/24", "203.0.113.64/26", "203.0.113.7/32",
                "10.0.1.0/24"],
            6: ["::/0", "2001:db8:a::/48", "2001:db8:a:1::/64", "2001:db8:a:1::7/128", "2001:db8:b::/48", "2001:db8:1::/64"]}
GATEWAYS = {4: [(f"10.0.{i}.{n}", f"p{i}") for i in range(3) for n in (1, 2)], 6: [(f"2001:db8:{i}::{n}", f"p{i}") for i in range(3) for n in (1, 2)]}
ADDRESSES = {4: ["192.0.2.1/24", "192.0.2.129/25", "203.0.113.1/24"], 6: ["2001:db8:c::1/64", "2001:db8:b::1/64"]}
UNKNOWN = {4: "172.31.1.1", 6: "2001:db8:77::1"}  # gateways outside the subnets
OBJECTS = [1, 2, 3, 4, 5, 11, 12, 13]  # from 11 on: groups
OTHER = "d0"
RULES = ["from 10.5.0.0/16", "fwmark 9", "iif p1", "oif p1"]  # a lookup without a source or a device meets none
ENCAPS = {4: ["encap ip id 100 dst 10.9.9.9"], 6: ["encap seg6 mode encap segs 2001:db8:2::99", "encap ip6 id 100 dst 2001:db8:9::9"]}


class History:
    """Random steps of a kernel's control plane: lines for ip(8), `carrier PORT up|down`, `sysctl NAME=VALUE`, `recreate DEVICE`,
    `swap PORT PORT` (their names)."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def step(self):
        # Few changes that the kernel does not announce: each takes a second.
        kinds = [(160, self.route), (16, self.next_hop), (12, self.address), (8, self.local), (4, self.rule), (1, self.link), (1, self.carrier),
                 (1, self.setting), (1, self.device), (3, self.flush)]
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
            hops = [f"via {g} dev {d}" for g, d in self._random.sample(GATEWAYS[family], self.pick(2, 3))]
            if self.one_in(4):
                hops[0] = self.pick("dev p0", f"dev {OTHER}", f"via {UNKNOWN[family]} dev p2 onlink")
            return " ".join(f"nexthop {hop} weight {self.pick(1, 1, 2, 3)}" for hop in hops)
        if kind < 14:
            return f"nhid {self.pick(*OBJECTS)}"
        if kind < 15:
            return self.pick(*ENCAPS[family]) + " via {} dev {}".format(*self.pick(*GATEWAYS[family]))
        if kind < 16 and family == 4:
            return "via inet6 {} dev {}".format(*self.pick(*GATEWAYS[6]))
        if kind < 17:
            return f"via {UNKNOWN[family]} dev {self.pick(*PORTS)} onlink"
        return f"dev {OTHER}" if kind < 18 else self.hop(family)

    def route(self):
        family = self.family()
        action = self.pick("add", "append", "append", "prepend", "replace", "change", "del", "del")
        words = [f"route {action}"]
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
        if self.one_in(20):
            words.append("table 100")
        if action == "del":
            return " ".join(words)
        if self.one_in(8):
            words.append(f"mtu {self.pick('', 'lock ')}{self.pick(1300, 1400)}")
        if self.one_in(12):
            words.append(self.pick("advmss 1200", "hoplimit 9", "initcwnd 20"))
        if self.one_in(12) and family == 4:
            words.append("scope link")
        if self.one_in(12) and family == 4:
            words.append(f"tos {self.pick('0x10', '0x08')}")
        if self.one_in(10):
            words.append(f"src 10.0.{self.pick(0, 1, 2)}.254" if family == 4 else f"src 2001:db8:{self.pick(0, 1, 2)}::fe")
        if self.one_in(8) and family == 6:
            words.append(f"pref {self.pick('low', 'medium', 'high')}")
        return " ".join(words)

    def next_hop(self):
        ident = self.pick(*OBJECTS)
        action = self.pick("add", "add", "replace", "del")
        if action == "del":
            return f"nexthop del id {ident}"
        if ident == 13:
            return f"nexthop {action} id 13 group {self.pick('1/2', '1,3/2')} type resilient buckets 8"
        if ident == 5:
            return f"nexthop {action} id 5 dev {self.pick(OTHER, 'p0')}"
        if ident > 10:
            return f"nexthop {action} id {ident} group {self.pick('1/2', '1,3/2', '2', '1/4', '3', '1/5')}"
        if ident == 3:
            return f"nexthop {action} id 3 " + self.pick("blackhole", "via {} dev {}".format(*self.pick(*GATEWAYS[4])))
        family = 6 if ident == 4 and self.one_in(2) else 4
        gateway, device = self.pick(*GATEWAYS[family])
        return f"nexthop {action} id {ident} via {gateway} dev {device}" + (" " + self.pick(*ENCAPS[family]) if self.one_in(5) else "")

    def address(self):
        family, device = self.family(), self.pick(*PORTS)
        address = self.pick(*ADDRESSES[family])
        if self.one_in(12):
            return f"address {self.pick('add', 'del')} {'203.0.113.70/32' if family == 4 else '2001:db8:a:1::7/128'} dev {self.pick('lo', OTHER)}"
        if self.one_in(30):  # the router sets its own again
            return self.pick(f"address flush dev {device} scope global", f"address del 10.0.{device[1]}.254/24 dev {device}")
        if self.one_in(2):
            return f"address del {address} dev {device}"
        more = self.pick("", "", "noprefixroute", "metric 500", "valid_lft 900 preferred_lft 0")
        if self.one_in(6):
            address = "192.0.2.1 peer 203.0.113.9/24" if family == 4 else "2001:db8:c::1 peer 2001:db8:b::9/64"
        return f"address {self.pick('add', 'add', 'replace')} {address} dev {device} {more}{' nodad' if family == 6 else ''}"

    def local(self):
        family = self.family()
        where = self.pick("203.0.113.0/28", "198.51.100.0/24", "203.0.113.7/32") if family == 4 else self.pick("2001:db8:a:1::/64", "2001:db8:b::/48")
        return f"route {self.pick('add', 'add', 'del')} {self.pick('local', 'local', 'anycast')} {where} dev lo"

    def link(self):
        return f"link set {self.pick(*PORTS)} {self.pick('up', 'up', 'down')}"

    def carrier(self):
        return f"carrier {self.pick(*PORTS)} {self.pick('up', 'up', 'down')}"

    def setting(self):
        if self.one_in(3):
            return f"sysctl net.ipv6.conf.{self.pick(*PORTS)}.disable_ipv6={self.pick(0, 0, 1)}"
        return f"sysctl net.ipv{self.family()}.conf.{self.pick(*PORTS)}.ignore_routes_with_linkdown={self.pick(0, 1)}"

    def device(self):
        port = self.pick(*PORTS)
        return self.pick(f"recreate {port}", f"recreate {OTHER}", "swap {} {}".format(*self._random.sample(PORTS, 2)),
                         f"link set {port} mtu {self.pick(1500, 1500, 1400, 1200)}", f"link set {port} address 02:00:00:00:01:0{self.pick(1, 2)}",
                         f"link set {OTHER} {self.pick('up', 'up', 'down')}")

    def rule(self):
        return f"-{self.family()} rule {self.pick('add', 'del')} {self.pick(*RULES)} lookup 100 priority 7"

    def flush(self):
        if self.one_in(8):
            return self.pick("nexthop flush", f"-{self.family()} route flush dev {self.pick(*PORTS)} scope global")
        return f"-{self.family()} route flush proto {self.pick('zebra', 'static')}"
