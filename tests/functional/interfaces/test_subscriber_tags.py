# SPDX-License-Identifier: BSD-3-Clause
"""A subscriber on one tag of a template: its plan comes and goes while both homes are in use, and neither loses a packet."""
import json
import threading
import time

import pytest

from harness import UdpSink, UdpSource, law, wait_for
from pair import MBIT
from test_reload import Reloaded
from vlan import Access, pings, vlan_yaml

pytestmark = pytest.mark.paced("measures rates")

OFFERED = 4  # Mbit/s to each home
PLANS = """services:
  home: {conditioner: police, rate: 8 Mbit/s}
  slow: {conditioner: police, rate: 8 Mbit/s}
plans:
  slow: {service: slow, shape: 1 Mbit/s, burst: 10 kB, queues: down}
queues: {down: [{name: all, dscp: [BE], limit: 20 packets}]}
classify: [{match: {interface: homes}, service: home, per: interface}]
"""
SMITH = "subscribers: {smith: {plan: slow, interface: homes, inner_vlan: 7}}\n"


def configuration(more=""):
    return vlan_yaml(homes=", shape: 8 Mbit/s") + PLANS + more


class Downstream:
    """Packets to a home at an even pace, numbered, until it is left."""

    def __init__(self, source, sink):
        self.sink = UdpSink(sink, sink.address(4), 4100)
        self._source = UdpSource(source, sink.address(4), 4100)
        self._done, self._thread = threading.Event(), threading.Thread(target=self._send)
        self.sent = 0

    def _send(self):
        while not self._done.is_set():
            self._source.pace(bytes(972), OFFERED * MBIT / 1000, 50)
            self.sent += 50

    def rate(self, seconds=1):
        before, began = self.sink.drain(), time.monotonic()
        time.sleep(seconds)
        return (self.sink.drain() - before) * 1000 / MBIT / (time.monotonic() - began)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()
        self._source.__exit__()


def rows(router, table, key):
    return {row[key]: row for row in json.loads(router.show(table, "--json").stdout)}


def test_a_plan_comes_to_a_home_and_goes():
    with Access() as lab, Reloaded(lab.router, configuration()) as router:
        smith, jones = lab.home(7), lab.home(8)
        assert pings(smith, lab.up.address(4), 1) == pings(jones, lab.up.address(4), 1) == 1
        with Downstream(lab.up, smith) as to_smith, Downstream(lab.up, jones) as to_jones:
            wait_for(lambda: to_smith.rate(0.3) > 0.9 * OFFERED)
            law(router.reload(configuration(SMITH)))
            wait_for(lambda: to_smith.rate() == pytest.approx(1, rel=0.1))
            law(router.reload(configuration()))
            wait_for(lambda: to_smith.rate(0.5) > 0.9 * OFFERED)
            law(router.reload(configuration(SMITH)))
        wait_for(lambda: to_jones.sink.drain() == to_jones.sent)
        assert pings(smith, lab.up.address(4)) == 5
        wait_for(lambda: (rows(router, "contracts", "customer").get("smith") or {}).get("service") == "slow")
        assert rows(router, "contracts", "contract").keys() >= {"smith"}
        interfaces = rows(router, "interfaces", "name")
        assert (interfaces["smith"]["of"], interfaces["smith"]["shape_bytes_per_second"]) == ("homes", MBIT)
        assert interfaces["smith"]["tx_packets"] > 0 and interfaces["homes"]["members"] == 400
        subscriber = rows(router, "subscribers", "name")["smith"]
        assert subscriber["place"] == "homes.7" and subscriber["offered_bytes_per_second"] >= 0
        for sink in (to_smith.sink, to_jones.sink):
            sink.__exit__()
        router.settle()
