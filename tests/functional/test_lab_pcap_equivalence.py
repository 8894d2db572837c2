# SPDX-License-Identifier: BSD-3-Clause
"""The lab's router against the program `surety`: the frames that a run of the lab sends into a router go through the program
by pcap ports, and come out the same, byte for byte. Only what does not depend on time is compared here, since the program
reads a capture as fast as it can; tests/unit/lab/simulation/equivalence_worker_test.cc compares the rest.
"""
import subprocess

from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from harness import ROOT, Router, frames_of

LAB = ROOT / "build/release/bin/surety-lab"
# The addresses and stations that the lab makes up: ports 02:02, hosts 02:01, by number.
PORT_MACS = {"in": "02:02:00:00:00:00", "out": "02:02:00:00:00:01"}
HOST_MACS = {"10.1.0.7": "02:01:00:00:00:00", "10.2.0.9": "02:01:00:00:00:01"}

# One router for both. No port shapes, so that nothing waits or is dropped in the program.
ROUTER = f"""
ports:
  in: {{device: pcap rx=into-in.pcap tx=from-in.pcap, mac: "{PORT_MACS['in']}", addresses: [10.1.0.254/24]}}
  out: {{device: pcap rx=into-out.pcap tx=from-out.pcap, mac: "{PORT_MACS['out']}", addresses: [10.2.0.254/24],
        trust: core}}
neighbors:
  - {{address: 10.1.0.7, mac: "{HOST_MACS['10.1.0.7']}", port: in}}
  - {{address: 10.2.0.9, mac: "{HOST_MACS['10.2.0.9']}", port: out}}
services:
  gold: {{conditioner: none, mark: {{in: AF11}}}}
  voice: {{conditioner: none, mark: {{in: EF}}}}
  plain: {{conditioner: none, mark: {{in: BE}}}}
classify:
  - {{match: {{port: in, protocol: tcp}}, service: gold}}
  - {{match: {{port: in, protocol: udp}}, service: voice}}
  - {{match: {{port: in}}, service: plain}}
"""
SCENARIO = """
version: 1
name: equivalence
duration: 5 s
routers: {edge: {config: lab-router.yaml}}
hosts:
  - {name: h1, address: 10.1.0.7}
  - {name: h2, address: 10.2.0.9}
links:
  - {between: [h1, edge.in], rate: 10 Mbit/s, delay: 5 ms}
  - {between: [edge.out, h2], rate: 8 Mbit/s, delay: 10 ms}
senders:
  - {name: tcp, host: h1, to: h2, protocol: newreno, packet: 1500 B, window: 20 packets, start: 0 s - 100 ms, stop: 3 s}
  - {name: dccp, host: h1, to: h2, protocol: gtfrc, target: 500 kbit/s, rate: 500 kbit/s, packet: 1000 B, start: 0 s - 100 ms, stop: 3 s}
  - {name: udp, host: h1, to: h2, protocol: udp, rate: 500 kbit/s, packet: 200 B, start: 0 s - 100 ms, stop: 3 s}
"""


def capture(directory, link):
    """What the lab's link carries: (towards the router, from the router)."""
    path = directory / "link.pcapng"
    subprocess.run([LAB, "run", "scenario.yaml", "--json", "--pcap", link, path], cwd=directory, check=True, timeout=120,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    frames = frames_of(path)
    hosts = set(HOST_MACS.values())
    return [f for f in frames if Ether(f).src in hosts], [f for f in frames if Ether(f).src not in hosts]


def test_the_program_sends_what_the_labs_router_sends(namespace, directory):
    (directory / "lab-router.yaml").write_text("version: 1\nrouter: {role: border}\n" + ROUTER)
    (directory / "scenario.yaml").write_text(SCENARIO)
    into, sent = {}, {}
    for port, link in {"in": "h1 edge.in", "out": "edge.out h2"}.items():
        into[port], sent[port] = capture(directory, link)
        wrpcap(str(directory / f"into-{port}.pcap"), into[port], linktype=1)
    assert len(into["in"]) > 2000 and len(into["out"]) > 500
    ect = 2  # TCP's and DCCP's data say that they can be marked, their ACKs do not
    assert {IP(f[14:]).tos for f in sent["out"]} == {10 << 2, 10 << 2 | ect, 46 << 2, 0, ect}, "TCP, UDP, DCCP"
    with Router(namespace, ROUTER, directory=directory) as router:
        router.until(lambda m: m.value("surety_port_rx_packets_total", port="in") == len(into["in"]))
        router.until(lambda m: m.value("surety_port_rx_packets_total", port="out") == len(into["out"]))
        assert router.settle().drops() == {}
    for port in sent:
        assert frames_of(directory / f"from-{port}.pcap") == sent[port], port
