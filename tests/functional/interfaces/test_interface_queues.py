# SPDX-License-Identifier: BSD-3-Clause
"""Queues below queues as a whole: who gives to whom, telephones in a flood, and reloads that cost nobody a packet. By real devices."""
import collections
import contextlib
import json
import statistics
import time

import pytest
import yaml

from edge import (AWAY, CLASSES, EF, GROUPS, INTERFACES, MBIT, PACKET, PORT, TAGS, VOICE, Edge, EdgeRouter, Load, address, behind_tags, down,
                  edge_yaml, expected, interface_line, percentile, rates, shaped, steady_rates)
from harness import SURETY, UdpSink, UdpSource, law, wait_for

pytestmark = pytest.mark.paced("measures rates and delays")

ECT1, CE = 1, 3
QUIET = ["a", "b", "d", "e"]  # who asks for half of his part, and loses nothing whatever happens to the others
NOISY = ["c", "f"]
PHONE = {"mbits": 0.08, "dscp": EF, "size": 200}  # 50 packets a second


@pytest.fixture(scope="module")
def lab():
    with Edge() as made:
        yield made


@pytest.fixture
def workers():
    """YAML; of the tests that do not say whose."""
    return ""


# With two, one hands the packets over to the other, and looks up their classes before.
ONE_AND_TWO = pytest.mark.parametrize("workers", ["", "workers: {cores: [0, 1]}\n"], ids=["one worker", "two workers"])


@pytest.fixture
def router(lab, workers):
    # A reload keeps what begins with `dpdk:`.
    with EdgeRouter(lab.router, f"{edge_yaml()}dpdk: {{hugepages: off, max_routes: 1024}}\n{workers}") as running:
        lab.meet()
        yield running
        running.settle()


@pytest.fixture
def load(lab, router):
    with Load(lab) as made:
        yield made


@pytest.fixture
def listener(lab, router):
    with behind_tags(lab) as made:
        yield made


def during(listener, seconds):
    """Rates of what arrives in so long a time from now."""
    listener.take()
    begin = time.time()
    time.sleep(seconds)
    return steady_rates(listener.take(), begin, seconds)


def parts(active, times=1.0, of=None):
    """So many times what those get when these are active."""
    return {label: mbits * times for label, mbits in expected(active).items() if of is None or label.split(".")[0] in of}


def of(got, *names):
    return sum(mbits for label, mbits in got.items() if label.split(".")[0] in names)


def idle(router):
    return router.until(lambda m: m.sum("surety_port_queued_packets", port="acc0") == 0)


def test_shapers_are_shown_and_reported(lab, directory):
    router = EdgeRouter(lab.router, edge_yaml(), directory=directory)
    with router:
        lab.meet()
        shapes = {row["name"]: row.get("shape_bytes_per_second") for row in json.loads(router.show("interfaces", "--json").stdout)}
        assert shapes == {name: rate and rate * MBIT / 8 for name, (_, _, rate) in INTERFACES.items()}
        router.settle()
    found = json.loads(lab.router.run(SURETY, "report", "--directory", router.state, "--format", "json").stdout)
    rows = {row["contract"]: row for row in found if row["service"] == "shaper"}
    assert rows.keys() == {"c", "f"}, "those with a shaper"
    for name, row in rows.items():
        assert (row["customer"], row["direction"], row["committed_bytes_per_second"]) == (name, "down", INTERFACES[name][2] * MBIT / 8)
        assert row["delivered_in_bytes"] + row["delivered_out_bytes"] >= 84, "a ping"


# --- shares ---

def test_who_falls_silent_gives_to_his_siblings_only(router, load, listener):
    """b of the group with a and c; d, alone in the other group, has no more and no less for it."""
    load.demand({f"{name}.rest": PORT for name in "abd"})
    time.sleep(0.3)
    before = during(listener, 1)
    load.stop(["b.rest"])
    wait_for(lambda: not router.metrics().sum("surety_queue_depth_packets", port="acc0", interface="b"))
    after = during(listener, 1)
    load.demand({"b.rest": PORT})
    time.sleep(0.3)
    again = during(listener, 1)
    law(router.metrics())
    load.stop()
    for got in (before, after, again):
        assert of(got, "d") == pytest.approx(PORT / 3, abs=PORT / 100)
    assert (of(before, "a"), of(after, "a"), of(again, "a")) == pytest.approx((PORT / 6, PORT * 2 / 3, PORT / 6), abs=PORT / 100)


def test_a_group_that_has_its_shape_leaves_the_rest_to_the_port(router, load, listener):
    """d, e and f have 8 Mbit/s together, and what they do not get is a's."""
    load.demand({"a.gold": PORT, "d.gold": PORT, "e.rest": PORT, "f.rest": PORT})
    time.sleep(0.3)
    router.reload(edge_yaml(a=", weight: 1, shape: 15 Mbit/s, burst: 30 kB, queues: down"))
    got = during(listener, 1)
    assert of(got, "d", "e", "f") == pytest.approx(PORT / 3, abs=PORT / 100)
    load.stop(["a.gold"])
    time.sleep(0.5)
    assert of(during(listener, 1), "d", "e", "f") == pytest.approx(GROUPS["south"]["rate"], abs=PORT / 100)
    load.stop()


# --- telephones ---

def ring(listener, load, seconds=5):
    """Of each interface's phone, in ms: half of the packets, and all, arrive within so long in most of the seconds. While the machine gives
    the router nothing, everybody waits; that falls into one second or two. And which part of the packets arrived."""
    listener.take()
    begin, before = time.time(), load.counts()
    time.sleep(seconds)
    sent, heard = load.counts(), {}
    delays = collections.defaultdict(lambda: [[] for _ in range(seconds)])
    for a in listener.take():
        if a.dscp == EF and 0 <= a.sent - begin < seconds:
            delays[a.where][int(a.sent - begin)].append((a.at - a.sent) * 1e3)
    for name, windows in delays.items():
        half, longest = (statistics.median(percentile(w, part) for w in windows if w) for part in (0.5, 1))
        heard[name] = half, longest, sum(map(len, windows)) / (sent[f"{name}.phone"] - before[f"{name}.phone"])
    return heard


def levels(name):
    """Milliseconds of a packet on each shaper that a phone's passes."""
    group, _, rate = INTERFACES[name]
    return sum(PACKET * 8 / (mbits * MBIT) * 1e3 for mbits in (rate, GROUPS[group].get("rate"), PORT) if mbits)


def test_a_telephone_waits_for_a_packet_of_each_level(router, load, listener):
    """While everybody floods everything; what this machine itself makes of it is measured before."""
    for name in INTERFACES:
        load.flow(f"{name}.phone", name, **PHONE)
    before = ring(listener, load)
    load.demand(parts(INTERFACES, 2))
    time.sleep(1)
    during_flood = ring(listener, load)
    m = router.metrics()
    law(m)
    for name in INTERFACES:
        busy, quiet = during_flood[name][1], before[name][1]
        print(f"phone of {name}: all within {busy:.2f} ms beside a flood, {quiet:.2f} alone; a packet of each level: {levels(name):.2f}")
    for name in INTERFACES:
        for quiet, busy, away in zip(before[name], during_flood[name], (0, AWAY * 1e3)):
            assert busy <= levels(name) + quiet + away
        assert during_flood[name][2] >= 0.95
    assert m.sum("surety_queue_overflow_drops_total", port="acc0", queue="voice") == 0
    assert m.sum("surety_queue_overflow_drops_total", port="acc0", queue="rest") > 0
    load.stop()


def test_who_rings_too_much_has_his_cap(router, load, listener):
    """Of eight times that; what it takes is not held against its interface's part of the data, and nobody else has less than a fluid would."""
    load.demand(parts(INTERFACES, 2))
    for name in "ae":
        load.flow(f"{name}.voice", name, 8 * VOICE, dscp=EF)
    time.sleep(0.5)
    listener.take()
    begin = time.time()
    time.sleep(1)
    got = steady_rates(listener.take(), begin, 1)
    law(router.metrics())
    load.stop()
    assert got == pytest.approx(expected(INTERFACES, ringing="ae"), abs=PORT / 100)


# --- reloads ---

class Undisturbed(contextlib.AbstractContextManager):
    """The quiet ones ask for half of their parts, the noisy ones for far too much; in the end the quiet ones have everything."""

    def __init__(self, router, load, listener, quiet=QUIET, noisy=NOISY, times=0.5):
        self._router, self._load, self._listener, self._quiet = router, load, listener, quiet
        self._before = load.counts()
        self._noisy = {f"{name}.{kind}": PORT / 2 for name in noisy for kind in CLASSES}
        listener.take()
        load.demand(parts(INTERFACES, times, quiet))
        load.demand(self._noisy)
        time.sleep(0.5)

    def __exit__(self, kind, *_):
        self._load.stop()
        if kind is None:
            law(self._router.metrics())
            idle(self._router)
            self._judge()

    def _judge(self):
        sent = {label: n - self._before.get(label, 0) for label, n in self._load.counts().items() if label.split(".")[0] in self._quiet}
        kinds = {dscp: kind for kind, (_, dscp) in CLASSES.items()}
        came = collections.Counter(f"{a.where}.{kinds[a.dscp]}" for a in self._listener.take() if a.dscp in kinds and a.where in self._quiet and a.size == PACKET)
        assert dict(came) == sent, self._router.metrics().drops()
        assert min(sent.values()) > 0


@ONE_AND_TWO
def test_one_goes_with_full_queues(router, load, listener):
    """Its packets are dropped by that name, the others lose nothing, and it may come back."""
    with Undisturbed(router, load, listener):
        wait_for(lambda: router.metrics().sum("surety_queue_depth_packets", port="acc0", interface="c") > 60)
        m = router.reload(edge_yaml(names=[name for name in INTERFACES if name != "c"]))
        law(m)
        m = router.until(lambda m: m.drops("acc0").get("interface_gone", 0) > 60)
        law(m)
        time.sleep(0.5)
        m = router.metrics()
        law(m)
        assert not m.select("surety_queue_depth_packets", port="acc0", interface="c")
        router.reload(edge_yaml())
        time.sleep(0.5)
        assert of(lately(listener), "c") > 0


def lately(listener, seconds=0.5):
    """Rates of the last moments; takes nothing, for who counts everything."""
    return rates(listener.seen(), time.time() - seconds, seconds)


@ONE_AND_TWO
def test_rates_change_as_fast_as_reloads_go(router, load, listener):
    """Of an interface, of a group and of the port; who asks for what he has loses nothing, and the last rate is the one."""
    texts = [edge_yaml(c=f", weight: {weight}{shaped(rate)}, queues: down", port=shaped(port)).replace(shaped(8), shaped(group))
             for weight, rate, port, group in ((2, 1, 25, 9), (7, 2, 20, 8), (1, 4, 30, 10), (2, 3, 20, 8))]
    with Undisturbed(router, load, listener):
        began, reloads = time.monotonic(), 0
        while time.monotonic() < began + 6:
            law(router.reload(texts[reloads % len(texts)]))
            reloads += 1
        assert reloads >= 12
        print(f"{reloads} reloads in {time.monotonic() - began:.1f} s")
        router.reload(edge_yaml(c=f", weight: 2{shaped(2)}, queues: down"))
        time.sleep(0.6)
        assert of(lately(listener), "c") == pytest.approx(2, rel=0.1)


def test_a_subscriber_gets_another_plan_and_is_suspended(lab, router, load, listener):
    """An interface becomes a subscriber of an import, whose plan changes: who has what he asks for loses nothing, and the contract has its
    service. Nothing comes through while it is suspended, and this lasts over an import."""
    plans = "".join(f"  {name}: {{service: {name}{shaped(rate)}, weight: 2, queues: down}}\n" for name, rate in (("slow", 1), ("fast", 2)))
    services = "".join(f"  {name}: {{conditioner: police, rate: {rate} Mbit/s, bucket: 50 kB}}\n" for name, rate in (("slow", 1), ("fast", 2)))

    def subscribers(*words, **options):
        return lab.router.run(SURETY, "subscribers", *words, "--name", router.name, **options)

    def import_c(plan):
        return subscribers("import", "-", input=json.dumps(yaml.safe_load(interface_line("c", f", plan: {plan}"))))

    def arrives(rate):
        """c gets this rate, once its queues have sent what they had."""
        wait_for(lambda: of(lately(listener), "c") == pytest.approx(rate, rel=0.1, abs=0.01))

    with Undisturbed(router, load, listener):
        router.reload(edge_yaml(names=[name for name in INTERFACES if name != "c"],
                                more=f"include: subscribers/*.yaml\nservices:\n{services}plans:\n{plans}"))
        for plan, rate in (("slow", 1), ("fast", 2)):
            import_c(plan)
            arrives(rate)
            lab.inside["c"].namespace.run("ping", "-n", "-c", 3, "-i", 0.2, "-W", 1, "10.2.0.1", check=False)  # replies may wait too long
            router.until(lambda _: any((row["customer"], row["service"]) == ("c", plan)
                                       for row in json.loads(router.show("contracts", "--json").stdout)))
        subscribers("suspend", "c")
        arrives(0)
        assert router.metrics().drops("up0")["filtered"] > 0
        import_c("slow")
        arrives(0)
        subscribers("resume", "c")
        arrives(1)


@ONE_AND_TWO
def test_classes_of_an_interface_change(router, load, listener):
    """Other weights, one class less, one more: those who keep theirs lose nothing, and the packets that waited are looked at anew."""
    other = {"even": down({"gold": (1, 10), "rest": (1, 0)}), "one": "    - {name: all, dscp: [BE, AF11], limit: 60 packets}\n",
             "three": down({"gold": (3, 10), "silver": (2, 18), "rest": (1, 0)})}
    others = "".join(f"  {name}:\n{lines}" for name, lines in other.items())
    with Undisturbed(router, load, listener):
        for _ in range(3):
            for name in other:
                law(router.reload(edge_yaml(more=others, c=f", weight: 2{shaped(3)}, queues: {name}")))
                time.sleep(0.2)
        m = router.reload(edge_yaml(more=others, c=f", weight: 2{shaped(3)}, queues: even"))
        assert "interface_gone" not in m.drops("acc0")
        time.sleep(1)
        got = lately(listener)
        assert got["c.gold"] == pytest.approx(1.5, abs=PORT / 100) and got["c.rest"] == pytest.approx(1.5, abs=PORT / 100)


def plain_yaml():
    """The same interfaces, of which none has a shaper, a weight or queues; nor are there groups."""
    text = edge_yaml(queues=down(limit=400), **{name: "" for name in INTERFACES})
    kept = [line for line in text.splitlines(keepends=True) if line.strip() != "groups:" and not any(line.startswith(f"  {g}: {{port") for g in GROUPS)]
    return "".join(kept).replace(" group: north,", "").replace(" group: south,", "")


@ONE_AND_TWO
def test_a_port_gets_its_first_queues_below_and_loses_them(router, load, listener):
    """Everybody asks for nine tenths of his part, back and forth: nothing is lost."""
    deep = edge_yaml(queues=down(limit=400))  # for what a sender makes up for when it has been late
    router.reload(deep)
    with Undisturbed(router, load, listener, quiet=list(INTERFACES), noisy=[], times=0.9):
        for _ in range(4):
            law(router.reload(plain_yaml()))
            time.sleep(0.3)
            law(router.reload(deep))
            time.sleep(0.3)


@ONE_AND_TWO
def test_what_waits_goes_on_in_order(lab, router):
    """Forty packets of two customers wait for a slow port when it gets queues below, other ones, and none again."""
    slow = ", shape: 200 kbit/s, burst: 3 kB"
    texts = [edge_yaml(port=slow), edge_yaml(port=slow, a=", weight: 5", b=""), plain_yaml().replace(shaped(PORT), slow)]
    router.reload(plain_yaml().replace(shaped(PORT), slow))
    with contextlib.ExitStack() as stack:
        sinks = [stack.enter_context(UdpSink(lab.inside[name], address(name), 7300)) for name in "ab"]
        sources = [stack.enter_context(UdpSource(lab.up, address(name), 7300)) for name in "ab"]
        for i in range(20):
            for source in sources:
                source.send(i.to_bytes(4, "big") + bytes(900))
        router.until(lambda m: m.sum("surety_port_queued_packets", port="acc0") > 25)
        for text in texts:
            m = router.reload(text)
            law(m)
            assert m.sum("surety_port_queued_packets", port="acc0") > 5  # packets wait all the time
        router.reload(edge_yaml())
        router.settle()
        wait_for(lambda: all(sink.drain() >= 20 for sink in sinks))
    for sink in sinks:
        assert [int.from_bytes(p[:4], "big") for p in sink.payloads] == list(range(20))
    assert not router.metrics().drops("acc0")


# --- RIO and ECN of an interface ---

RIO = (", count: packets, rio: {average: 0.02, ecn: on, in: {min: 30, max: 55, pmax: 0.05}, out: {min: 10, max: 40, pmax: 0.2}}")


def test_an_interfaces_queue_marks_who_can_be_told(router, load, listener):
    """Two flows of one class, one of which is ECN-capable, ask for a little more than the interface has: that one is marked."""
    router.reload(edge_yaml(queues=down(more=RIO)))
    load.flow("ect", "c", 2, ecn=ECT1)
    load.flow("not", "c", 1.2, port=7101)
    load.flow("calm", "a", 1, ecn=ECT1)
    time.sleep(3)
    load.stop()
    m = idle(router)
    came = listener.take()
    marked = collections.Counter((a.where, a.ecn) for a in came)
    assert marked["c", CE] > 0 and marked["a", CE] == 0
    assert marked["c", CE] == m.sum("surety_queue_ecn_marks_total", port="acc0", interface="c", queue="rest") == m.sum("surety_queue_ecn_marks_total")
    assert m.sum("surety_queue_early_drops_total", port="acc0", interface="c", queue="rest") > 0
    law(m)
    assert {labels.get("interface") for labels, _ in m.select("surety_queue_depth_packets", port="acc0")} >= set(TAGS)
