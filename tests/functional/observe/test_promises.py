# SPDX-License-Identifier: BSD-3-Clause
"""What a customer is told of his contract: what left the last queue for him, not what was marked for him."""
import contextlib
import json
import threading

import pytest

from harness import SURETY, Measured, UdpSink, UdpSource, wait_for
from pair import MBIT, Pair, ports

pytestmark = pytest.mark.paced("measures rates")

POLITE, STARVED, IDLE = "10.1.0.11", "10.1.0.12", "10.1.0.13"
SIZE = 1000  # bytes of IP
# Sold twice what the class that the promise leads to can carry: a queue behind the conditioners drops what they marked IN.
OVERSOLD = ports(wan="shape: 3 Mbit/s, queues: uplink") + """
queues:
  uplink:
    - {name: gold, dscp: [AF21], priority: strict, rate: 2 Mbit/s, limit: 500 packets}
    - {name: assured, dscp: {in: [AF11], out: [AF12]}, aqm: tail-drop, weight: 1, limit: 20 packets}
services:
  gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 200 kB, mark: {in: AF21, out: AF12}, objective: 99 %}
  silver: {conditioner: token-bucket, rate: 4 Mbit/s, bucket: 200 kB, mark: {in: AF11, out: AF12}}
classify:
  - {match: {port: lan0, source: 10.1.0.11/32}, service: gold, per: source, contracts: 2}
  - {match: {port: lan0, source: 10.1.0.13/32}, service: gold, per: source, contracts: 2}
  - {match: {port: lan0, source: 10.1.0.12/32}, service: silver, per: source, contracts: 2}
metrics: {contracts: 2}
"""


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        for address in (POLITE, STARVED, IDLE):
            pair.add_source(f"{address}/24")
        yield pair


@pytest.fixture
def router(lab):
    with Measured(lab.router, OVERSOLD) as running:
        lab.meet()
        yield running


class Streams:
    """{source: Mbit/s} for so many seconds, to a port each."""

    def __init__(self, lab, seconds, rates):
        self._stack = contextlib.ExitStack()
        self._sinks, self._threads, self.sent = {}, [], {}
        for number, (source, mbits) in enumerate(rates.items()):
            self._sinks[source] = self._stack.enter_context(UdpSink(lab.b, "10.2.0.1", 5100 + number))
            sender = self._stack.enter_context(UdpSource(lab.a, "10.2.0.1", 5100 + number, bind=(source, 0)))
            pace = mbits * MBIT / SIZE
            self.sent[source] = int(pace * seconds)
            self._threads.append(threading.Thread(target=sender.pace, args=(bytes(SIZE - 28), pace, self.sent[source])))

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.sent_all()
        self._stack.close()

    def sent_all(self):
        for thread in self._threads:
            thread.join()

    def arrived(self):
        """Packets, by source."""
        return {source: sink.drain() for source, sink in self._sinks.items()}


def contracts(router):
    return {row["contract"]: row for row in json.loads(router.show("contracts", "--json").stdout)}


def events(router, kind):
    return json.loads(router.show("events", f"kind={kind}", "--json").stdout)


def until(router, condition):
    """Reads the contracts until that is so."""
    def holds():
        rows = contracts(router)
        return rows if condition(rows) else None
    return wait_for(holds, every=0.1)


def test_delivered_and_not_marked_decides(lab, router):
    with Streams(lab, 8, {POLITE: 0.8, STARVED: 3.6}) as streams:
        # While it happens: who is missing what he bought, and since when.
        wait_for(lambda: [row["customer"] for row in json.loads(router.show("contracts", "--violated", "--json").stdout)] == [STARVED])
        assert POLITE in router.show("contracts", "--customer", POLITE).stdout
        wait_for(lambda: [e["fields"]["customer"] for e in events(router, "promise_missed")] == [STARVED])
        streams.sent_all()
        m = router.settle()
        # What the kernels ask of neighbours waits and dies in the same queue.
        dropped = m.value("surety_queue_overflow_drops_total", port="wan0", queue="assured", precedence="in")
        # Contracts are looked at once a second: at first all that anybody sees may be from before the last packets.
        until(router, lambda rows: all(rows[c]["offered_bytes"] == n * SIZE for c, n in streams.sent.items()))
        rows = until(router, lambda rows: rows[STARVED]["dropped_queue"] == streams.sent[STARVED] - streams.arrived()[STARVED])
        arrived = streams.arrived()
    # All of it was marked IN, and a third of that died in the queue.
    assert m.value("surety_service_bytes_total", service="silver", precedence="out") == 0
    lost = streams.sent[STARVED] - arrived[STARVED]
    assert 300 < lost <= dropped and arrived[POLITE] == streams.sent[POLITE]
    polite, starved = rows[POLITE], rows[STARVED]
    assert {c: rows[c]["delivered_in_bytes"] for c in arrived} == {c: n * SIZE for c, n in arrived.items()}
    assert starved["drops"] == {"overflow": lost}
    assert starved["offered_bytes"] == streams.sent[STARVED] * SIZE
    began = events(router, "promise_missed")[0]
    assert began["fields"]["reason"] == "overflow" and began["text"].startswith("contract violated: ")
    assert starved["met_seconds"] <= 3 and starved["demanding_seconds"] >= 7
    assert polite["met_seconds"] == polite["demanding_seconds"] >= 7 and polite["dropped_queue"] == 0
    assert polite["objective_ratio"] == 0.99 and "objective_ratio" not in starved
    labels = {"customer": STARVED, "service": "silver", "contract": STARVED}
    m = router.metrics()
    assert m.value("surety_contract_delivered_bytes_total", precedence="in", **labels) == arrived[STARVED] * SIZE
    assert m.value("surety_contract_dropped_packets_total", place="queue", **labels) == lost
    assert m.value("surety_service_delivered_bytes_total", service="silver", precedence="in") == arrived[STARVED] * SIZE
    assert m.value("surety_contract_demanding_seconds_total", **labels) == starved["demanding_seconds"]
    wait_for(lambda: [e["fields"]["customer"] for e in events(router, "promise_kept")] == [STARVED])
    assert "(none)" in router.show("contracts", "--violated").stdout


def test_who_sleeps_does_not_count(lab, router):
    """Two contracts of 1 Mbit/s each, one of which hardly asks for anything: all that is asked for is there."""
    with Streams(lab, 4, {POLITE: 0.9, IDLE: 0.01}):
        m = router.until(lambda m: m.sum("surety_service_demanding_seconds_total", service="gold") >= 3)
        assert m.value("surety_service_committed_bytes_per_second", service="gold") == 2 * MBIT
        assert m.value("surety_service_respect_ratio", service="gold") == 1
    router.until(lambda m: not m.select("surety_service_respect_ratio", service="gold"))  # nothing is guaranteed any more


def test_more_contracts_than_lines_are_in_a_sum(lab, router):
    with Streams(lab, 1, {POLITE: 0.5, STARVED: 0.5, IDLE: 0.5}) as streams:
        streams.sent_all()
        rows = until(router, lambda rows: sum(row["delivered_in_bytes"] for row in rows.values()) == SIZE * sum(
            streams.arrived().values()))
    assert len(rows) == 3 and rows["(rest)"]["customer"] == "(rest)"


def report(lab, router, *arguments):
    return lab.router.run(SURETY, "report", "--directory", router.state, *arguments).stdout


def test_a_report_outlives_the_router(lab, directory):
    router = Measured(lab.router, OVERSOLD, directory=directory)
    for _ in range(2):  # a restart
        with router:
            lab.meet()
            with Streams(lab, 2, {POLITE: 0.5}) as streams:
                streams.sent_all()
                until(router, lambda rows: rows[POLITE]["delivered_in_bytes"] == streams.arrived()[POLITE] * SIZE > 0)
    rows = {row["contract"]: row for row in json.loads(report(lab, router, "--format", "json"))}
    polite = rows[POLITE]
    assert 2 * 120 * SIZE <= polite["delivered_in_bytes"] <= 2 * 125 * SIZE
    assert polite["met_seconds"] == polite["demanding_seconds"] >= 4 and polite["kept"]
    assert report(lab, router, "--customer", POLITE, "--format", "csv").splitlines()[1].startswith(f"{POLITE},gold,{POLITE},20")
    assert "conforms" in report(lab, router) and "(none)" in report(lab, router, "--customer", "nobody")
