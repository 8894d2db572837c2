# SPDX-License-Identifier: BSD-3-Clause
"""`surety-lab run --pcap LINK FILE`: what wireshark makes of the capture of one link of a simulated network."""
import json
import os
import pathlib
import subprocess
import tempfile

import pytest

from router import ROOT

LAB = pathlib.Path(os.environ.get("SURETY_LAB", ROOT / "build/release/bin/surety-lab"))
pytestmark = pytest.mark.skipif(not LAB.exists(), reason=f"no {LAB}; build it, or name it with SURETY_LAB=")

LINK = "h1 edge.a"
SCENARIO = """version: 1
name: capture
duration: 5 s
routers:
  edge:
    ports: {a: {trust: customer}, up: {trust: core, shape: 2 Mbit/s}}
    services:
      assured: {conditioner: token-bucket, rate: 800 kbit/s, bucket: 10 kB, mark: {in: AF11, out: AF13}}
    classify:
      - {match: {port: a}, service: assured, per: rule}
hosts: [h1, sink]
links:
  - {between: [h1, edge.a], rate: 10 Mbit/s, delay: 20 ms}
  - {between: [edge.up, sink], rate: 10 Mbit/s, delay: 2 ms}
senders:
  - {name: assured, host: h1, to: sink, protocol: gtfrc, target: 800 kbit/s, packet: 1500 B, start: 0 s - 100 ms}
  - {name: bulk, host: h1, to: sink, protocol: newreno, packet: 1000 B, start: 1 s}
  - {name: voice, host: h1, to: sink, protocol: udp, rate: 64 kbit/s, packet: 200 B, start: 2 s}
"""
FIELDS = ["frame.time_epoch", "frame.packet_flags_direction", "frame.interface_name", "frame.protocols", "ip.len", "ip.src",
          "ip.checksum.status", "dccp.checksum.status", "dccp.type", "dccp.seq", "tcp.checksum.status", "udp.checksum.status",
          "_ws.malformed"]
CHECK = [argument for protocol in ("ip", "dccp", "tcp", "udp") for argument in ("-o", f"{protocol}.check_checksum:TRUE")]
GOOD, INBOUND, OUTBOUND = "1", 1, 2
DCCP_REQUEST, DCCP_RESPONSE = "0", "1"


@pytest.fixture(scope="module")
def captured():
    """The run's JSON, and a dictionary of FIELDS for each frame."""
    with tempfile.TemporaryDirectory(prefix="sf-") as name:
        directory = pathlib.Path(name)
        scenario, capture = directory / "capture.yaml", directory / "a.pcapng"
        scenario.write_text(SCENARIO)
        run = subprocess.run([LAB, "run", scenario, "--json", "--pcap", LINK, capture], capture_output=True, text=True,
                             check=True, timeout=120)
        rows = subprocess.run(["tshark", "-n", "-r", capture, *CHECK, "-T", "fields", "-E", "occurrence=f",
                               *(a for field in FIELDS for a in ("-e", field))],
                              capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
        yield json.loads(run.stdout), [dict(zip(FIELDS, row.split("\t"), strict=True)) for row in rows]


def of(frames, protocol, direction=None):
    return [f for f in frames if protocol in f["frame.protocols"].split(":") and
            direction in (None, int(f["frame.packet_flags_direction"], 0))]


def test_times_ascend_from_the_start_of_the_run(captured):
    times = [float(f["frame.time_epoch"]) for f in captured[1]]
    assert times == sorted(times)
    assert 0 <= times[0] < 0.1, "the first sender starts within 100 ms"
    assert 4.9 < times[-1] <= 5


def test_senders_start_when_the_scenario_says(captured):
    first = {p: float(of(captured[1], p)[0]["frame.time_epoch"]) for p in ("tcp", "udp")}
    assert first == pytest.approx({"tcp": 1, "udp": 2}, abs=1e-6)


def test_all_of_it_is_the_link_that_was_asked_for(captured):
    assert {f["frame.interface_name"] for f in captured[1]} == {LINK}


def test_nothing_is_malformed_and_every_checksum_is_good(captured):
    frames = captured[1]
    assert [f for f in frames if f["_ws.malformed"]] == []
    assert {f["ip.checksum.status"] for f in frames} == {GOOD}
    for protocol in ("dccp", "tcp", "udp"):
        assert {f[f"{protocol}.checksum.status"] for f in of(frames, protocol)} == {GOOD}, protocol


def test_dccp_opens_and_goes_both_ways(captured):
    dccp = of(captured[1], "dccp")
    assert [f["dccp.type"] for f in dccp[:2]] == [DCCP_REQUEST, DCCP_RESPONSE]
    sequence = [int(f["dccp.seq"]) for f in of(captured[1], "dccp", OUTBOUND)[1:]]
    assert sequence == list(range(sequence[0], sequence[0] + len(sequence))), "nothing is lost before the first router"


def test_outbound_is_what_the_first_end_sends(captured):
    frames = captured[1]
    sources = {way: {f["ip.src"] for f in frames if int(f["frame.packet_flags_direction"], 0) == way}
               for way in (INBOUND, OUTBOUND)}
    assert len(sources[OUTBOUND]) == 1 and sources[INBOUND] and sources[OUTBOUND].isdisjoint(sources[INBOUND])


def test_the_capture_holds_what_the_run_counted(captured):
    run, frames = captured
    sent = {f["name"]: f["sent_packets"] for f in run["flows"]}
    assert len(of(frames, "udp", OUTBOUND)) == sent["voice"]
    assert {f["ip.len"] for f in of(frames, "udp", OUTBOUND)} == {"200"}
    assert max(int(f["ip.len"]) for f in of(frames, "dccp")) == 1500
    assert max(int(f["ip.len"]) for f in of(frames, "tcp")) == 1000
