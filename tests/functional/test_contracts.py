# SPDX-License-Identifier: BSD-3-Clause
"""What one contract covers: a rule, a source, a destination, a prefix, a VLAN or a flow; and how long it lives."""
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1AD, Dot1Q, Ether
from scapy.packet import NoPayload

from harness import Router, UdpSource, Wire, dscp
from pair import Pair, ports

EF = 46
RATE = 1000  # bytes per second
ONE, OTHER = "10.1.0.11", "10.1.0.12"


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        for address in (ONE, OTHER):
            pair.add_source(f"{address}/24")
        yield pair


def contracts(per, flow_table):
    return ports() + f"""
services:
  one: {{conditioner: police, rate: 8 kbit/s, bucket: 2 kB, mark: {{in: EF}}}}
classify:
  - {{match: {{port: lan0}}, service: one, per: {per}}}
flow_table: {{{flow_table}}}
"""


@pytest.mark.parametrize("per,count", [("rule", 1), ("source", 2), ("destination", 1), ("prefix", 1), ("flow", 6)])
def test_contracts_and_flows_are_counted_and_forgotten(lab, per, count):
    with Router(lab.router, contracts(per, "idle_timeout: 1 s")) as router:
        sources = [UdpSource(lab.a, "10.2.0.1", 4100, bind=(address, 30000 + i)) for address in (ONE, OTHER) for i in range(3)]

        def all_seen(m):
            for source in sources:
                source.send(bytes(10))
            return m.value("surety_flows", service="one") == 6
        m = router.until(all_seen)
        assert m.value("surety_service_contracts", service="one") == count
        assert m.value("surety_service_committed_bytes_per_second", service="one") == count * RATE
        for source in sources:
            source.socket.close()
        router.until(lambda m: m.value("surety_flows", service="one") == 0 == m.value("surety_service_contracts", service="one"))
        router.settle()


class Sender:
    """Frames of host a, tagged or not; `packets` counts what the router has received of them."""

    def __init__(self, lab, router, wire):
        lab.meet()
        self._wire, self._router = wire, router
        self._ether = Ether(src=lab.a.mac, dst=lab.router.mac("lan0"))
        self.before = router.metrics()
        self.sent = 0

    def send(self, tags, source_port, destination_port, size):
        self._wire.send(self._ether / tags / IP(src="10.1.0.1", dst="10.2.0.1") /
                        UDP(sport=source_port, dport=destination_port) / bytes(size))
        self.sent += 1

    def received(self):
        """The metrics when the router has received them all."""
        def count(m):
            return m.value("surety_port_rx_packets_total", port="lan0")
        return self._router.until(lambda m: count(m) >= count(self.before) + self.sent)


def test_each_vlan_has_its_own_bucket(lab):
    """A bucket of two packets each: of three at once in every VLAN, two pass."""
    with Router(lab.router, contracts("vlan", "idle_timeout: 1 h")) as router, Wire(lab.a) as near, Wire(lab.b) as far:
        sender = Sender(lab, router, near)
        for vlan in (10, 20, 30):
            for flow in range(3):
                sender.send(Dot1Q(vlan=vlan), vlan, 4200 + flow, 972)
        m = sender.received()
        assert m.drops("lan0") == {"police": 3}
        for family, grown in (("surety_service_contracts", 3), ("surety_flows", 9)):
            assert m.value(family, service="one") == sender.before.value(family, service="one") + grown
        router.settle()
        arrived = [p for p in map(Ether, far.drain()) if UDP in p and 4200 <= p[UDP].dport < 4210]
        assert sorted(p[UDP].sport for p in arrived) == [10, 10, 20, 20, 30, 30]
        assert all(Dot1Q not in p and dscp(p) == EF for p in arrived)


def test_inner_tags_multiply_no_contract(lab):
    """A rule that names two inner tags has a contract for each; the sender cannot choose a third."""
    named = "".join(f"  - {{match: {{port: lan0, vlan: 10, inner_vlan: {inner}}}, service: one, per: vlan}}\n" for inner in (1, 2))
    for rules, contracts_of, refused in (("", 0, 6), (named, 2, 2)):
        yaml = contracts("vlan", "idle_timeout: 1 h").replace("classify:\n", f"classify:\n{rules}")
        with Router(lab.router, yaml) as router, Wire(lab.a) as near:
            sender = Sender(lab, router, near)
            for inner in (1, 2, 3):
                for _ in range(2):
                    sender.send(Dot1AD(vlan=10) / Dot1Q(vlan=inner), 1000, 4200, 10)
            m = sender.received()
            assert m.drops("lan0") == {"vlan_unknown": refused}
            before = sender.before.value("surety_service_contracts", service="one")
            assert m.value("surety_service_contracts", service="one") == before + contracts_of
            router.settle()


def test_full_flow_table_degrades_by_name_and_recovers(lab):
    """What finds no record goes on as best effort."""
    with Router(lab.router, contracts("flow", "capacity: 64, idle_timeout: 2 s")) as router, Wire(lab.a) as near:
        sender = Sender(lab, router, near)
        for flow in range(200):
            sender.send(NoPayload(), 1000 + flow, 4300, 1)
        m = sender.received()
        taken = m.value("surety_flows", service="one") - sender.before.value("surety_flows", service="one")
        degraded = m.sum("surety_degraded_packets_total", port="lan0")
        assert 32 <= taken <= 64 and degraded == 200 - taken and m.drops("lan0") == {}
        router.until(lambda m: m.value("surety_flows", service="one") == 0)
        sender.send(NoPayload(), 5000, 4300, 1)
        router.until(lambda m: m.value("surety_flows", service="one") == 1)
        router.settle()
