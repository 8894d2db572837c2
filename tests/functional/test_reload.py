# SPDX-License-Identifier: BSD-3-Clause
"""SIGHUP: a router goes on by another configuration, and nobody's packets are lost for it."""
import pathlib
import re
import signal
import threading
import time

import pytest

from harness import Router, TcpTransfer, UdpSink, UdpSource, transfer, udp_in_order, wait_for
from pair import MBIT, Pair, ports

POLICED, LIMITED = "10.1.0.11", "10.1.0.12"


def configuration(police="2 Mbit/s", csa="4 Mbit/s", limit=400, more="", shape="60 Mbit/s", rules=None, burst="60 kB", classes=None):
    rules = rules or [f"{{match: {{port: lan0, source: {POLICED}/32}}, service: police}}",
                      f"{{match: {{port: lan0, source: {LIMITED}/32}}, service: csa, per: source}}"]
    classes = classes or ["name: voice, dscp: [EF], priority: strict",
                          f"name: assured, dscp: {{in: [AF11], out: [AF13, BE]}}, aqm: tail-drop, limit: {limit} packets"]
    return ports(wan=f"shape: {shape}, burst: {burst}, queues: uplink") + f"""
queues:
  uplink:
""" + "".join(f"    - {{{c}}}\n" for c in classes) + f"""
services:
  police: {{conditioner: police, rate: {police}, bucket: 20 kB, mark: {{in: EF}}}}
  csa: {{conditioner: csa, rate: {csa}, in_bucket: 10 packets, out_bucket: 2 packets, mark: {{in: AF11, out: BE}}, alpha: {{min: 0.1, max: 0.1}}}}
classify:
""" + "".join(f"  - {rule}\n" for rule in rules) + more


class Reloaded(Router):
    def write(self, text):
        """In one step, as an editor does."""
        head, tail = self.path.read_text().split("\nports:", 1)
        settings = tail[tail.rindex("\ndpdk:"):]
        new = self.path.with_suffix(".new")
        new.write_text(head + "\n" + text + settings)
        new.replace(self.path)

    def reload(self, text=None, successful=True):
        before = self.metrics().value("surety_config_reloads_total")
        if text is not None:
            self.write(text)
        self.process.send_signal(signal.SIGHUP)
        try:
            return self.until(lambda m: m.value("surety_config_last_reload_successful") == successful
                              and m.value("surety_config_reloads_total") == before + successful)
        except AssertionError as e:
            raise AssertionError(self.stderr()) from e

    def refuse(self, text, *words):
        """A reload that fails with these words. After another one that failed nothing else shows when it is done."""
        before = len(self.stderr())
        self.reload(text, successful=False)
        def told():
            """why the reload was refused"""
            return all(word in self.stderr()[before:] for word in words)
        wait_for(told)


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        for address in (POLICED, LIMITED):
            pair.add_source(f"{address}/24")
        yield pair


@pytest.fixture(params=["", "workers: {cores: [0, 1]}\n"], ids=["one worker", "two workers"])
def router(lab, request):
    with Reloaded(lab.router, configuration() + request.param) as running:
        running.tail = request.param
        lab.meet()
        # Neighbor discovery for an address that came before the kernel's programs knew the addresses.
        running.dropped = running.metrics().drops()
        yield running
        running.settle()


def rate_of(router, service, seconds=2):
    """What a service let go, in bytes per second."""
    def look():
        m = router.metrics()
        return m.value("surety_uptime_seconds"), m.sum("surety_service_bytes_total", service=service)
    start, bytes_before = look()
    time.sleep(seconds)
    end, bytes_after = look()
    return (bytes_after - bytes_before) / (end - start)


def test_a_contract_is_enlarged_while_it_is_used(lab, router):
    """The same connection, twice the rate."""
    with TcpTransfer(lab.a, lab.b, 5001, congestion="cubic", bind=LIMITED):
        wait_for(lambda: rate_of(router, "csa", 1) > 3 * MBIT)
        assert rate_of(router, "csa") < 4 * MBIT * 1.25
        router.reload(configuration(csa="12 Mbit/s") + router.tail)
        wait_for(lambda: rate_of(router, "csa", 1) > 10 * MBIT)
        router.reload(configuration() + router.tail)
        wait_for(lambda: rate_of(router, "csa", 1) < 4 * MBIT * 1.25)


def test_no_packet_is_lost_and_none_overtakes(lab, router):
    """Reload upon reload beside traffic: other rates, rules, queues, services that come and go."""
    texts = [configuration(police="3 Mbit/s", limit=100), configuration(limit=401), configuration(limit=16000), configuration(rules=["{match: {port: lan0, protocol: tcp}, service: csa, per: flow}"]),
             configuration(shape="50 Mbit/s", more="routes:\n  - {to: 198.51.100.0/24, via: 10.2.0.1}\n"),
             configuration(rules=["{match: {port: lan0}, service: csa, per: source}"], csa="40 Mbit/s"), configuration()]
    stop = threading.Event()

    def reload_on():
        while not stop.is_set():
            for text in texts:
                router.reload(text + router.tail)
    reloads = router.metrics().value("surety_config_reloads_total")
    thread = threading.Thread(target=reload_on)
    thread.start()
    try:
        for family in (4, 6):
            sent, received = udp_in_order(lab.a, lab.b, family, packets=2500)
            assert received == sent
    finally:
        stop.set()
        thread.join(60)
    m = router.settle()
    assert m.value("surety_config_reloads_total") - reloads >= len(texts)
    assert m.drops() == router.dropped


def test_queues_come_and_go(lab, router):
    """600 of 600 pings, and datagrams of which always some wait: classes of other names, places, numbers and kinds."""
    one = "name: voice, dscp: [EF], priority: strict"
    assured = "name: assured, dscp: {in: [AF11], out: [AF13, BE]}, aqm: tail-drop, limit: 401 packets"
    sets = [[one, assured], [assured, "name: voice, dscp: [EF], weight: 3"], ["name: rest, dscp: [BE], limit: 300 packets"],
            ["name: more, dscp: [CS1]", one, "name: all, dscp: {in: [AF11], out: [BE]}, count: packets, rio: {in: {min: 200, max: 400, pmax: 0.01}, out: {min: 200, max: 300, pmax: 0.01}}"],
            [f"name: c{i}, dscp: [{i}], limit: 100 packets" for i in range(64)]]
    texts = [configuration(classes=classes, shape="16 Mbit/s", burst="3 kB") for classes in sets]
    stop, rounds = threading.Event(), []

    def reload_on():
        while not stop.is_set():
            for text in texts:
                router.reload(text + router.tail)
            rounds.append(1)
    router.reload(texts[-1] + router.tail)
    reloads = router.metrics().value("surety_config_reloads_total")
    changes = threading.Thread(target=reload_on)
    said = []
    pings = threading.Thread(target=lambda: said.append(lab.a.namespace.run("ping", "-n", "-q", "-c", "600", "-i", "0.01", "-w", "60", "10.2.0.1").stdout))
    changes.start()
    pings.start()
    try:
        while pings.is_alive() or len(rounds) < 2 and changes.is_alive():
            sent, received = udp_in_order(lab.a, lab.b, 4, packets=500)
            assert received == sent
    finally:
        pings.join(60)
        stop.set()
        changes.join(60)
    # ping(8) sends one more where an answer comes late.
    sent, received = map(int, re.search(r"(\d+) packets transmitted, (\d+) received", said[0]).groups())
    assert received == sent >= 600
    m = router.settle()
    assert m.value("surety_config_reloads_total") - reloads >= 2 * len(texts)
    assert m.drops() == router.dropped
    router.reload(texts[2] + router.tail)
    assert {labels["queue"] for labels, _ in router.metrics().select("surety_queue_arrivals_total", port="wan0")} == {"rest"}
    router.reload(configuration() + router.tail)


def test_what_is_wrong_changes_nothing(lab, router):
    m = router.metrics()
    fingerprint = m.select("surety_build_info")[0][0]["config_hash"]
    router.refuse(configuration(police="2 Mbit/h") + router.tail, f"{router.path}:", "2 Mbit/h")
    router.refuse(configuration().replace("af_xdp lan0", "pci 0000:01:00.0", 1) + router.tail,
                  "port `lan0` cannot get a pci device while the router runs; restart it")
    router.refuse(configuration(limit=1_000_000) + router.tail, "its ports and queues need 1", "packet buffers")
    pathlib.Path(router.path).rename(router.path.with_suffix(".away"))
    try:
        router.refuse(None, "cannot be read")
    finally:
        router.path.with_suffix(".away").rename(router.path)
    assert router.metrics().select("surety_build_info")[0][0]["config_hash"] == fingerprint
    assert transfer(lab.a, lab.b, 5001, seconds=10, enough=2e6, congestion="reno") > 1e6
    router.reload(configuration() + router.tail)


def test_services_come_and_go(lab, router):
    """What is not in the configuration any more is not shown any more; what has its name now has its numbers."""
    def services(m):
        return {labels["service"] for labels, _ in m.select("surety_flows")}
    with UdpSource(lab.a, "10.2.0.1", 4000, bind=(POLICED, 4000)) as source, UdpSink(lab.b, "10.2.0.1", 4000) as sink:
        source.pace(bytes(500), 100, 20)
        wait_for(lambda: sink.drain() == 20)
        assert services(router.metrics()) == {"police", "csa", "unclassified", "trusted"}
        router.reload(configuration().replace("police: {", "voice: {").replace("service: police", "service: voice") + router.tail)

        sent = 20

        def moved():
            """a flow follows with the first packet after its record has been marked, some turns later"""
            nonlocal sent
            sent += 1
            source.send(bytes(500))
            wait_for(lambda: sink.drain() == sent)
            return router.metrics().value("surety_flows", service="voice") == 1
        wait_for(moved)
        m = router.settle()
        assert services(m) == {"voice", "csa", "unclassified", "trusted"}
        before = m.sum("surety_service_packets_total", service="voice")
        source.pace(bytes(500), 100, 20)
        wait_for(lambda: sink.drain() == sent + 20)
        assert router.metrics().sum("surety_service_packets_total", service="voice") == before + 20
    listed = [line.split()[0] for line in router.show("services").stdout.splitlines()[1:]]
    assert listed == ["voice", "csa", "unclassified", "trusted"]


def test_routes_change(lab, router):
    """A prefix goes into a black hole and comes back."""
    hole = "routes:\n  - {to: 10.2.0.1/32, blackhole: true}\n"
    with UdpSource(lab.a, "10.2.0.1", 4001) as source, UdpSink(lab.b, "10.2.0.1", 4001) as sink:
        source.pace(bytes(100), 100, 5)
        wait_for(lambda: sink.drain() == 5)
        router.reload(configuration(more=hole) + router.tail)
        source.pace(bytes(100), 100, 7)
        router.until(lambda m: m.drops("lan0").get("blackhole") == 7)
        router.reload(configuration() + router.tail)
        source.pace(bytes(100), 100, 5)
        wait_for(lambda: sink.drain() == 10)
