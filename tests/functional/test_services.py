# SPDX-License-Identifier: BSD-3-Clause
"""What customers buy, kept with real traffic: rates and marks."""
import itertools
import socket
import statistics
import threading

import pytest
from scapy.layers.inet import IP

from harness import Measured, TcpTransfer, UdpSink, UdpSource, Wire, dscp, ecn, udp_to, wait_for
from pair import MBIT, Pair, ports

pytestmark = pytest.mark.paced("measures rates")

BE, AF11, AF13, EF = 0, 10, 14, 46
BUCKET, CSA, POLICED = "10.1.0.11", "10.1.0.12", "10.1.0.13"
CSA_RATE, ALPHA_MAX, BUCKET_RATE, POLICE_RATE = 4 * MBIT, 0.4, 3 * MBIT, 2 * MBIT
POLICE_BUCKET = 100_000  # 400 ms of its rate: so long may the machine keep the sender

SHAPED = ports(wan="shape: 30 Mbit/s, burst: 60 kB, queues: uplink") + f"""
queues:
  uplink:
    - {{name: voice, dscp: [EF], priority: strict}}
    - name: assured
      dscp: {{in: [AF11], out: [AF13, BE]}}
      limit: 400 packets
      count: packets
      rio: {{in: {{min: 200, max: 300, pmax: 0.01}}, out: {{min: 100, max: 200, pmax: 0.2}}}}
services:
  bucket: {{conditioner: token-bucket, rate: 3 Mbit/s, bucket: 30 kB, mark: {{in: AF11, out: AF13}}}}
  csa: {{conditioner: csa, alpha: {{max: 0.4}}, rate: 4 Mbit/s, in_bucket: 10 packets, out_bucket: 2 packets, buffer: 100 packets, mark: {{in: AF11, out: BE}}}}
  police: {{conditioner: police, rate: 2 Mbit/s, bucket: 100 kB, mark: {{in: EF}}}}
classify:
  - {{match: {{port: lan0, source: {BUCKET}/32}}, service: bucket}}
  - {{match: {{port: lan0, source: {CSA}/32}}, service: csa, per: source}}
  - {{match: {{port: lan0, source: {POLICED}/32}}, service: police}}
"""


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        for address in (BUCKET, CSA, POLICED):
            pair.add_source(f"{address}/24")
        yield pair


@pytest.fixture(scope="module")
def shaped(lab):
    with Measured(lab.router, SHAPED) as router:
        lab.meet()
        yield router


def service(m, name, precedence):
    return m.value("surety_service_bytes_total", service=name, precedence=precedence)


def flow(router, names, least):
    """Waits until each of these services has let so many bytes pass."""
    start = router.metrics()
    router.until(lambda m: all(sum(service(m, n, p) - service(start, n, p) for p in ("in", "out")) >= least for n in names))


def during(router, names, seconds, windows=9):
    """Bytes a second that each service lets pass IN and OUT: the medians of so many windows of the router's clock, because the machine
    may keep a sender from asking for its rate in one or two of them."""
    scrapes = [router.metrics()]
    for _ in range(windows):
        due = scrapes[-1].value("surety_uptime_seconds") + seconds / windows
        scrapes.append(router.until(lambda m: m.value("surety_uptime_seconds") >= due))
    at = [m.value("surety_uptime_seconds") for m in scrapes]

    def median(name, precedence):
        passed = [service(m, name, precedence) for m in scrapes]
        return statistics.median((b[1] - b[0]) / (t[1] - t[0]) for b, t in zip(itertools.pairwise(passed), itertools.pairwise(at)))
    return {name: (median(name, "in"), median(name, "out")) for name in names}


def marks_of_tcp(wire):
    """The DSCPs of IPv4's TCP; read by hand, because these are more frames than scapy has time for."""
    return {f[15] >> 2 for f in wire.drain() if f[12:14] == b"\x08\x00" and f[23] == socket.IPPROTO_TCP}


@pytest.mark.parametrize("congestion", ["reno", "cubic"])
def test_csa_holds_real_tcp_between_its_rate_and_all_that_alpha_allows(lab, shaped, congestion):
    with Wire(lab.b) as wire, TcpTransfer(lab.a, lab.b, 5001, congestion=congestion, bind=CSA):
        flow(shaped, ["csa"], CSA_RATE)  # a second at its rate
        inside, outside = during(shaped, ["csa"], 3)["csa"]
        marks = marks_of_tcp(wire)
    assert CSA_RATE * 0.98 <= inside + outside <= CSA_RATE * (1 + ALPHA_MAX) * 1.02
    assert inside == pytest.approx(CSA_RATE, rel=0.02)  # IN: neither more nor less than bought
    assert marks == {AF11, BE}
    shaped.settle()


def test_token_bucket_marks_tcp_in_up_to_its_rate_and_out_beyond(lab, shaped):
    with Wire(lab.b) as wire, TcpTransfer(lab.a, lab.b, 5002, bind=BUCKET):
        flow(shaped, ["bucket"], BUCKET_RATE)
        inside, outside = during(shaped, ["bucket"], 2)["bucket"]
        marks = marks_of_tcp(wire)
    assert inside == pytest.approx(BUCKET_RATE, rel=0.03)
    assert outside > inside  # the rest of 30 Mbit/s is free
    assert inside + outside == pytest.approx(30 * MBIT, rel=0.05)  # and is used
    assert marks == {AF11, AF13}
    shaped.settle()


def test_police_passes_its_rate_and_bucket_and_no_more(lab, shaped):
    length, packets, offered = 500, 3000, 2.5
    before = shaped.metrics()

    def passed(m):
        return (service(m, "police", "in") - service(before, "police", "in")) // length

    def dropped(m):
        return m.drops("lan0").get("police", 0) - before.drops("lan0").get("police", 0)

    with UdpSink(lab.b, "10.2.0.1", 4000) as sink, \
            UdpSource(lab.a, "10.2.0.1", 4000, bind=(POLICED, 0)) as source:
        seconds = source.pace(bytes(length - 28), offered * POLICE_RATE / length, packets)
        m = shaped.until(lambda m: passed(m) + dropped(m) == packets)
        shaped.settle()
        wait_for(lambda: sink.drain() >= passed(m))
    assert passed(m) == pytest.approx((POLICE_BUCKET + POLICE_RATE * seconds) / length, rel=0.02)
    assert service(m, "police", "out") == 0


def test_ecn_bits_are_kept_and_the_dscp_is_not(lab, shaped):
    """The customer's DSCP is CS6: services decide, and unmatched traffic becomes BE."""
    cs6 = 48 << 2
    with Wire(lab.b) as wire:
        for bits in range(4):
            for address in (POLICED, "10.1.0.1"):
                with UdpSource(lab.a, "10.2.0.1", 4001, traffic_class=cs6 | bits, bind=(address, 0)) as source:
                    source.send(b"x")
            with UdpSource(lab.a, "2001:db8:2::1", 4001, traffic_class=cs6 | bits) as source:
                source.send(b"x")
        arrived = [wire.find(udp_to(4001)) for _ in range(12)]
    seen = sorted((p[IP].src if IP in p else "v6", dscp(p), ecn(p)) for p in arrived)
    assert seen == sorted((who, mark, bits) for bits in range(4)
                          for who, mark in ((POLICED, EF), ("10.1.0.1", BE), ("v6", BE)))


def test_dscp_from_the_core_is_believed(lab, shaped):
    with Wire(lab.a) as wire, UdpSource(lab.b, "10.1.0.1", 4002, traffic_class=EF << 2) as source:
        source.send(b"x")
        assert dscp(wire.find(udp_to(4002))) == EF
    shaped.settle()


def test_three_services_get_theirs_at_once_from_a_full_port(lab, shaped):
    """Token bucket and csa with TCP, police with UDP: what one sends beyond its rate is not another one's loss."""
    names, done = ["csa", "bucket", "police"], threading.Event()
    with TcpTransfer(lab.a, lab.b, 5003, bind=BUCKET), TcpTransfer(lab.a, lab.b, 5004, bind=CSA), \
            UdpSource(lab.a, "10.2.0.1", 4003, bind=(POLICED, 0)) as voice:
        def pace():
            while not done.is_set():
                voice.pace(bytes(472), 2.5 * POLICE_RATE / 500, 100)
        pacer = threading.Thread(target=pace)
        pacer.start()
        try:
            flow(shaped, names, CSA_RATE)
            before = shaped.metrics()
            rates = during(shaped, names, 2)
            after = shaped.metrics()
        finally:
            done.set()
            pacer.join()
    for name, rate in zip(names, (CSA_RATE, BUCKET_RATE, POLICE_RATE)):
        assert rates[name][0] == pytest.approx(rate, rel=0.04), name
    drops_in = [after.value(f"surety_queue_{kind}_drops_total", port="wan0", queue=queue, precedence="in") -
                before.value(f"surety_queue_{kind}_drops_total", port="wan0", queue=queue, precedence="in")
                for kind in ("early", "forced", "overflow") for queue in ("voice", "assured")]
    assert sum(drops_in) == 0 and after.drops("wan0").get("early", 0) > 0
    shaped.settle()


def test_no_mark_of_a_customer_s_own_gets_past_the_conditioners():
    """The kernel forwards what waits for a neighbour's MAC address: as best effort, whatever the customer wrote in."""
    with Pair() as lab, Measured(lab.router, ports()) as router, Wire(lab.b) as wire, \
            UdpSource(lab.a, "10.2.0.1", 9, traffic_class=48 << 2) as source:
        lab.router.ip("neigh", "flush", "dev", "wan0")
        source.send(b"first")
        packet = wire.find(udp_to(9))
        assert packet is not None and dscp(packet) == BE
        assert router.metrics().value("surety_punted_packets_total", port="lan0", reason="neighbor") >= 1
