# SPDX-License-Identifier: BSD-3-Clause
"""Static routes with metrics, and an IPv4 route by an IPv6 gateway: the data plane and the kernel use the same one, also without a carrier."""
import contextlib
import json
import time

import pytest

from harness import Lab, Router, UdpSource, Wire, udp_to, wait_for

FAR, BY_SIX = "198.51.100.1", "203.0.113.1"
GATEWAY6 = "fe80::1"
MARK = 7000  # destination port of the probes
PATIENCE = 2  # seconds; the kernel reports a carrier once a second
ROUTES = f"""routes:
  - {{to: 198.51.100.0/24, via: 10.2.0.1}}
  - {{to: 198.51.100.0/24, via: 10.3.0.1, metric: 250}}
  - {{to: 203.0.113.0/24, via: "{GATEWAY6}", port: wan0}}
"""


@pytest.fixture(params=["af_xdp", "af_packet"])
def lab(request):
    with Lab() as made:
        made.a = made.host("a", "lan0", ["10.1.0.1/24"], ["10.1.0.254"])
        made.b = made.host("b", "wan0", ["10.2.0.1/24"], ["10.2.0.254"])
        made.c = made.host("c", "wan1", ["10.3.0.1/24"], ["10.3.0.254"])
        made.b.namespace.ip("address", "add", f"{GATEWAY6}/64", "dev", "eth0", "nodad")
        made.yaml = "ports:\n" + "".join(f"  {port}: {{device: {request.param} {port}, addresses: [{address}]{more}}}\n" for port, address, more in (
            ("lan0", "10.1.0.254/24", ""), ("wan0", "10.2.0.254/24", ", trust: core"), ("wan1", "10.3.0.254/24", ", trust: core"))) + ROUTES
        yield made


def arrives(source, wire, patience):
    """A probe that is sent now arrives, as the Ethernet frame, within so many seconds; None: none does."""
    with contextlib.suppress(OSError):  # told once: its link was down
        wire.drain()
    until = time.monotonic() + patience
    while time.monotonic() < until:
        source.send(b"probe")
        if frame := wire.find(udp_to(MARK), patience=0.02):
            return frame
    return None


def static(lab):
    return [line.rstrip() for line in lab.router.ip("route", "show", "proto", "83").stdout.splitlines()]


def states(router, prefix="198.51.100.0/24"):
    return {row["metric"]: row["state"] for row in json.loads(router.show("routes", f"prefix={prefix}", "--json").stdout)}


def test_the_better_of_two_static_routes_is_used_while_its_port_is_up(lab):
    first, second = "198.51.100.0/24 via 10.2.0.1 dev wan0 metric 1", "198.51.100.0/24 via 10.3.0.1 dev wan1 metric 250"
    with Router(lab.router, lab.yaml) as router, Wire(lab.b) as to_b, Wire(lab.c) as to_c, UdpSource(lab.a, FAR, MARK) as source:
        assert arrives(source, to_b, 20)
        wait_for(lambda: {first, second} <= set(static(lab)))
        wait_for(lambda: states(router) == {1: "active", 250: "standby"})
        for _ in range(2):
            lab.b.namespace.ip("link", "set", "eth0", "down")  # no carrier at wan0
            assert arrives(source, to_c, PATIENCE)
            assert states(router) == {1: "standby", 250: "active"}
            wait_for(lambda: first not in static(lab) and second in static(lab))
            lab.b.namespace.ip("link", "set", "eth0", "up")
            assert arrives(source, to_b, 20)  # its neighbor is resolved again
            wait_for(lambda: {first, second} <= set(static(lab)))
        lab.router.ip("link", "set", "wan0", "down")
        assert arrives(source, to_c, PATIENCE)
        lab.router.ip("link", "set", "wan0", "up")
        assert arrives(source, to_b, 20)
        assert states(router) == {1: "active", 250: "standby"}
        router.settle()
    assert static(lab) == []


def test_ipv4_goes_by_a_gateway_of_ipv6(lab):
    with Router(lab.router, lab.yaml) as router, Wire(lab.b) as to_b, UdpSource(lab.a, BY_SIX, MARK) as source:
        frame = arrives(source, to_b, 20)
        assert frame and frame.type == 0x0800 and frame.dst == lab.b.mac
        wait_for(lambda: f"203.0.113.0/24 via inet6 {GATEWAY6} dev wan0 metric 1" in static(lab))
        router.settle()
