# SPDX-License-Identifier: BSD-3-Clause
"""`surety explain`: what it says of a packet is what happens to it."""
import json
import threading

import pytest

from harness import SURETY, Router, UdpSink, UdpSource, Wire, dscp, wait_for
from pair import Pair, ports

AF11, AF13 = 10, 14
YAML = ports(wan="shape: 30 Mbit/s, queues: uplink") + """
queues:
  uplink:
    - {name: best, dscp: [BE], limit: 100 packets}
    - name: assured
      dscp: {in: [AF11], out: [AF13]}
      limit: 400 packets
      count: packets
      rio: {in: {min: 200, max: 300, pmax: 0.01}, out: {min: 100, max: 200, pmax: 0.2}}
services:
  gold: {conditioner: token-bucket, rate: 4 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: AF13}}
classify:
  - {match: {port: lan0, destination_port: 5004}, service: gold, per: source}
"""
FIELDS = "source=10.1.0.1 destination=10.2.0.1 protocol=udp source_port=4999 destination_port=5004".split()


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        yield pair


@pytest.fixture(scope="module")
def router(lab):
    with Router(lab.router, YAML) as made:
        lab.meet()
        yield made


def explain(router, *words, check=True):
    return router.namespace.run(SURETY, "explain", "--name", router.name, *words, check=check)


def answer(router, *words):
    return json.loads(explain(router, "--json", *words).stdout)


def test_a_new_packet_stage_by_stage(lab, router):
    said = answer(router, "lan0", *FIELDS)
    rule = [n for n, line in enumerate(router.path.read_text().splitlines(), 1) if "per: source" in line]
    assert said["rule"] == {"number": 1, "line": rule[0], "service": "gold", "per": "source"}
    assert said["interface"]["customer"] == "lan0"
    assert said["source_check"] == {"mode": "strict", "accepted": True}
    assert said["service"] == {"name": "gold", "conditioner": "token-bucket", "committed_bytes_per_second": 500_000.0}
    assert said["contract"]["contract"] == "10.1.0.1"
    assert said["route"]["port"] == "wan0" and said["route"]["mac"] == lab.b.namespace.mac("eth0")
    assert said["route"]["prefix"] in ("10.2.0.1/32", "10.2.0.0/24")
    assert said["queue_in"]["name"] == "assured" and said["queue_in"]["out"]["min_packets"] == 100
    assert said["sentence"] == ("service gold, marked IN up to 4 Mbit/s, IN now, leaves by wan0 in queue assured, "
                                "drop probability 0 % IN, 0 % OUT")
    words = explain(router, "lan0", *FIELDS).stdout
    assert words.endswith(said["sentence"] + "\n")
    assert f"(line {rule[0]})" in words and "neighbor" in words


def test_a_flow_that_is_there_is_found_by_its_fields(lab, router):
    with UdpSink(lab.b, "10.2.0.1", 5004), UdpSource(lab.a, "10.2.0.1", 5004, bind=("10.1.0.1", 4999)) as source, \
            Wire(lab.b) as wire:
        source.pace(bytes(1000), 100, 20)
        said = answer(router, *FIELDS)
        assert said["interface"]["name"] == "lan0"
        assert said["flow"]["idle_seconds"] < 60
        assert said["contract"]["known"] and said["counted"]["in_bytes"] > 0
        assert wire.find(lambda p: "UDP" in p and p["UDP"].dport == 5004 and dscp(p) == AF11)
    assert "there is no flow" in explain(router, *FIELDS[:4], "destination_port=5005", check=False).stderr


def test_beyond_its_rate_it_says_out(lab, router):
    # Ten times its rate for as long as we ask.
    with UdpSource(lab.a, "10.2.0.1", 5004, bind=("10.1.0.1", 4999)) as source:
        asked = threading.Event()

        def send():
            while not asked.is_set():
                source.pace(bytes(1400), 4000, 100)
        sender = threading.Thread(target=send)
        sender.start()
        try:
            wait_for(lambda: "OUT now" in answer(router, "lan0", *FIELDS, "length=1400")["sentence"])
        finally:
            asked.set()
            sender.join()


def test_what_the_router_refuses(router):
    assert answer(router, "lan0", "source=10.9.0.1", *FIELDS[1:])["reason"] == "source_check"
    assert answer(router, "lan0", FIELDS[0], "destination=203.0.113.1", *FIELDS[2:])["reason"] == "no_route"
    assert answer(router, "lan0", FIELDS[0], "destination=10.2.0.254", *FIELDS[2:])["verdict"] == "kernel"
    assert answer(router, "lan0", "vlan=7", *FIELDS)["reason"] == "vlan_unknown"


@pytest.mark.parametrize("words, complaint", [
    (["lan9", *FIELDS], "no port or interface is called lan9"),
    (["lan0", "source=10.1.0.1", "destination=2001:db8::1", "protocol=udp", "source_port=1", "destination_port=2"], "IPv6"),
    (["lan0", *FIELDS[:4], "destination_port=65536"], "65536"),
    (["lan0", *FIELDS[:2], "protocol=icmp", "source_port=1"], "no ports"),
    (["lan0", "source=10.1.0", *FIELDS[1:]], "10.1.0"),
    (["lan0", "source=" + "1" * 10_000], "1111"),
])
def test_a_packet_that_cannot_be(router, words, complaint):
    failed = explain(router, *words, check=False)
    assert failed.returncode in (1, 2) and failed.stdout == ""
    assert complaint in failed.stderr and failed.stderr.startswith("surety explain: ") and failed.stderr.count("\n") == 1
