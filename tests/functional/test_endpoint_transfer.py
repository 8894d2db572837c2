# SPDX-License-Identifier: BSD-3-Clause
"""Our endpoints against Linux and against each other, over a network that loses packets, directly and through the router."""
import contextlib
import itertools
import json
import math
import socket

import pytest

from endpoint import Endpoint, Network, PatternReceiver, flow
from harness import Router, wait_for
from namespaces import connect
from pattern import PATTERN
from router import within

MB = 1_000_000
LOSSES = {"one": 0.01, "five": 0.05}  # link -> random loss
# RFC 6298's minimum of 1 s would make a small window's transfer at 5 % loss last for ten minutes.
TCP = "window: 1 MB, min_rto: 20 ms"
PROTOCOLS = {"newreno": f"protocol: newreno, {TCP}", "gtcp": f"protocol: gtcp, target: 10 Mbit/s, {TCP}"}
PATH = ["direct", "router"]
ENCAPSULATIONS = {"native": "dccp 5001", "udp": "dccp-udp 6511"}


class Path(contextlib.AbstractContextManager):
    """Namespaces `a` (interface a0, 10.1.0.1) and `b` (b0), with loss from a to b, and a router between if asked for:
    then b is 10.2.0.1, else 10.1.0.2."""

    def __init__(self, through, *impairment):
        self._stack = contextlib.ExitStack()
        network = self._stack.enter_context(Network())
        self.a, self.b = network.namespace("a"), network.namespace("b")
        self.peer = "10.1.0.2" if through == "direct" else "10.2.0.1"
        self.gateway = "" if through == "direct" else ", gateway: 10.1.0.254"
        self.back_gateway = "" if through == "direct" else ", gateway: 10.2.0.254"
        if through == "direct":
            network.impaired(self.a, "a0", self.b, "b0", *impairment)
            return
        router = network.namespace("r")
        network.impaired(self.a, "a0", router, "lan0", *impairment)
        connect(router, "wan0", self.b, "b0")
        self.router = self._stack.enter_context(Router(router, """ports:
  lan0: {device: af_xdp lan0, addresses: [10.1.0.254/24], trust: core}
  wan0: {device: af_xdp wan0, addresses: [10.2.0.254/24], trust: core}
"""))

    def linux_at_b(self):
        self.b.add_address("b0", f"{self.peer}/24")
        if self.back_gateway:
            self.b.ip("route", "add", "default", "via", "10.2.0.254")

    def linux_at_a(self):
        self.a.add_address("a0", "10.1.0.1/24")
        if self.gateway:
            self.a.ip("route", "add", "default", "via", "10.1.0.254")

    def ends(self):
        """`ports` of an endpoint at a, and of one at b."""
        return (f"ports:\n  p0: {{device: af_packet a0, addresses: [10.1.0.1/24]{self.gateway}}}\n",
                f"ports:\n  p0: {{device: af_packet b0, addresses: [{self.peer}/24]{self.back_gateway}}}\n")

    def __exit__(self, *error):
        return self._stack.__exit__(*error)


class TwoLinks(contextlib.AbstractContextManager):
    """Namespace `a` with an endpoint's port on each of two lossy links to the kernel's stack in namespace `b`: straight, or
    both into the router and out of its third port."""

    def __init__(self, through):
        self._stack = contextlib.ExitStack()
        network = self._stack.enter_context(Network())
        self.a, self.b = network.namespace("a"), network.namespace("b")
        self.ports, self.peers = "ports:\n", {}
        router = network.namespace("r") if through == "router" else None
        for number, (link, loss) in enumerate(LOSSES.items(), 1):
            network.impaired(self.a, link, router or self.b, link, "--loss", str(loss), "--seed", str(number))
            self.ports += f"  {link}: {{device: af_packet {link}, addresses: [10.1.{number}.1/24], gateway: 10.1.{number}.254}}\n"
            self.peers[link] = "10.2.0.1" if router else f"10.1.{number}.254"
            if not router:
                self.b.add_address(link, f"10.1.{number}.254/24")
        if router:
            connect(router, "wan0", self.b, "wan0")
            self.b.add_address("wan0", "10.2.0.1/24")
            self.b.ip("route", "add", "default", "via", "10.2.0.254")
            self._stack.enter_context(Router(router, """ports:
  one: {device: af_xdp one, addresses: [10.1.1.254/24]}
  five: {device: af_xdp five, addresses: [10.1.2.254/24]}
  wan0: {device: af_xdp wan0, addresses: [10.2.0.254/24], trust: core}
"""))

    def __exit__(self, *error):
        return self._stack.__exit__(*error)


@pytest.mark.parametrize("size", [20 * MB, pytest.param(100 * MB, marks=pytest.mark.long("as with 20 MB, five times as long"))])
@pytest.mark.parametrize("through", PATH)
def test_linux_receives_every_byte(through, size):
    """NewReno and GTCP, so much each at 1 % and at 5 % loss, side by side."""
    runs = [(link, protocol, 5001 + i) for i, (link, protocol) in enumerate((k, p) for k in LOSSES for p in PROTOCOLS)]
    with TwoLinks(through) as links, contextlib.ExitStack() as stack:
        receivers = [stack.enter_context(contextlib.closing(PatternReceiver(links.b, links.peers[link], port, PATTERN)))
                     for link, _, port in runs]
        senders = "".join(f'  - {{name: {link}-{protocol}, port: {link}, to: "{links.peers[link]}:{port}", {PROTOCOLS[protocol]}, '
                          f'bytes: {size} B}}\n'
                          for link, protocol, port in runs)
        endpoint = stack.enter_context(Endpoint(links.a, links.ports + "senders:\n" + senders, "--tolerance", "100%"))
        report = endpoint.result(300)
        print(f"{through}\n{endpoint.output()}")
        for (link, protocol, _), receiver in zip(runs, receivers):
            receiver.join(20)
            bulk = flow(report, f"{link}-{protocol}")
            assert (receiver.received, receiver.wrong, receiver.ended) == (size, 0, True)
            assert (bulk["state"], bulk["failure"], bulk["payload_bytes"]) == ("closed", "none", size)
            lost = LOSSES[link] * bulk["sent_packets"]  # on average; what follows is five standard deviations below
            assert bulk["retransmitted_packets"] > lost - 5 * math.sqrt(lost), "the network lost less than it was told to"


@pytest.mark.parametrize("through", PATH)
def test_iperf3_delivers_to_our_sink(through):
    with Path(through, "--delay", "2 ms") as path:
        path.linux_at_a()
        _, ports = path.ends()
        with Endpoint(path.b, ports + "sinks:\n  - {port: p0, listen: [iperf3 5201]}\n").started() as sink:
            with within(40):
                done = path.a.run("iperf3", "-c", path.peer, "-n", "20M", "-P", "2", "-C", "cubic", "--json", timeout=120)
            # iperf3 does not wait for what its kernel still has to send.
            wait_for(lambda: not path.a.run("ss", "-Htn", "exclude", "time-wait", "exclude", "listening").stdout, 30, every=0.2)
            report = sink.stop()
        end = json.loads(done.stdout)["end"]
        print(f"iperf3, {through}: sent {end['sum_sent']['bytes']}, received by then {end['sum_received']['bytes']}, "
              f"{report['accepted']}")
        arrived = sum(f["payload_bytes"] for f in report["accepted"])
        assert end["sum_sent"]["bytes"] >= 20 * 1024 * 1024
        assert end["sum_sent"]["bytes"] <= arrived < 1.001 * end["sum_sent"]["bytes"] + 10_000  # and the control connection
        assert 0.5 * end["sum_sent"]["bytes"] < end["sum_received"]["bytes"] <= arrived


@pytest.mark.parametrize("through", PATH)
def test_every_byte_of_a_linux_sender_reaches_our_sink(through):
    with Path(through, "--delay", "2 ms", "--loss", "0.5 %", "--seed", "5") as path:
        path.linux_at_a()
        _, ports = path.ends()
        with Endpoint(path.b, ports + "sinks:\n  - {port: p0, listen: [tcp 5001]}\n").started() as sink, \
             path.a.socket(socket.AF_INET, socket.SOCK_STREAM) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
            client.settimeout(120)
            with within(40):
                client.connect((path.peer, 5001))
                client.sendall(bytes(5_000_000))
                client.shutdown(socket.SHUT_WR)
                assert client.recv(1) == b"", "the sink closes when its peer has"
            [got] = sink.stop()["accepted"]
        assert (got["payload_bytes"], got["failure"]) == (5_000_000, "none")


@pytest.fixture(scope="module")
def guaranteed():
    """3 Mbit/s of guarantee at 2 % loss and 40 ms, where TFRC's equation gives about 2: what was sent and what arrived, by path and
    encapsulation. All side by side, each over a network of its own, so that the seed says which of its packets are lost."""
    with contextlib.ExitStack() as stack:
        ends = {}
        for through, (encapsulation, listen) in itertools.product(PATH, ENCAPSULATIONS.items()):
            path = stack.enter_context(Path(through, "--delay", "20 ms", "--loss", "2 %", "--seed", "7"))
            ports, sink_ports = path.ends()
            sink = Endpoint(path.b, sink_ports + f"sinks:\n  - {{port: p0, listen: [{listen}]}}\n")
            sender = Endpoint(path.a, ports + f"""senders:
  - {{name: video, port: p0, protocol: gtfrc, target: 3 Mbit/s, encapsulation: {encapsulation}, to: "{path.peer}:5001",
     packet: 1500 B, dscp: AF11, stop: 10 s}}
measure: 2 s - 10 s
""", "--tolerance", "6%")  # of what is sent, 2 % is lost
            ends[through, encapsulation] = stack.enter_context(sink.started()), sender
        for _, sender in ends.values():
            stack.enter_context(sender)
        return {which: (sender.result(120, statuses=(0, 1)), sink.stop()["accepted"]) for which, (sink, sender) in ends.items()}


@pytest.mark.paced("measures rates")
@pytest.mark.parametrize("through", PATH)
@pytest.mark.parametrize("encapsulation", ENCAPSULATIONS)
def test_gtfrc_keeps_its_target_over_a_lossy_network(guaranteed, encapsulation, through):
    """The sink measures what arrives."""
    report, [got] = guaranteed[through, encapsulation]
    print(f"{report}\n{got}")
    assert report["status"] == 0
    sent = flow(report, "video")
    # The Close has a number too: where it was lost, one more is missing than was sent with data.
    assert got["received_packets"] + got["lost_packets"] - sent["sent_packets"] in (0, 1)
    assert got["lost_packets"] == pytest.approx(0.02 * sent["sent_packets"], rel=0.6)
    assert sent["throughput_bps"] >= 0.97 * 0.98 * 3e6
    assert got["in_share"] == 1.0
    assert sent["loss_event_rate"] == pytest.approx(0.02, rel=0.6)
    assert 0.04 <= sent["rtt_min_s"] < 0.06


@pytest.mark.parametrize("through", PATH)
def test_tcp_and_udp_between_our_own_ends(through):
    with Path(through, "--loss", "1 %", "--seed", "3") as path:
        ports, sink_ports = path.ends()
        with Endpoint(path.b, sink_ports + "sinks:\n  - {port: p0, listen: [tcp 5001, udp 5001]}\n").started() as sink, \
             Endpoint(path.a, ports + f"""senders:
  - {{name: file, port: p0, protocol: reno, to: "{path.peer}:5001", bytes: 5 MB, min_rto: 50 ms}}
  - {{name: beat, port: p0, protocol: udp, rate: 2 Mbit/s, to: "{path.peer}:5001", packet: 1000 B, bytes: 972 kB}}
""") as sender:
            sent = sender.result(120)
            received = {f["protocol"]: f for f in sink.stop()["accepted"]}
        assert received["tcp"]["payload_bytes"] == 5_000_000
        assert received["tcp"]["mismatched_bytes"] == 0
        beat = flow(sent, "beat")
        assert beat["sent_packets"] == 1000  # of 972 bytes, in 4 s
        # The sink told the sender what arrived, and says the same itself.
        assert beat["received_packets"] == received["udp"]["received_packets"]
        assert 970 <= beat["received_packets"] < 1000
