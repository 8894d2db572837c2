# SPDX-License-Identifier: BSD-3-Clause
"""A subscriber on one tag of a template: its plan comes and goes under TCP, and a neighbour's packets are all delivered meanwhile."""
import json
import time

import pytest

from harness import TcpTransfer, UdpStream, law, wait_for
from pair import MBIT
from test_reload import Reloaded
from vlan import Access, pings, vlan_yaml

pytestmark = pytest.mark.paced("measures rates")

FAST, SLOW = 8, 1  # Mbit/s of packets with their headers: of each home, and of the plan
DATA = 1448 / 1518  # of a frame of TCP without tags, as shapers count it
PLANS = f"""services:
  home: {{conditioner: police, rate: 8 Mbit/s}}
  slow: {{conditioner: police, rate: 8 Mbit/s}}
plans:
  slow: {{service: slow, shape: {SLOW} Mbit/s, burst: 10 kB, queues: down}}
queues: {{down: [{{name: all, dscp: [BE], limit: 20 packets}}]}}
classify: [{{match: {{interface: homes}}, service: home, per: interface}}]
"""
SMITH = "subscribers: {smith: {plan: slow, interface: homes, inner_vlan: 7}}\n"


def configuration(more=""):
    return vlan_yaml(homes=f", shape: {FAST} Mbit/s, queues: down") + PLANS + more


def rows(router, table, key):
    return {row[key]: row for row in json.loads(router.show(table, "--json").stdout)}


def seconds_until(tcp, mbits, began):
    """Until it has this rate, over half a second."""
    def reached():
        before, at = tcp.received, time.monotonic()
        time.sleep(0.5)
        return (tcp.received - before) / MBIT / (time.monotonic() - at) == pytest.approx(mbits * DATA, rel=0.1)
    wait_for(reached)
    return time.monotonic() - began


def test_a_plan_comes_to_a_home_and_goes():
    with Access() as lab, Reloaded(lab.router, configuration()) as router:
        smith, jones = lab.home(7), lab.home(8)
        assert pings(smith, lab.up.address(4), 1) == pings(jones, lab.up.address(4), 1) == 1
        with UdpStream(lab.up, jones, jones.address(4), 250, 472) as to_jones:
            tcp = TcpTransfer(lab.up, smith, 5001)
            seconds_until(tcp, FAST, 0)
            before = rows(router, "interfaces", "name")["homes.7"]["tx_packets"]
            taken = []
            for more, mbits in ((SMITH, SLOW), ("", FAST), (SMITH, SLOW)):
                law(router.reload(configuration(more)))
                taken.append(seconds_until(tcp, mbits, time.monotonic()))
            print("seconds until the rate is that of the new plan:", *(f"{t:.1f}" for t in taken))
            assert sorted(taken)[1] < 2
            tcp.abort()
            to_jones.stop()
            wait_for(lambda: to_jones.sink.drain() == to_jones.sent)
        wait_for(lambda: (rows(router, "contracts", "customer").get("smith") or {}).get("service") == "slow")
        interfaces = rows(router, "interfaces", "name")
        assert (interfaces["smith"]["of"], interfaces["smith"]["shape_bytes_per_second"]) == ("homes", SLOW * MBIT)
        assert interfaces["smith"]["tx_packets"] > before > 100 and interfaces["homes"]["members"] == 400, "its counters stay"
        assert rows(router, "subscribers", "name")["smith"]["place"] == "homes.7"
        router.settle()
