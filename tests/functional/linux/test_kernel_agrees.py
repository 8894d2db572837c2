# SPDX-License-Identifier: BSD-3-Clause
"""The kernel forwards as the configuration says: who reaches the router through its routes has its answers, a link that comes back has
its addresses, and what others have in the kernel is theirs."""
import contextlib
import signal
import socket

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from harness import Router, Wire, wait_for
from pair import Pair, ports

FAR = {4: "198.51.100.1", 6: "2001:db8:f::1"}
OURS = {4: "10.1.0.254", 6: "2001:db8:1::fe"}
ROUTES = 'routes: [{to: 198.51.100.0/24, via: 10.2.0.1}, {to: "2001:db8:f::/48", via: "2001:db8:2::1"}]\n'
FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}


class Far(Pair):
    """Host b has addresses two hops away."""

    def __init__(self):
        super().__init__()
        for family, length in ((4, 32), (6, 128)):
            self.b.namespace.add_address("lo", f"{FAR[family]}/{length}")


@pytest.fixture(params=["af_xdp", "af_packet"])
def lab(request):
    with Far() as made:
        made.yaml = ports(request.param) + ROUTES
        yield made


def ping(lab, family, to=None, check=True):
    return lab.b.namespace.run("ping", "-n", "-c", "1", "-i", "0.2", "-w", "10", "-I", FAR[family], to or OURS[family], check=check)


def session(lab, family):
    """TCP from far away to the router's own address: what SSH, a scrape and BGP are."""
    with lab.router.socket(FAMILY[family], socket.SOCK_STREAM) as server, lab.b.namespace.socket(FAMILY[family], socket.SOCK_STREAM) as client:
        server.bind((OURS[family], 2222))
        server.listen()
        client.settimeout(120)
        client.bind((FAR[family], 0))
        client.connect((OURS[family], 2222))
        with server.accept()[0] as accepted:
            accepted.sendall(b"hello")
            assert client.recv(5) == b"hello"


def static(lab, family):
    return lab.router.ip(f"-{family}", "route", "show", "proto", "83").stdout


def addresses(lab, interface="wan0"):
    shown = lab.router.ip("-o", "address", "show", "dev", interface).stdout.split()
    return {after for word, after in zip(shown, shown[1:]) if word in ("inet", "inet6") and not after.startswith("fe80")}


def test_the_router_answers_whoever_its_routes_lead_to(lab):
    with Router(lab.router, lab.yaml) as router:
        for family in (4, 6):
            ping(lab, family)
            session(lab, family)
        router.path.write_text(router.path.read_text().replace(ROUTES, ""))
        router.process.send_signal(signal.SIGHUP)
        wait_for(lambda: not static(lab, 4) and not static(lab, 6))
        router.path.write_text(router.path.read_text() + ROUTES)
        router.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "198.51.100.0/24 via 10.2.0.1" in static(lab, 4) and "2001:db8:f::/48" in static(lab, 6))
        ping(lab, 4)
    assert static(lab, 4) + static(lab, 6) == ""


def test_who_does_not_want_it_keeps_his_table(lab):
    """Who is far away gets no answer, who is near gets the one to its later question."""
    with Router(lab.router, lab.yaml + "kernel: {static_routes: off}\n") as router, Wire(lab.b) as wire:
        lab.meet()
        lab.b.namespace.run("ping", "-n", "-c", "1", "-W", "0.2", "-I", FAR[4], OURS[4], check=False)
        lab.b.namespace.run("ping", "-n", "-c", "1", "-w", "10", OURS[4])
        answered = {p[IP].dst for p in map(Ether, wire.drain()) if ICMP in p and p[IP].src == OURS[4] and p[ICMP].type == 0}
        assert answered == {lab.b.address(4)}
        assert static(lab, 4) == ""
        router.settle()


def test_a_link_that_comes_back_is_as_before(lab):
    with Router(lab.router, lab.yaml) as router:
        for _ in range(3):
            lab.router.ip("link", "set", "wan0", "down")
            router.until(lambda m: m.value("surety_port_up", port="wan0") == 0)
            lab.router.ip("link", "set", "wan0", "mtu", "1400")
            lab.router.ip("link", "set", "wan0", "up")
            router.until(lambda m: m.value("surety_port_up", port="wan0") == 1)
            for family in (4, 6):
                lab.a.namespace.run("ping", "-n", "-c", "1", "-i", "0.2", "-w", "10", lab.b.address(family))
                ping(lab, family)
        # Of a carrier the kernel tells once a second; packets may pass before.
        wait_for(lambda: addresses(lab) == {"10.2.0.254/24", "2001:db8:2::fe/64"})
        wait_for(lambda: "mtu 1500" in lab.router.ip("link", "show", "wan0").stdout)


def test_a_link_without_a_carrier_at_first_is_as_before(lab):
    lab.b.namespace.ip("link", "set", "eth0", "down")
    wait_for(lambda: "NO-CARRIER" in lab.router.ip("link", "show", "wan0").stdout)
    with Router(lab.router, lab.yaml) as router:
        router.follows_kernel()
        lab.router.ip("link", "set", "wan0", "down", "mtu", "1400")
        lab.b.namespace.ip("link", "set", "eth0", "up")
        lab.router.ip("link", "set", "wan0", "up")
        wait_for(lambda: "mtu 1500" in lab.router.ip("link", "show", "wan0").stdout)


def test_a_device_with_another_mtu_keeps_it(lab):
    lab.router.ip("link", "set", "wan0", "mtu", "9000")
    def mtu():
        return lab.router.ip("link", "show", "wan0").stdout.split("mtu ")[1].split()[0]
    with Router(lab.router, lab.yaml) as router:
        for _ in range(3):
            lab.router.ip("link", "set", "wan0", "down")
            router.until(lambda m: m.value("surety_port_up", port="wan0") == 0)
            lab.router.ip("link", "set", "wan0", "up")
            router.until(lambda m: m.value("surety_port_up", port="wan0") == 1)
            ping(lab, 4)
            assert mtu() == "9000"
        for changed in ("8000", "9000"):  # while it is up: that is what its operator wants
            lab.router.ip("link", "set", "wan0", "mtu", changed)
            router.until(lambda m: m.value("surety_port_up", port="wan0") == 1)
            lab.router.ip("link", "set", "wan0", "down")
            router.until(lambda m: m.value("surety_port_up", port="wan0") == 0)
            lab.router.ip("link", "set", "wan0", "mtu", "1400", "up")
            wait_for(lambda: mtu() == changed)
    assert mtu() == "9000"


@pytest.mark.parametrize("family", [4, 6])
def test_an_address_of_two_interfaces_is_the_routers_while_one_has_it(lab, family):
    with Router(lab.router, lab.yaml) as router:
        ping(lab, family)
        for change in ("add", "del"):
            lab.router.ip("address", change, f"{OURS[family]}/{32 if family == 4 else 128}", "dev", "lo")
        router.follows_kernel()
        def passed(m):
            return m.value("surety_kernel_frames_total", port="lan0", **{"class": "icmp", "result": "passed"})
        before = passed(router.metrics())
        lab.a.namespace.run("ping", "-n", "-c", "5", "-i", "0.02", "-w", "10", OURS[family])
        router.until(lambda m: passed(m) >= before + 5)
        router.settle()


def test_ten_flaps_a_second_do_no_harm(lab):
    with Router(lab.router, lab.yaml) as router:
        for _ in range(30):
            lab.router.ip("link", "set", "wan0", "down")
            lab.router.ip("link", "set", "wan0", "up")
        for family in (4, 6):
            wait_for(lambda: ping(lab, family, check=False).returncode == 0)
        assert "surety: error" not in router.stderr()
        router.settle()


def test_what_others_have_set_stays(lab):
    lab.router.ip("address", "add", "10.2.0.254/24", "dev", "wan0")
    with Router(lab.router, lab.yaml) as router:
        lab.router.ip("route", "add", "203.0.113.0/24", "via", "10.1.0.1", "proto", "static")
        ping(lab, 4)
        router.settle()
    assert addresses(lab) == {"10.2.0.254/24"}, "it was there before; what came with the router has gone"
    assert addresses(lab, "lan0") >= {"10.1.0.254/24"}, "a route of others needs it"
    with Router(lab.router, lab.yaml):
        assert "203.0.113.0/24 via 10.1.0.1" in lab.router.ip("route").stdout
        lab.router.ip("route", "del", "203.0.113.0/24")
    assert addresses(lab, "lan0") == set(), "it was the router's"


def test_what_a_killed_run_has_left_goes_with_the_shortest(lab):
    for _ in range(3):
        killed = Router(lab.router, lab.yaml)
        with contextlib.suppress(AssertionError):  # stop() asks for an orderly end
            with killed:
                killed.process.kill()
        assert addresses(lab, "lan0") == {"10.1.0.254/24", "2001:db8:1::fe/64"}
        with Router(lab.router, lab.yaml):
            pass  # as early as it can be told to end
        assert addresses(lab, "lan0") == set()


def test_an_operators_route_is_not_replaced(lab):
    """It has the metric of the router's own for the same prefix."""
    his = "198.51.100.0/24 via 10.2.0.9 dev wan0 proto static metric 1"
    lab.router.ip("link", "set", "wan0", "up")
    lab.router.ip("address", "add", "10.2.0.254/24", "dev", "wan0")
    lab.router.ip("route", "add", *his.split())
    with Router(lab.router, lab.yaml) as router:
        wait_for(lambda: "2001:db8:f::/48" in static(lab, 6))
        assert static(lab, 4) == ""
        wait_for(lambda: "kernel route not changed: 198.51.100.0/24: another program has set a route with metric 1, which stays" in router.stderr())
        router.follows_kernel()
        assert router.stderr().count("198.51.100.0/24") == 1
        assert his in lab.router.ip("route").stdout
        router.settle()
    assert his in lab.router.ip("route").stdout


def test_a_queueing_discipline_of_the_routers_goes_with_it(lab):
    def clsact(interface):
        return "clsact" in lab.router.run("tc", "qdisc", "show", "dev", interface).stdout
    lab.router.run("tc", "qdisc", "add", "dev", "lan0", "clsact")
    with Router(lab.router, lab.yaml):
        assert clsact("wan0")
    assert clsact("lan0"), "it was there before"
    assert not clsact("wan0")
    with Router(lab.router, lab.yaml):
        lab.router.run("tc", "filter", "add", "dev", "wan0", "ingress", "prio", "7", "bpf", "bytecode", "1,6 0 0 0,", "flowid", "1:1")
    assert clsact("wan0"), "somebody has a filter there"


def test_what_a_killed_router_leaves_the_next_one_puts_right(lab):
    router = Router(lab.router, lab.yaml + "# routes\n").__enter__()
    try:
        wait_for(lambda: static(lab, 4))
        router.process.kill()
        router.process.wait(120)
    finally:
        router.__exit__(AssertionError, None, None)
    assert static(lab, 4)
    with Router(lab.router, lab.yaml.replace(ROUTES, "")):
        wait_for(lambda: not static(lab, 4) and not static(lab, 6))
    assert addresses(lab) == set()
