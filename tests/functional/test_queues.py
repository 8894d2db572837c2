# SPDX-License-Identifier: BSD-3-Clause
"""Classes of a congested port: drop precedence, strict priority, the shaper."""
import json
import threading

import pytest

from harness import Measured, UdpSink, UdpSource, wait_for
from pair import MBIT, WAN, Pair, ports

pytestmark = pytest.mark.paced("measures rates, and the order of two classes on a full link")

CONGESTED = ports(wan="shape: 5 Mbit/s, burst: 30 kB, queues: uplink") + """
queues:
  uplink:
    - {name: voice, dscp: [EF], priority: strict, rate: 2 Mbit/s}
    - name: assured
      dscp: {in: [AF11], out: [AF13, BE]}
      limit: 300 packets
      count: packets
      rio: {average: 0.05, in: {min: 150, max: 250, pmax: 0.02}, out: {min: 20, max: 80, pmax: 0.2}}
services:
  voice: {conditioner: none, mark: {in: EF}}
  inside: {conditioner: none, mark: {in: AF11}}
  outside: {conditioner: none, mark: {in: AF13}}
classify:
  - {match: {port: lan0, protocol: udp, destination_port: 5004}, service: voice}
  - {match: {port: lan0, protocol: udp, destination_port: 5010}, service: inside}
  - {match: {port: lan0}, service: outside}
"""


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        yield pair


def quiet(lab):
    """What the kernels would ask and answer of wan0's stations meanwhile passes the same queue."""
    stations = [(lab.router, "wan0", lab.b.addresses, lab.b.mac),
                (lab.b.namespace, "eth0", [a.split("/")[0] for a in WAN], lab.router.mac("wan0"))]
    for namespace, interface, addresses, mac in stations:
        for address in addresses:
            namespace.ip("neighbor", "replace", address, "lladdr", mac, "dev", interface, "nud", "permanent")
        namespace.ip("neighbor", "flush", "dev", interface)  # the others


@pytest.fixture
def congested(lab):
    with Measured(lab.router, CONGESTED) as router:
        lab.meet()
        quiet(lab)
        yield router


class Streams:
    """Several UDP streams side by side, each {port: (packets per second, packets, IP length)}."""

    def __init__(self, lab, router, streams):
        self._router = router
        self._before = router.metrics()
        self._packets = sum(packets for _, packets, _ in streams.values())
        self._sinks = {port: UdpSink(lab.b, "10.2.0.1", port) for port in streams}
        self._threads = [threading.Thread(target=self._send, args=(lab, port, *how)) for port, how in streams.items()]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _send(lab, port, rate, packets, length):
        with UdpSource(lab.a, "10.2.0.1", port) as source:
            source.pace(bytes(length - 28), rate, packets)

    def _grown(self, m, what, port):
        return m.value(f"surety_port_{what}_packets_total", port=port) - self._before.value(
            f"surety_port_{what}_packets_total", port=port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for thread in self._threads:
            thread.join(30)
        for sink in self._sinks.values():
            sink.socket.close()

    def finish(self):
        """How many have arrived of each, and the metrics, when nothing is under way any more."""
        for thread in self._threads:
            thread.join(30)
        self._router.until(lambda m: self._grown(m, "rx", "lan0") >= self._packets)
        m = self._router.settle()
        lost = sum(m.drops("wan0").values()) - sum(self._before.drops("wan0").values())
        wait_for(lambda: sum(sink.drain() for sink in self._sinks.values()) >= self._packets - lost)
        return m, {port: sink.drain() for port, sink in self._sinks.items()}


def queue_drops(m, queue, precedence):
    return sum(m.value(f"surety_queue_{kind}_drops_total", port="wan0", queue=queue, precedence=precedence)
               for kind in ("early", "forced", "overflow"))


def test_rio_drops_out_and_never_in_while_in_alone_fits(lab, congested):
    """2.4 Mbit/s IN and 8 Mbit/s OUT into 5 Mbit/s."""
    with Streams(lab, congested, {5010: (300, 900, 1000), 5011: (1000, 3000, 1000)}) as streams:
        m, arrived = streams.finish()
    assert arrived[5010] == 900 and queue_drops(m, "assured", "in") == 0
    lost = 3000 - arrived[5011]
    assert lost == queue_drops(m, "assured", "out") == m.drops("wan0")["early"] + m.drops("wan0").get("forced", 0)
    assert lost > 1000  # what does not fit are 3 s * (2.4 + 8 - 5) Mbit/s = 2025, less what queue and burst take


def test_strict_class_goes_ahead_of_a_full_queue(lab, congested):
    """0.8 Mbit/s of voice beside twice what the link carries."""
    with Streams(lab, congested, {5004: (500, 1000, 200), 5011: (1250, 2500, 1000)}) as streams:
        m, arrived = streams.finish()
    assert arrived[5004] == 1000 and queue_drops(m, "voice", "in") == 0
    assert queue_drops(m, "assured", "out") > 0
    rows = {row["name"]: row for row in json.loads(congested.show("queues", "--json").stdout)}
    assert rows["voice"]["sojourn_p50_seconds"] < rows["assured"]["sojourn_p50_seconds"] / 4
    assert rows["assured"]["sojourn_p50_seconds"] > 0.02  # out.min, 20 packets, are 32 ms


def test_shaped_port_uses_its_rate_and_no_more(lab, congested):
    with Streams(lab, congested, {5011: (1250, 2500, 1000)}) as streams:
        congested.until(
            lambda m: m.value("surety_queue_depth_packets", port="wan0", queue="assured", precedence="out") > 20)
        before = congested.metrics()
        after = congested.until(lambda m: m.value("surety_uptime_seconds") > before.value("surety_uptime_seconds") + 1)
        streams.finish()
    seconds, packets = (after.value(name, **port) - before.value(name, **port) for name, port in (
        ("surety_uptime_seconds", {}), ("surety_port_tx_packets_total", {"port": "wan0"})))
    assert packets * 1000 == pytest.approx(5 * MBIT * seconds, rel=0.03)
