# SPDX-License-Identifier: BSD-3-Clause
"""Subscribers on one untagged link, known by their addresses: each with its contract upstream, and its shaper downstream."""
import contextlib
import json
import time

import pytest

from edge import EdgeRouter
from harness import UdpStream, law, wait_for
from pair import MBIT, Pair, ports

pytestmark = pytest.mark.paced("measures rates")

ACME, GLOBEX, OTHER = "10.1.0.11", "10.1.0.12", "10.1.0.1"
BEHIND_GLOBEX = "198.51.100.1"  # a router of its own
# Behind one router that they share, reached by a route to all of them, and by its link-local address.
HOOLI, INITECH, HOOLI6, NONE_BEHIND, GATEWAY6 = "203.0.113.1", "203.0.113.17", "2001:db8:9::1", "203.0.113.40", "fe80::9"
ACME6 = "2001:db8:1::11"
UP, DOWN = {"small": 1, "large": 2}, {"small": 2, "large": 4}  # Mbit/s by plan
OFFERED = 5  # Mbit/s to each address, and from each


def configuration(acme="small", more=""):
    shapes = {plan: f"shape: {rate} Mbit/s, burst: 20 kB" for plan, rate in DOWN.items()}
    return ports() + f"""
routes:
- {{to: 198.51.100.0/24, via: {GLOBEX}}}
- {{to: 203.0.113.0/24, via: {OTHER}}}
- {{to: "2001:db8:9::/48", via: "{GATEWAY6}", port: lan0}}
services:
  small: {{conditioner: police, rate: {UP["small"]} Mbit/s, bucket: 50 kB}}
  large: {{conditioner: police, rate: {UP["large"]} Mbit/s, bucket: 50 kB}}
queues:
  down: [{{name: all, dscp: [BE], limit: 50 packets}}]
plans:
  small: {{service: small, {shapes["small"]}, queues: down}}
  large: {{service: large, {shapes["large"]}, queues: down}}
subscribers:
  acme: {{plan: {acme}, port: lan0, prefixes: [{ACME}, "{ACME6}"]{more}}}
  globex: {{plan: small, port: lan0, prefixes: [{GLOBEX}, 198.51.100.0/24]}}
  hooli: {{plan: small, port: lan0, prefixes: [203.0.113.0/28, "2001:db8:9::/48"]}}
  initech: {{plan: large, port: lan0, prefixes: [{INITECH}]}}
"""


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        for address in (ACME, GLOBEX):
            pair.add_source(f"{address}/24")
        pair.add_source(f"{ACME6}/64")
        for address in (BEHIND_GLOBEX, HOOLI, INITECH, NONE_BEHIND):
            pair.add_source(f"{address}/32")
        pair.add_source(f"{HOOLI6}/128")
        pair.add_source(f"{GATEWAY6}/64")
        yield pair


@pytest.fixture(scope="module", params=["", "workers: {cores: [0, 1]}\n"], ids=["one worker", "two workers"])
def router(lab, request):
    # A reload keeps what begins with `dpdk:`.
    with EdgeRouter(lab.router, f"{configuration()}dpdk: {{hugepages: off, max_routes: 1024}}\n{request.param}") as running:
        lab.meet()
        for address in (ACME, GLOBEX, ACME6):  # known as neighbors
            wait_for(lambda: lab.a.namespace.run("ping", "-n", "-c", 1, "-W", 1, "-I", address, lab.b.address(6 if ":" in address else 4),
                                                 check=False).returncode == 0)
        yield running


def stream(source, sink, address, bind=None):
    return UdpStream(source, sink, address, OFFERED * MBIT / 1000, bind=bind)


def reach(streams, condition, most):
    """In a second of the next ones the rates are these: in others the machine may have kept a sender, or the router. In none acme has more."""
    def reached():
        for s in streams.values():
            s.rate()
        time.sleep(1)
        found.update({name: s.rate() / MBIT for name, s in streams.items()})
        assert found.get("acme", 0) <= 1.3 * most, "a burst is a tenth of a second's bytes"
        return condition(found)

    found = {}
    reached.__doc__ = condition.__doc__
    try:
        wait_for(reached, 20)
    except AssertionError as e:
        raise AssertionError(found) from e


def near(rate):
    return pytest.approx(rate, rel=0.05)


def contracts(router):
    return {row["customer"]: row for row in json.loads(router.show("contracts", "--json").stdout)}


def test_each_has_its_plan(lab, router):
    with contextlib.ExitStack() as stack:
        down = {name: stack.enter_context(stream(lab.b, lab.a, address))
                for name, address in {"acme": ACME, "acme6": ACME6, "globex": GLOBEX, "behind": BEHIND_GLOBEX, "other": OTHER}.items()}
        streams = {**down, "up": stack.enter_context(stream(lab.a, lab.b, lab.b.address(4), bind=ACME))}

        def acme(got, plan):
            return got["acme"] + got["acme6"] == near(DOWN[plan]) and min(got["acme"], got["acme6"]) > 0

        def globex(got):
            return got["globex"] + got["behind"] == near(DOWN["small"]) and got["behind"] > 0
        reach(streams, lambda got: acme(got, "small") and globex(got) and got["other"] > 0.9 * OFFERED and got["up"] == near(UP["small"]), DOWN["small"])
        row = contracts(router)["acme"]
        assert (row["service"], row["contract"], row["committed_bytes_per_second"]) == ("small", "acme", UP["small"] * MBIT)
        law(router.reload(configuration("large")))
        reach(down, lambda got: acme(got, "large") and globex(got), DOWN["large"])
        law(router.reload(configuration(more=", suspended: yes")))
        reach(streams, lambda got: got["acme"] == got["acme6"] == got["up"] == 0 and globex(got) and got["other"] > 0.9 * OFFERED, DOWN["large"])
        law(router.reload(configuration()))
    shown = {row["name"]: row for row in json.loads(router.show("interfaces", "--json").stdout)}
    assert shown["acme"]["shape_bytes_per_second"] == DOWN["small"] * MBIT and shown["acme"]["tx_packets"] > 0 and not shown["acme"].get("vlan")
    router.settle()


def test_those_behind_a_shared_gateway_have_it_too(lab, router):
    behind = {"hooli": HOOLI, "hooli6": HOOLI6, "initech": INITECH, "none": NONE_BEHIND}
    with contextlib.ExitStack() as stack:
        down = {name: stack.enter_context(stream(lab.b, lab.a, address)) for name, address in behind.items()}
        reach(down, lambda got: got["hooli"] + got["hooli6"] == near(DOWN["small"]) and min(got["hooli"], got["hooli6"]) > 0
              and got["initech"] == near(DOWN["large"]) and got["none"] > 0.9 * OFFERED, 0)
    rows = {row["prefix"]: row for row in json.loads(router.show("routes", "--json").stdout)}
    assert {rows[p]["source"] for p in ("203.0.113.0/28", f"{INITECH}/32")} == {"subscriber"}
    assert rows["203.0.113.0/28"]["next_hop"] == OTHER and rows["203.0.113.0/24"]["source"] == "yaml"
