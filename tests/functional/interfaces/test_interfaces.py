# SPDX-License-Identifier: BSD-3-Clause
"""Customers on VLANs have everything that a customer on a port of its own has: behind one tag or two, alone or in a template."""
import json
import re
import socket
import subprocess

import pytest

from harness import Router, wait_for
from traffic import FAMILY
from vlan import Access, gateways, pings, vlan_yaml

DEVICES = ["af_xdp", "af_packet", "memif"]
KINDS = ["acme", "globex", "cake", "homes"]  # 802.1Q, 802.1ad and 802.1Q, twice 802.1Q, one of a range
MTU = {"globex": 1400, "acme": 1500, "cake": 1500, "homes": 1500}
FAMILIES = pytest.mark.parametrize("family", [4, 6])
HEADERS = {4: 28, 6: 48}  # of a ping


@pytest.fixture(scope="module", params=DEVICES)
def lab(request):
    with Access(request.param) as made, Router(made.router, vlan_yaml(made.device, globex="mtu: 1400")) as made.running:
        made.of = {name: made.named(name) for name in KINDS[:3]}
        made.of["homes"] = made.home(7)
        yield made


@pytest.fixture(params=KINDS)
def customer(lab, request):
    found = lab.of[request.param]
    found.name = request.param
    found.gateway = dict(zip((4, 6), gateways(request.param)))
    yield found
    lab.running.settle()


@FAMILIES
def test_the_gateway_answers(customer, family):
    assert pings(customer, customer.gateway[family]) == 5


@FAMILIES
def test_pings_go_through_both_ways(lab, customer, family):
    assert pings(customer, lab.up.address(family)) == 5
    assert pings(lab.up, customer.address(family)) == 5
    largest = ["-s", MTU[customer.name] - HEADERS[family], "-M", "do"]
    assert pings(customer, lab.up.address(family), 5, 0.01, *largest) == 5


def test_what_is_too_large_goes_in_fragments(lab, customer):
    """Of its sender's making, or of the router's where an interface has the smaller MTU."""
    # af_packet: the kernel puts IPv4 fragments together before DPDK's driver sees them, which has room for 2 kB.
    assert pings(customer, lab.up.address(4), 5, 0.01, "-s", 1900, "-M", "dont") == 5
    assert pings(customer, lab.up.address(6), 5, 0.01, "-s", 4000) == 5
    assert pings(lab.up, customer.address(4), 5, 0.01, "-s", 1472, "-M", "dont") == 5


@FAMILIES
def test_traceroute_names_the_gateway(lab, customer, family):
    assert pings(customer, lab.up.address(family), 1) == 1  # whoever forwards knows its neighbors then
    said = customer.namespace.run("traceroute", f"-{family}", "-n", "-q", 1, "-w", 3, lab.up.address(family)).stdout
    assert re.findall(r"^ *\d+ +(\S+)", said, re.M) == [customer.gateway[family], lab.up.address(family)], said
    said = lab.up.namespace.run("traceroute", f"-{family}", "-n", "-q", 1, "-w", 3, customer.address(family)).stdout
    assert re.findall(r"^ *\d+ +(\S+)", said, re.M) == [{4: "10.2.0.254", 6: "2001:db8:2::fe"}[family], customer.address(family)], said


@FAMILIES
def test_tracepath_finds_the_mtu_of_the_interface(lab, customer, family):
    said = lab.up.namespace.run("tracepath", f"-{family}", "-n", "-m", 5, customer.address(family)).stdout
    assert f"Resume: pmtu {MTU[customer.name]} hops 2 back 2" in said, said


@FAMILIES
@pytest.mark.parametrize("direction", ["up", "down"])
def test_iperf3(lab, customer, family, direction):
    address = lab.up.address(family)
    with subprocess.Popen(lab.up.namespace.command("iperf3", "-s", "-1", "-B", address), stdout=subprocess.PIPE, text=True) as server:
        try:
            wait_for(lambda: ":5201" in lab.up.namespace.run("ss", "-tlnH").stdout)
            # What a buffer of the sender still holds at the end the receiver does not count.
            words = ["-n", "2M", "-w", "256K", *(["-R"] if direction == "down" else [])]
            said = customer.namespace.run("iperf3", "-c", address, *words).stdout
            assert re.search(r" \d+(\.\d+)? [MG]Bytes .* receiver", said), said
        finally:
            server.kill()


@FAMILIES
def test_tcp_with_the_router_itself(lab, customer, family):
    """At the address of the customer's interface, from there and from the other side."""
    with lab.router.socket(FAMILY[family], socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((customer.gateway[family], 2222))
        server.listen(2)
        server.settimeout(120)
        for host in (customer, lab.up):
            with host.namespace.socket(FAMILY[family], socket.SOCK_STREAM) as client:
                client.settimeout(120)
                client.connect((customer.gateway[family], 2222))
                peer, who = server.accept()
                with peer:
                    assert who[0] == host.address(family)
                    peer.settimeout(120)
                    client.sendall(bytes(100_000))
                    got = 0
                    while got < 100_000:
                        got += len(peer.recv(65536))
                    peer.sendall(bytes(100_000))
                    while got < 200_000:
                        got += len(client.recv(65536))


def test_show_and_metrics_count_its_frames(lab, customer):
    label = "homes.7" if customer.name == "homes" else customer.name

    def counts():
        m = lab.running.metrics()
        return [m.sum(f"surety_interface_{d}_{what}_total", interface=label, port="acc0") for d in ("rx", "tx") for what in ("packets", "bytes")]

    def of_its_device():
        """What it has sent and received, with pings around it, so that none of that is on its way to or from the router."""
        statistics = json.loads(customer.namespace.run("ip", "-j", "-s", "link", "show", "eth0").stdout)[0]["stats64"]
        return [statistics[d]["packets"] for d in ("tx", "rx")]
    device = of_its_device()
    assert pings(customer, lab.up.address(4), 1) == 1  # nobody has to be asked for
    before = counts()
    assert pings(customer, lab.up.address(4), 10, 0.01, "-s", 972) == 10
    rx, rx_bytes, tx, tx_bytes = (now - was for now, was in zip(counts(), before))
    size = 1000 + 14 + 4 * len(customer.tags)
    assert pings(customer, lab.up.address(4), 1) == 1
    sent, received = (now - was for now, was in zip(of_its_device(), device))
    # What is more than ten is the kernel's own, or a ping that came while a late answer was waited for.
    assert 10 <= rx <= sent and 10 <= tx <= received
    assert 10 * size <= rx_bytes <= rx * size and 10 * size <= tx_bytes <= tx * size
    shown = lab.running.show("interfaces").stdout
    assert re.search(rf"^{re.escape(label)}\s", shown, re.M), shown
