# SPDX-License-Identifier: BSD-3-Clause
"""One router with two workers: traffic crosses from one to the other and comes out whole, in order, counted once."""
import os

import pytest

from harness import Router, TcpTransfer, UdpSink, UdpSource, transfer, udp_in_order, wait_for
from pair import Pair, ports

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
DISPATCH = "receive: {dispatch: on}"


@pytest.fixture(scope="module", params=["af_packet adaptive", pytest.param("af_xdp poll", marks=pytest.mark.alone("two workers that poll take both cores"))])
def lab(request):
    device, idle = request.param.split()
    workers = f"workers: {{cores: [0, 1], idle: {idle}}}\n"
    with Pair() as pair:
        pair.plain, pair.yaml = ports(device) + workers, ports(device, DISPATCH, DISPATCH) + workers
        with Router(pair.router, pair.yaml) as router:
            pair.running = router
            yield pair


def test_ports_are_dealt_out(lab):
    # The router answers a moment before its workers have made their first turns.
    lab.running.until(lambda m: m.sum("surety_worker_cycles_total", worker="0") > 0 and m.sum("surety_worker_cycles_total", worker="1") > 0)
    text = lab.running.show("ports").stdout
    assert "dispatch" in text, text


@pytest.mark.parametrize("family", [4, 6])
def test_tcp(lab, family):
    assert transfer(lab.a, lab.b, 5001, seconds=2, enough=20e6, family=family, congestion="reno") >= 20e6
    lab.running.settle()


def test_every_buffer_takes_its_turn(lab):
    """What one worker receives the other may free: packets for twice the router's buffers, and none of them is lost."""
    enough = 2 * lab.running.buffers
    with TcpTransfer(lab.a, lab.b, 5001, congestion="reno"):
        lab.running.until(lambda m: m.value("surety_port_rx_packets_total", port="lan0") > enough, patience=60)
    lab.running.settle()


@pytest.mark.parametrize("family", [4, 6])
def test_udp_arrives_in_order_and_whole(lab, family):
    sent, received = udp_in_order(lab.a, lab.b, family)
    assert received == sent
    lab.running.settle()


@pytest.mark.parametrize("family", [4, 6])
def test_each_worker_keeps_what_comes_by_its_port(lab, family):
    """The default with a port for each: packets only change workers to leave."""
    lab.running.stop()
    try:
        with Router(lab.router, lab.plain) as router:
            shown = wait_for(lambda: router.show("ports", check=False).stdout)  # it gives up after 200 ms
            assert "dispatch" not in shown
            assert transfer(lab.a, lab.b, 5001, seconds=2, enough=20e6, family=family, congestion="reno") >= 20e6
            sent, received = udp_in_order(lab.a, lab.b, family)
            assert received == sent
            router.settle()
    finally:
        lab.running.__enter__()


def test_flows_are_spread(lab):
    """Fifty flows through a port that keeps them: both workers have some."""
    services = ("services:\n  one: {conditioner: token-bucket, rate: 10 Mbit/s, bucket: 100 kB, mark: {in: AF11, out: AF12}}\n"
                "classify:\n  - {match: {port: lan0, protocol: udp}, service: one, per: flow}\n")
    lab.running.stop()
    with Router(lab.router, lab.yaml + services) as router:
        address = lab.b.address(4)
        with UdpSink(lab.b, address, 4000) as sink:
            for number in range(50):
                # Ports of our own choice: of fifty that the kernel chooses two are the same once in twenty runs.
                with UdpSource(lab.a, address, 4000, bind=(lab.a.address(4), 20000 + number)) as source:
                    for copy in (1, 2):  # a flow of one packet is forgotten after two seconds
                        source.send(bytes([number]) * 10)
                        wait_for(lambda: sink.drain() >= 2 * number + copy)
        m = router.until(lambda m: m.sum("surety_worker_flows") >= 50)
        flows = [m.value("surety_worker_flows", worker=w) for w in ("0", "1")]
        assert min(flows) >= 10, flows  # 2^-50 times a few: never by chance
        router.settle()
