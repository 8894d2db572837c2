# SPDX-License-Identifier: BSD-3-Clause
"""The promise itself, end to end in real time: contracted flows over a congested 10 Mbit/s link of the router.

Six congested links side by side, each with its own ports of one router and of one endpoint process (whose sinks measure
what arrives): gTFRC and TFRC over 640 and 40 ms (the gTFRC paper's Fig. 2 at ten times the rate), GTCP and NewReno with
4 Mbit/s reserved against five NewReno flows (the GTCP paper's setting, "tight" in tests/lab/papers/README.md) over 50 and 100 ms."""
import contextlib

import pytest

from endpoint import Endpoint, Network, flow
from harness import Router
from namespaces import connect

pytestmark = [
    pytest.mark.alone("measures rates"),
    pytest.mark.long("75 s; test_lab_live.py shows gTFRC's promise in real time at a tenth of the rate, the gtfrc and gtcp papers of "
                     "test_lab_papers.py show both in virtual time")]

SECONDS, WARM_UP = 75, 10
LONG, SHORT = "318 ms", "18 ms"  # one way; the rest is the router, the shaper and the machine

TFRC_LINKS = {"g": "gtfrc", "t": "tfrc"}  # link -> protocol
TCP_LINKS = {"c": ("gtcp", 50, "24 ms"), "n": ("newreno", 50, "24 ms"),  # link -> protocol, round trip, one way
             "d": ("gtcp", 100, "49 ms"), "m": ("newreno", 100, "49 ms")}
# A minimum of 200 ms as the paper's simulator and Linux have it: with RFC 6298's second the best-effort flows, whose windows
# are of four packets, would be held up by timeouts, and the reserved flow would get what they leave.
TCP = "window: 1 MB, min_rto: 200 ms"


class Numbers:
    """A subnet for each port of the router."""

    def __init__(self):
        self._subnets = {}

    def of(self, port):
        return self._subnets.setdefault(port, len(self._subnets) + 1)

    def router(self, port):
        return f"10.1.{self.of(port)}.254"

    def endpoint(self, port):
        return f"10.1.{self.of(port)}.1"


def port_lines(numbers, ports, side):
    address = getattr(numbers, side)
    device = "af_xdp" if side == "router" else "af_packet"
    for port, more in ports.items():
        gateway = f", gateway: {numbers.router(port)}" if side == "endpoint" else ""
        yield f"  {port}: {{device: {device} {port}, addresses: [{address(port)}/24]{gateway}{more if side == 'router' else ''}}}\n"


def router_yaml(numbers, ports):
    rules = "".join(
        f"  - {{match: {{port: {link}long}}, service: long, per: rule}}\n"
        f"  - {{match: {{port: {link}short}}, service: short, per: rule}}\n" for link in TFRC_LINKS)
    rules += "".join(
        f"  - {{match: {{port: {link}in, protocol: tcp, destination_port: 5001}}, service: reserved, per: rule}}\n"
        f"  - {{match: {{port: {link}in}}, service: best_effort, per: rule}}\n" for link in TCP_LINKS)
    return "ports:\n" + "".join(port_lines(numbers, ports, "router")) + """queues:
  paper:
    - name: assured
      dscp: {in: [AF11], out: [AF13, BE]}
      limit: 50 packets
      count: packets
      rio: {average: 0.002, in: {min: 20, max: 40, pmax: 0.02}, out: {min: 10, max: 20, pmax: 0.1}}
  tight:
    - name: assured
      dscp: {in: [AF11], out: [AF13, BE]}
      limit: 1000 packets
      count: packets
      rio: {average: 0.002, in: {min: 900, max: 1000, pmax: 0.01}, out: {min: 5, max: 15, pmax: 0.1}}
services:
  long: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 100 kB, mark: {in: AF11, out: AF13}}
  short: {conditioner: token-bucket, rate: 2 Mbit/s, bucket: 100 kB, mark: {in: AF11, out: AF13}}
  reserved: {conditioner: token-bucket, rate: 4 Mbit/s, bucket: 30 kB, mark: {in: AF11, out: AF13}}
  best_effort: {conditioner: none, mark: {in: BE}}
classify:
""" + rules


def endpoint_yaml(numbers, ports):
    senders = ""
    for link, protocol in TFRC_LINKS.items():
        for which, target in (("long", "8 Mbit/s"), ("short", "2 Mbit/s")):
            senders += (f'  - {{name: {protocol}-{which}, port: {link}{which}, protocol: {protocol}, target: {target}, '
                        f'to: "{numbers.endpoint(link + "out")}:5001", packet: 1500 B}}\n')
    for link, (protocol, rtt, _) in TCP_LINKS.items():
        to = numbers.endpoint(link + "out")
        senders += (f'  - {{name: {protocol}-{rtt}, port: {link}in, protocol: {protocol}, target: 4 Mbit/s, to: "{to}:5001", '
                    f'packet: 1500 B, {TCP}}}\n'
                    f'  - {{name: {protocol}-{rtt}-others, port: {link}in, protocol: newreno, to: "{to}:5002", packet: 1500 B, '
                    f'{TCP}, flows: 5, start: 0 s - 100 ms}}\n')
    sinks = "".join(f"  - {{port: {link}out, listen: [dccp 5001], in: [AF11]}}\n" for link in TFRC_LINKS)
    sinks += "".join(f"  - {{port: {link}out, listen: [tcp 5001, tcp 5002], ack: every, in: [AF11]}}\n" for link in TCP_LINKS)
    return ("ports:\n" + "".join(port_lines(numbers, ports, "endpoint")) + "sinks:\n" + sinks + "senders:\n" + senders +
            f"duration: {SECONDS} s\nmeasure: {WARM_UP} s - {SECONDS} s\n")


@pytest.fixture(scope="module")
def report():
    numbers = Numbers()
    ports, delays = {}, {}
    for link in TFRC_LINKS:
        ports |= {f"{link}long": "", f"{link}short": "", f"{link}out": ", trust: core, shape: 10 Mbit/s, burst: 15 kB, queues: paper"}
        delays |= {f"{link}long": LONG, f"{link}short": SHORT}
    for link, (_, _, delay) in TCP_LINKS.items():
        ports |= {f"{link}in": "", f"{link}out": ", trust: core, shape: 10 Mbit/s, burst: 15 kB, queues: tight"}
        delays |= {f"{link}in": delay}
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(Network())
        ends, router = network.namespace("e"), network.namespace("r")
        for port in ports:
            if port in delays:
                network.impaired(ends, port, router, port, "--delay", delays[port])
            else:
                connect(ends, port, router, port)
        stack.enter_context(Router(router, router_yaml(numbers, ports)))
        endpoint = stack.enter_context(Endpoint(ends, endpoint_yaml(numbers, ports)))
        result = endpoint.result(SECONDS + 40, statuses=(0, 1))
        print(endpoint.output())
        return result


def mbit(report, name):
    return flow(report, name)["delivered_bps"] / 1e6


@pytest.mark.parametrize("name, target", [("gtfrc-long", 8), ("gtfrc-short", 2)])
def test_gtfrc_holds_its_target_at_640_and_at_40_ms(report, name, target):
    assert mbit(report, name) >= 0.96 * target
    assert flow(report, name)["kept"]


def test_the_round_trip_times_are_what_they_should_be(report):
    assert 0.636 <= flow(report, "gtfrc-long")["rtt_min_s"] < 0.660
    assert 0.036 <= flow(report, "gtfrc-short")["rtt_min_s"] < 0.060
    assert 0.048 <= flow(report, "gtcp-50")["rtt_min_s"] < 0.060
    assert 0.098 <= flow(report, "gtcp-100")["rtt_min_s"] < 0.110


def test_plain_tfrc_does_not_hold_its_target_at_640_ms(report):
    assert mbit(report, "tfrc-long") < 0.96 * 8
    assert not flow(report, "tfrc-long")["kept"]
    assert report["status"] == 1  # a service acceptance test in one command


def others(report, name):
    rates = [f["delivered_bps"] / 1e6 for f in report["flows"] if f["name"].startswith(f"{name}-others")]
    assert len(rates) == 5
    return rates


IDEAL = 4 + (10 - 4) / 6  # what is reserved and a sixth of the rest


@pytest.mark.parametrize("rtt", [50, 100])
def test_gtcp_gets_its_reservation_and_a_fair_share(report, rtt):
    assert mbit(report, f"gtcp-{rtt}") == pytest.approx(IDEAL, rel=0.10), others(report, f"gtcp-{rtt}")


def test_newreno_with_the_same_reservation_does_not(report):
    """At 50 ms it falls short by about 12 %, too near to 10 for one run to tell; at 100 ms by 20 and more."""
    assert mbit(report, "newreno-100") < 0.9 * IDEAL, others(report, "newreno-100")
    for rtt in (50, 100):
        assert mbit(report, f"newreno-{rtt}") < mbit(report, f"gtcp-{rtt}")


def test_the_tcp_links_are_full(report):
    for protocol, rtt, _ in TCP_LINKS.values():
        name = f"{protocol}-{rtt}"
        assert mbit(report, name) + sum(others(report, name)) > 8.7
