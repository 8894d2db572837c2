# SPDX-License-Identifier: BSD-3-Clause
"""Ports that the kernel has no device for: the TAP twin, and the responder where there is none."""
import contextlib
import copy
import os
import pathlib
import re
import socket
import struct
import tempfile

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import Ether

from harness import ROOT, Lab, Namespace, Router, UdpSource, Wire, wait_for
from endpoint import Endpoint, flow

OSPF, ALL_SPF_ROUTERS = 89, "224.0.0.5"
EXAMPLES = ROOT / "config/examples"
KEYS = "keys:\n  - {id: 1, key: 00112233445566778899aabbccddeeff}\n"


class Chain(Lab):
    """host a - edge - memif - core - host b: two routers that share a socket, each in a namespace of its own."""

    def __init__(self, twin=""):
        super().__init__()
        self.directory = tempfile.TemporaryDirectory(prefix="sf-")
        self.edge, self.core = self.router, Namespace("c")
        self.a = self.host("a", "lan0", ["10.1.0.1/24"], ["10.1.0.254"])
        self.router = self.core
        self.b = self.host("b", "out0", ["198.51.100.1/24"], ["198.51.100.254"])
        wire = f"memif {self.directory.name}/wire.sock"
        self.edge_yaml = f"""
ports:
  lan0: {{device: af_xdp lan0, addresses: [10.1.0.254/24]}}
  wan0: {{device: {wire} server, addresses: [10.2.0.254/24, "2001:db8:2::fe/64"], trust: core{twin}}}
routes: [{{to: 198.51.100.0/24, via: 10.2.0.1}}]
"""
        self.core_yaml = f"""
ports:
  in0: {{device: {wire} client, addresses: [10.2.0.1/24, "2001:db8:2::1/64"], trust: core{twin}}}
  out0: {{device: af_xdp out0, addresses: [198.51.100.254/24], trust: core}}
routes: [{{to: 10.1.0.0/24, via: 10.2.0.254}}]
"""

    @contextlib.contextmanager
    def running(self):
        with Router(self.edge, self.edge_yaml) as edge, Router(self.core, self.core_yaml) as core:
            yield edge, core

    def __exit__(self, *details):
        self.router = self.edge
        super().__exit__(*details)
        self.core.remove()
        self.directory.cleanup()


def ping(namespace, address, *options):
    """The TTLs of the answers; fails unless five come."""
    text = namespace.run("ping", "-n", "-c", "5", "-i", "0.05", "-w", "20", *options, address).stdout
    return {int(t) for t in re.findall(r"ttl=(\d+)", text)}


def has_carrier(namespace, device):
    return "LOWER_UP" in namespace.ip("link", "show", device).stdout


@pytest.fixture(scope="module")
def chain():
    with Chain() as chain, chain.running() as (edge, core):
        wait_for(lambda: has_carrier(chain.edge, "wan0") and has_carrier(chain.core, "in0"))
        chain.routers = edge, core
        yield chain


@pytest.fixture(scope="module")
def chain_without_kernel():
    with Chain(", twin: off") as chain, chain.running() as chain.routers:
        yield chain


# --- the twin ---

def test_the_twin_has_the_ports_name_address_and_mtu(chain):
    text = chain.edge.ip("address", "show", "dev", "wan0").stdout
    assert "10.2.0.254/24" in text and "2001:db8:2::fe/64" in text and "mtu 1500" in text
    assert "fe80::" in text


def test_the_twin_keeps_the_ports_mac_address(chain):
    """systemd-udevd writes another one to devices that are new (MACAddressPolicy)."""
    own = chain.edge.mac("wan0")
    chain.edge.ip("link", "set", "wan0", "address", "02:00:00:00:99:99")
    wait_for(lambda: chain.edge.mac("wan0") == own)


@pytest.mark.parametrize("address", ["10.2.0.254", "2001:db8:2::fe"])
def test_the_kernel_pings_the_other_router_over_memif(chain, address):
    assert ping(chain.core, address) == {64}
    neighbour = chain.core.ip("neighbour", "show", address, "dev", "in0").stdout
    assert chain.edge.mac("wan0") in neighbour


def test_packets_cross_both_routers(chain):
    assert ping(chain.a.namespace, "198.51.100.1") == {62}
    for router in chain.routers:
        router.settle()


def test_a_multicast_of_ospf_reaches_the_other_kernel(chain):
    receiver = chain.edge.socket(socket.AF_INET, socket.SOCK_RAW, OSPF)
    sender = chain.core.socket(socket.AF_INET, socket.SOCK_RAW, OSPF)
    with chain.edge.entered():
        index = socket.if_nametoindex("wan0")
    with receiver, sender:
        receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                            struct.pack("=4s4si", socket.inet_aton(ALL_SPF_ROUTERS), bytes(4), index))
        receiver.settimeout(5)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("10.2.0.1"))
        hello = bytes([2, 1]) + bytes(42)
        sender.sendto(hello, (ALL_SPF_ROUTERS, 0))
        packet, (source, _) = receiver.recvfrom(2048)
    assert (source, packet[20:]) == ("10.2.0.1", hello)


def test_tcp_to_the_router_itself(chain):
    """As BGP does it."""
    server = chain.edge.socket(socket.AF_INET, socket.SOCK_STREAM)
    client = chain.core.socket(socket.AF_INET, socket.SOCK_STREAM)
    with server, client:
        server.bind(("10.2.0.254", 179))
        server.listen(1)
        client.settimeout(5)
        client.connect(("10.2.0.254", 179))
        connection, _ = server.accept()
        with connection:
            client.sendall(bytes(200_000))
            received = 0
            while received < 200_000:
                received += len(connection.recv(65536))


def test_a_neighbour_is_resolved_again_after_it_was_forgotten(chain):
    chain.edge.ip("neighbour", "flush", "dev", "wan0")
    assert ping(chain.a.namespace, "198.51.100.1", "-W", "3") == {62}


def test_the_other_router_answers_ttl_exceeded(chain):
    with Wire(chain.a) as wire:
        wire.send(Ether(src=chain.a.mac, dst=chain.edge.mac("lan0")) /
                  IP(src="10.1.0.1", dst="198.51.100.1", ttl=2) / UDP(sport=1001, dport=33434))
        error = wire.find(lambda p: ICMP in p and p[ICMP].type == 11)
    assert error[IP].src == "10.2.0.1"


def test_the_carrier_and_the_routes_follow_the_link():
    with Chain() as chain, Router(chain.edge, chain.edge_yaml) as edge:
        with Router(chain.core, chain.core_yaml):
            wait_for(lambda: has_carrier(chain.edge, "wan0"))
            assert ping(chain.a.namespace, "198.51.100.1", "-W", "3") == {62}
        wait_for(lambda: not has_carrier(chain.edge, "wan0"))
        before = edge.metrics().drops("lan0").get("no_route", 0)
        with UdpSource(chain.a, "198.51.100.1", 9) as source:
            source.send(b"x")
        edge.until(lambda m: m.drops("lan0").get("no_route", 0) == before + 1)
        with Router(chain.core, chain.core_yaml):
            wait_for(lambda: has_carrier(chain.edge, "wan0"))
            assert ping(chain.a.namespace, "198.51.100.1", "-W", "3") == {62}


def test_a_twin_that_is_named_must_be_possible():
    with Chain(", twin: lan0") as chain:
        router = Router(chain.edge, chain.edge_yaml.replace("lan0: {device: af_xdp lan0", "lan: {device: null"))
        status, text = router.fails()
        assert status == 1
        assert "port wan0: an interface `lan0` exists already; set `twin` to another name for the TAP device, or to `off`" in text


def test_a_name_that_is_taken_leaves_it_to_the_responder():
    with Chain() as chain:
        chain.edge.ip("link", "add", "wan0", "type", "veth", "peer", "name", "other")
        with chain.running() as (edge, _):
            assert "no TAP mirror: an interface `wan0` exists already" in edge.stderr()
            assert ping(chain.core, "10.2.0.254") == {64}


# --- the responder ---

def test_routers_find_each_other_without_a_kernel(chain_without_kernel):
    chain = chain_without_kernel
    assert chain.edge.ip("link", "show", "wan0", check=False).returncode != 0
    assert ping(chain.a.namespace, "198.51.100.1") == {62}
    for router in chain.routers:
        router.settle()


def test_the_responder_answers_pings(chain_without_kernel):
    assert ping(chain_without_kernel.a.namespace, "10.2.0.1") == {63}


def test_the_responder_tells_of_spent_packets(chain_without_kernel):
    chain = chain_without_kernel
    with Wire(chain.a) as wire:
        wire.send(Ether(src=chain.a.mac, dst=chain.edge.mac("lan0")) /
                  IP(src="10.1.0.1", dst="198.51.100.1", ttl=2) / UDP(sport=1001, dport=33434))
        error = wire.find(lambda p: ICMP in p and p[ICMP].type == 11)
    assert (error[IP].src, error[ICMP].code) == ("10.2.0.1", 0)
    assert error[ICMP].payload.dst == "198.51.100.1"
    again = IP(bytes(error[IP]))
    del again.chksum, again[ICMP].chksum
    again = IP(bytes(again))
    assert (again.chksum, again[ICMP].chksum) == (error[IP].chksum, error[ICMP].chksum)


def unprivileged(directory):
    """The same command line as nobody, with no capability left."""
    os.chmod(directory, 0o777)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
            "env", f"XDG_RUNTIME_DIR={directory}", f"HOME={directory}"]


def test_endpoints_meet_through_an_unprivileged_router():
    """No root, no kernel device: memif and the responder are enough."""
    with tempfile.TemporaryDirectory(prefix="sf-") as directory:
        namespace = Namespace("u")
        nobody = copy.copy(namespace)
        prefix = unprivileged(directory)
        nobody.command = lambda *arguments: namespace.command(*prefix, *arguments)
        left, right = (f"memif {directory}/{side}.sock" for side in ("left", "right"))
        try:
            with contextlib.ExitStack() as running:
                router = running.enter_context(Router(nobody, f"""
ports:
  left: {{device: {left} server, addresses: [10.1.0.254/24]}}
  right: {{device: {right} server, addresses: [10.2.0.254/24], trust: core}}
""", directory=directory))
                sink = running.enter_context(Endpoint(namespace, f"""
ports:
  p0: {{device: {right} client, addresses: [10.2.0.1/24], gateway: 10.2.0.254}}
sinks:
  - {{port: p0, listen: [udp 5001]}}
"""))
                # A port's routes follow its link: until then packets would drop as `no_route`.
                router.until(lambda m: m.value("surety_port_up", port="right") == 1)
                # Nor does a source have a way back until its own link is seen to be up.
                source = running.enter_context(Endpoint(namespace, f"""
ports:
  p0: {{device: {left} client, addresses: [10.1.0.1/24], gateway: 10.1.0.254}}
senders:
  - {{name: cbr, port: p0, protocol: udp, rate: 8 Mbit/s, to: "10.2.0.1:5001", packet: 1000 B, bytes: 1944000 B, start: 1 s}}
"""))
                assert source.result(60)["status"] == 0
                assert flow(source.report, "cbr")["sent_packets"] == 2000  # of 972 bytes of data
                accepted, = sink.stop()["accepted"]
                assert (accepted["received_packets"], accepted["lost_packets"]) == (2000, 0)
                assert router.settle().drops() == {}
        finally:
            namespace.remove()


# --- the examples as they stand ---

class Example(Router):
    """A configuration as it stands, but for where its sockets and metrics are."""

    def __init__(self, namespace, text, directory):
        super().__init__(namespace, "ports: {}", name=re.search(r"name: (\w+)", text)[1], directory=directory)
        self.path = self.path.with_name(f"{self.name}.yaml")
        self.path.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9464", text.replace("/run/surety", directory)))


def test_the_core_of_the_examples_behind_their_edge_over_memif():
    with Chain() as chain:
        directory = chain.directory.name
        pathlib.Path(directory, "signal.key").touch(0o600)
        pathlib.Path(directory, "signal.key").write_text(KEYS)
        edge = (EXAMPLES / "edge.yaml").read_text().replace("device: af_xdp wan0",
                                                            "device: memif /run/surety/edge-core.sock server")
        core = (EXAMPLES / "core.yaml").read_text()
        with Example(chain.edge, edge, directory), Example(chain.core, core, directory) as router:
            wait_for(lambda: has_carrier(chain.core, "in0"))
            chain.core.ip("route", "add", "10.1.0.0/24", "via", "10.2.0.254")  # as FRR would
            assert ping(chain.a.namespace, "198.51.100.1", "-W", "3") == {62}
            router.settle()
