# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's routes, neighbours, addresses and links are the router's: each change takes effect while traffic runs."""
import itertools
import threading

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from harness import Router, UdpSource, Wire, udp_to, wait_for
from pair import Pair, ports

FAR, FAR6 = "198.51.100.1", "2001:db8:ff::1"
NETS = {4: "198.51.100.0/24", 6: "2001:db8:ff::/48"}
MARK = 7000  # destination port of the probes


class Triangle(Pair):
    """Two ways out: hosts b (wan0) and c (wan1); the far addresses belong to neither."""

    def __init__(self):
        super().__init__()
        self.c = self.host("c", "wan1", ["10.3.0.1/24", "2001:db8:3::1/64"], ["10.3.0.254", "2001:db8:3::fe"])


class Traffic(threading.Thread):
    """A steady stream of probes to the far addresses, each with a number, seen by b or c as frames."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        self.sources = [UdpSource(lab.a, FAR, MARK), UdpSource(lab.a, FAR6, MARK)]
        self._ended = threading.Event()
        self.start()

    def run(self):
        for number in itertools.count():
            if self._ended.wait(0.002):
                return
            self.sources[number % 2].send(number.to_bytes(4, "big"))

    def stop(self):
        self._ended.set()
        self.join()


@pytest.fixture(scope="module")
def lab():
    with Triangle() as made:
        yaml = ports() + '  wan1: {device: af_xdp wan1, addresses: [10.3.0.254/24, "2001:db8:3::fe/64"], trust: core}\n'
        with Router(made.router, yaml) as router:
            made.running = router
            yield made


@pytest.fixture
def net(lab):
    """Traffic runs; afterwards the routes are gone, the accounts are right."""
    traffic = Traffic(lab)
    with Wire(lab.b) as lab.to_b, Wire(lab.c) as lab.to_c:
        yield lab
        traffic.stop()
    for family, prefix in NETS.items():
        lab.router.ip(f"-{family}", "route", "flush", "to", "root", prefix)
    lab.running.settle()


def route(lab, action, *how, family=4):
    lab.router.ip(f"-{family}", "route", action, NETS[family], *how)


def probe(family):
    return lambda p: udp_to(MARK)(p) and (p.type == 0x0800) == (family == 4)


def arrives(wire, family=4):
    """Probes arrive there from now on."""
    wire.drain()
    return wire.find(probe(family))


def moves(lab, to, away, family=4):
    """Probes arrive at `to`, and after those that were under way none at `away`."""
    assert arrives(to, family) is not None
    away.drain()
    for _ in range(50):  # while 50 more arrive at the new place
        assert to.find(probe(family)) is not None
    assert [f for f in away.drain() if probe(family)(Ether(f))] == []


def stops(lab, wire, reason, family=4):
    """Probes end under that reason, and no longer arrive."""
    before = lab.running.metrics().drops("lan0").get(reason, 0)
    lab.running.until(lambda m: m.drops("lan0").get(reason, 0) >= before + 10)
    wire.drain()
    lab.running.until(lambda m: m.drops("lan0").get(reason, 0) >= before + 50)
    assert [f for f in wire.drain() if probe(family)(Ether(f))] == []


GATEWAYS = {4: ("10.2.0.1", "10.3.0.1"), 6: ("2001:db8:2::1", "2001:db8:3::1")}


@pytest.mark.parametrize("family", [4, 6])
def test_route_added_replaced_deleted(net, family):
    via_b, via_c = GATEWAYS[family]
    stops(net, net.to_b, "no_route", family)
    route(net, "add", "via", via_b, family=family)
    moves(net, net.to_b, net.to_c, family)
    route(net, "replace", "via", via_c, family=family)
    moves(net, net.to_c, net.to_b, family)
    route(net, "del", family=family)
    stops(net, net.to_c, "no_route", family)


def test_longer_prefix_wins_while_it_is_there(net):
    route(net, "add", "via", "10.2.0.1")
    moves(net, net.to_b, net.to_c)
    net.router.ip("route", "add", f"{FAR}/32", "via", "10.3.0.1")
    moves(net, net.to_c, net.to_b)
    net.router.ip("route", "del", f"{FAR}/32")
    moves(net, net.to_b, net.to_c)


def test_smaller_metric_wins(net):
    route(net, "add", "via", "10.2.0.1", "metric", "20")
    moves(net, net.to_b, net.to_c)
    route(net, "add", "via", "10.3.0.1", "metric", "10")
    moves(net, net.to_c, net.to_b)


@pytest.mark.parametrize("kind", ["blackhole", "unreachable", "prohibit"])
def test_blackhole(net, kind):
    net.router.ip("route", "add", kind, NETS[4])
    stops(net, net.to_b, "blackhole")


@pytest.mark.parametrize("family", [4, 6])
def test_equal_cost_routes_share_the_flows_and_keep_each_together(net, family):
    via_b, via_c = GATEWAYS[family]
    route(net, "add", "nexthop", "via", via_b, "nexthop", "via", via_c, family=family)
    wait_for(lambda: net.to_b.find(probe(family), 0.05) or net.to_c.find(probe(family), 0.05))
    flows, packets = 64, 5
    ping_gateways(net, family)

    def send():
        for flow in range(flows):
            with UdpSource(net.a, FAR if family == 4 else FAR6, 7100, bind=("", 20000 + flow)) as source:
                for _ in range(packets):
                    source.send(b"flow")

    seen = {"b": [], "c": []}

    def everything_arrived():
        for name, wire in (("b", net.to_b), ("c", net.to_c)):
            seen[name] += [p[UDP].sport for p in map(Ether, wire.drain()) if udp_to(7100)(p)]
        return sum(map(len, seen.values())) == flows * packets

    send()
    wait_for(everything_arrived)
    of_b, of_c = set(seen["b"]), set(seen["c"])
    assert of_b.isdisjoint(of_c) and len(of_b | of_c) == flows
    assert min(len(of_b), len(of_c)) >= flows // 4  # 16 of 64: chance makes it less once in 40,000 runs


def ping_gateways(net, family):
    """Their neighbours are known to the router then, so that nothing waits for a resolution."""
    for gateway in GATEWAYS[family]:
        net.a.namespace.run("ping", "-n", "-c", "1", "-w", "20", gateway)


def test_permanent_neighbour_is_used_at_once(net):
    route(net, "add", "via", "10.2.0.1")
    assert arrives(net.to_b) is not None
    net.router.ip("neigh", "replace", "10.2.0.1", "lladdr", "02:00:00:00:00:77", "dev", "wan0", "nud", "permanent")
    wait_for(lambda: arrives(net.to_b).dst == "02:00:00:00:00:77")
    net.router.ip("neigh", "replace", "10.2.0.1", "lladdr", net.b.mac, "dev", "wan0", "nud", "permanent")
    wait_for(lambda: arrives(net.to_b).dst == net.b.mac)
    net.router.ip("neigh", "del", "10.2.0.1", "dev", "wan0")


@pytest.mark.parametrize("family", [4, 6])
def test_flushed_neighbour_is_found_again(net, family):
    route(net, "add", "via", GATEWAYS[family][0], family=family)
    assert arrives(net.to_b, family) is not None
    net.router.ip("neigh", "flush", "dev", "wan0")
    assert arrives(net.to_b, family).dst == net.b.mac


def test_neighbour_with_a_new_mac_address_is_followed(net):
    route(net, "add", "via", "10.2.0.1")
    assert arrives(net.to_b) is not None
    net.b.namespace.ip("link", "set", "eth0", "address", "02:00:00:00:00:bb")
    net.router.ip("neigh", "flush", "dev", "wan0")
    wait_for(lambda: arrives(net.to_b).dst == "02:00:00:00:00:bb")
    net.b.namespace.ip("link", "set", "eth0", "address", net.b.mac)
    net.router.ip("neigh", "flush", "dev", "wan0")
    wait_for(lambda: arrives(net.to_b).dst == net.b.mac)


@pytest.mark.parametrize("address,host,peer", [("10.9.0.254", "10.9.0.1", "10.9.0.1/24"),
                                               ("2001:db8:9::fe", "2001:db8:9::1", "2001:db8:9::1/64")])
def test_address_added_is_local_and_its_subnet_reachable(net, address, host, peer):
    length = peer.split("/")[1]
    net.c.namespace.add_address("eth0", peer)
    net.router.add_address("wan1", f"{address}/{length}")
    # Until the router has heard of it, "no route" is an answer, and the end of a ping.
    wait_for(lambda: "ttl=64" in net.a.namespace.run("ping", "-n", "-c", "1", "-w", "20", address, check=False).stdout)
    net.c.namespace.ip("route", "add", "10.1.0.0/24" if "." in address else "2001:db8:1::/64", "via", address)
    assert "ttl=63" in net.a.namespace.run("ping", "-n", "-c", "1", "-w", "20", host).stdout
    before = net.running.metrics().drops("lan0").get("no_route", 0)
    net.router.ip("address", "del", f"{address}/{length}", "dev", "wan1")
    net.c.namespace.ip("address", "del", peer, "dev", "eth0")
    with UdpSource(net.a, address, 9) as source:
        def unreachable():
            source.send(b"x")
            return net.running.metrics().drops("lan0").get("no_route", 0) > before
        wait_for(unreachable)


def test_link_down_and_up(net):
    route(net, "add", "via", "10.2.0.1", "metric", "10")
    route(net, "add", "via", "10.3.0.1", "metric", "20")
    moves(net, net.to_b, net.to_c)
    net.router.ip("link", "set", "wan0", "down")
    net.running.until(lambda m: m.value("surety_port_up", port="wan0") == 0)
    moves(net, net.to_c, net.to_b)
    net.router.ip("link", "set", "wan0", "up")
    net.running.until(lambda m: m.value("surety_port_up", port="wan0") == 1)
    route(net, "add", "via", "10.2.0.1", "metric", "10")
    moves(net, net.to_b, net.to_c)


def test_hundreds_of_routes_come_and_go(net):
    """More than one netlink message holds."""
    prefixes = [f"172.{16 + i // 256}.{i % 256}" for i in range(900)]

    def change(action):
        net.router.ip("-batch", "-", input="".join(f"route {action} {p}.0/24 via 10.2.0.1\n" for p in prefixes))

    change("add")
    net.running.until(lambda m: m.value("surety_routes") >= 900)
    for p in prefixes[::50]:
        with UdpSource(net.a, f"{p}.1", 7200) as source:
            source.send(b"x")
            assert net.to_b.find(udp_to(7200))[IP].dst == f"{p}.1"
    change("del")
    net.running.until(lambda m: m.value("surety_routes") < 100)
