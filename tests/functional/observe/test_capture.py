# SPDX-License-Identifier: BSD-3-Clause
"""`surety capture`: what tshark makes of packets of a running router."""
import os
import pathlib
import re
import resource
import signal
import subprocess

import pytest

from harness import SURETY, Router, UdpSource, wait_for
from pair import Pair, ports
from test_reload import Reloaded
from vlan import Access, vlan_yaml

FIELDS = ["frame.time_epoch", "frame.interface_name", "frame.packet_flags_direction", "frame.comment", "frame.len", "frame.cap_len",
          "ip.src", "ip.dst", "udp.dstport", "vlan.id", "icmp.type", "icmp.ident", "icmp.seq"]
INBOUND, OUTBOUND = 1, 2
YAML = ports(wan="shape: 8 Mbit/s, queues: up") + """
queues:
  up: [{name: all, dscp: [BE], limit: 10 packets}]
"""


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        yield pair


@pytest.fixture(scope="module")
def router(lab):
    with Router(lab.router, YAML) as made:
        lab.meet()
        yield made


class Capture:
    """One that runs from here on; `with` waits until it does, and ends it."""

    def __init__(self, router, what, file, *options, preexec=None):
        self.file = file
        command = router.namespace.command(SURETY, "capture", "--name", router.name, what, file, *options)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=preexec)

    def begun(self):
        """the file has its head"""
        if self.process.poll() is not None:
            return True
        return isinstance(self.file, pathlib.Path) and self.file.exists() and self.file.stat().st_size > 0

    def __enter__(self):
        wait_for(self.begun)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.said = self.wait()

    def wait(self):
        _, err = self.process.communicate(timeout=120)
        return err.decode()


def frames(file):
    rows = subprocess.run(["tshark", "-n", "-r", file, "-T", "fields", "-E", "occurrence=f",
                           *(a for field in FIELDS for a in ("-e", field))], capture_output=True, text=True, check=True, timeout=120).stdout
    return [dict(zip(FIELDS, row.split("\t"), strict=True)) for row in rows.splitlines()]


def ping(host, address, count=1):
    host.namespace.run("ping", "-n", "-c", count, "-i", "0.05", "-w", "20", address)


def echoes(found):
    """Of pings, by direction and type."""
    return {(int(f["frame.packet_flags_direction"], 0), f["icmp.type"]) for f in found if f["icmp.type"]}


def test_a_port_shows_both_directions(lab, router, directory):
    file = directory / "a.pcapng"
    with Capture(router, "lan0", file) as capture:
        ping(lab.a, "10.2.0.1", 3)
        wait_for(lambda: len([f for f in frames(file) if f["icmp.type"]]) >= 6)
    found = frames(file)
    assert echoes(found) == {(INBOUND, "8"), (OUTBOUND, "0")}
    assert {f["frame.interface_name"] for f in found} == {"lan0"}
    assert {f["frame.comment"] for f in found} == {""}
    times = [float(f["frame.time_epoch"]) for f in found]
    assert times == sorted(times) and abs(times[0] - os.stat(file).st_ctime) < 60
    assert "ended: stopped" in capture.said and str(len(found)) in capture.said
    assert file.stat().st_mode & 0o777 == 0o600


def test_filters_and_the_snap_length(lab, router, directory):
    file = directory / "a.pcapng"
    with Capture(router, "wan0", file, "--filter", "destination=10.2.0.1", "--filter", "protocol=udp", "--filter",
                 "destination_port=5000-5001", "--snap", "64"):
        with UdpSource(lab.a, "10.2.0.1", 5001) as wanted, UdpSource(lab.a, "10.2.0.1", 5002) as other:
            other.pace(bytes(500), 100, 5)
            wanted.pace(bytes(500), 100, 5)
        wait_for(lambda: len(frames(file)) >= 5)
    found = frames(file)
    assert [(f["udp.dstport"], f["frame.len"], f["frame.cap_len"]) for f in found] == 5 * [("5001", "542", "64")]


def test_drops_say_why(lab, router, directory):
    file = directory / "drops.pcapng"
    with Capture(router, "drops", file):
        lab.a.namespace.run("ping", "-n", "-c", "2", "-i", "0.05", "-W", "1", "203.0.113.1", check=False)
        with UdpSource(lab.a, "10.2.0.1", 5001) as source:
            source.pace(bytes(1400), 20_000, 400)
        wait_for(lambda: {"no_route", "overflow"} <= {f["frame.comment"].split()[1] for f in frames(file) if f["frame.comment"]})
    found = frames(file)
    by_reason = {}
    for f in found:
        by_reason.setdefault(f["frame.comment"], []).append(f)
    lost = by_reason["dropped: overflow (queue full)"]
    assert {(f["frame.interface_name"], f["udp.dstport"]) for f in lost} == {("wan0", "5001")}
    assert {f["ip.dst"] for f in by_reason["dropped: no_route (no route to the destination)"]} == {"203.0.113.1"}
    router.settle()


def test_drops_of_one_reason(lab, router, directory):
    file = directory / "drops.pcapng"
    before = router.metrics()
    with Capture(router, "drops", file, "--reason", "overflow", "--rate", "100000") as capture:
        lab.a.namespace.run("ping", "-n", "-c", "1", "-W", "1", "203.0.113.1", check=False)
        with UdpSource(lab.a, "10.2.0.1", 5001) as source:
            source.pace(bytes(1400), 20_000, 400)
        m = router.settle()
    lost = m.drops("wan0")["overflow"] - before.drops("wan0").get("overflow", 0)
    assert {f["frame.comment"] for f in frames(file)} == {"dropped: overflow (queue full)"}
    assert len(frames(file)) == lost and f"{lost:g} packets in" in capture.said


def test_the_rate_is_kept_and_what_is_beyond_is_counted(lab, router, directory):
    file = directory / "a.pcapng"
    before = router.metrics().value("surety_port_rx_packets_total", port="lan0")
    with Capture(router, "lan0", file, "--rate", "20", "--filter", "protocol=udp") as capture:
        with UdpSource(lab.a, "10.2.0.1", 5001) as source:
            source.pace(bytes(100), 1000, 500)
        wait_for(lambda: len(frames(file)) >= 2)
    m = router.metrics()
    arrived = m.value("surety_port_rx_packets_total", port="lan0") - before  # a busy machine may bring fewer
    found = len(frames(file))
    beyond = int(re.search(r"; (\d+) not captured: beyond 20 a second", capture.said)[1])
    assert f"{found} packets in" in capture.said and found < 200 < beyond and found + beyond <= arrived


def test_ends_by_itself(lab, router, directory):
    timed = Capture(router, "lan0", directory / "t.pcapng", "--time", "1")
    assert "ended: time" in timed.wait()
    sized = Capture(router, "lan0", directory / "s.pcapng", "--size", "1", "--snap", "1500")
    with UdpSource(lab.a, "10.2.0.1", 5001) as source:
        def over():
            """the file is as large as it may be"""
            source.pace(bytes(1400), 5000, 300)
            return sized.process.poll() is not None
        wait_for(over)
    assert "ended: 1 MB" in sized.wait()
    assert 900_000 < (directory / "s.pcapng").stat().st_size <= 1_000_000
    assert frames(directory / "s.pcapng")


def test_a_second_one_is_refused_and_the_first_goes_on(lab, router, directory):
    with Capture(router, "lan0", directory / "a.pcapng"):
        second = Capture(router, "wan0", directory / "b.pcapng")
        assert "a capture of port lan0 runs already" in second.wait() and second.process.returncode == 1
        assert not (directory / "b.pcapng").exists()
        ping(lab.a, "10.2.0.1")
        wait_for(lambda: len(frames(directory / "a.pcapng")) >= 2)


def free_again(router, file):
    """Whether another capture is let in: the one before is over."""
    again = Capture(router, "lan0", file, "--time", "1")
    return "ended: time" in again.wait()


def test_a_tool_that_is_killed_leaves_nothing_on(router, directory):
    with Capture(router, "lan0", directory / "a.pcapng") as capture:
        capture.process.kill()
    wait_for(lambda: free_again(router, directory / "b.pcapng"))


def test_a_reload_ends_it_only_where_ports_change(directory):
    with Pair() as lab, Reloaded(lab.router, YAML) as router:
        lab.meet()
        with Capture(router, "lan0", directory / "a.pcapng") as capture:
            router.reload(YAML.replace("10 packets", "20 packets"))
            ping(lab.a, "10.2.0.1")
            wait_for(lambda: len([f for f in frames(directory / "a.pcapng") if f["icmp.type"]]) >= 2)
            router.reload(YAML.replace("ports:\n", "ports:\n  extra: {device: null}\n"))
            wait_for(lambda: capture.process.poll() is not None)
        assert "ended: a reload has changed the ports" in capture.said


def test_two_workers_show_what_each_has(directory):
    file = directory / "a.pcapng"
    with Pair() as lab, Router(lab.router, YAML + "workers: {cores: [0, 1]}\n") as router:
        lab.meet()
        with Capture(router, "lan0", file, "--filter", "protocol=udp"):
            with UdpSource(lab.a, "10.2.0.1", 5001) as one, UdpSource(lab.a, "10.2.0.1", 5002) as other:
                for _ in range(10):
                    one.pace(bytes(100), 1000, 1)
                    other.pace(bytes(100), 1000, 1)
            wait_for(lambda: len(frames(file)) >= 20)
        assert sorted(f["udp.dstport"] for f in frames(file)) == 10 * ["5001"] + 10 * ["5002"]


def test_a_full_disk_ends_it(lab, router, directory):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Capture(router, "lan0", directory / "a.pcapng", preexec=limit) as capture:
        with UdpSource(lab.a, "10.2.0.1", 5001) as source:
            def ended():
                """the tool has ended"""
                source.pace(bytes(1000), 2000, 200)
                return capture.process.poll() is not None
            wait_for(ended)
    assert "File too large" in capture.said and capture.process.returncode == 1
    wait_for(lambda: free_again(router, directory / "b.pcapng"))


def test_a_pipe_that_is_closed_ends_it(lab, router, directory):
    capture = Capture(router, "lan0", "-")
    assert capture.process.stdout.read(4) == b"\x0a\x0d\x0d\x0a"
    capture.process.stdout.close()
    with UdpSource(lab.a, "10.2.0.1", 5001) as source:
        def ended():
            """the tool has ended"""
            source.pace(bytes(1000), 1000, 20)
            return capture.process.poll() is not None
        wait_for(ended)
    assert capture.process.returncode == 1 and b"Broken pipe" in capture.process.stderr.read()
    capture.process.stderr.close()
    wait_for(lambda: free_again(router, directory / "b.pcapng"))


@pytest.mark.parametrize("what, options, complaint", [
    ("lan9", [], "no port, interface or customer is called lan9"),
    ("drops", ["--reason", "late"], "no drop reason is called late"),
    ("lan0", ["--reason", "early"], "only drops have a reason"),
    ("lan0", ["--filter", "source=10.1.0"], "10.1.0"),
    ("lan0", ["--filter", "protocol=icmp", "--filter", "source_port=1"], "no ports"),
    ("lan0", ["--rate", "0"], "rate"),
])
def test_what_cannot_be_is_one_sentence(router, directory, what, options, complaint):
    failed = Capture(router, what, directory / "a.pcapng", *options)
    said = failed.wait()
    assert failed.process.returncode == 1 and said.startswith("surety capture: ") and said.count("\n") == 1 and complaint in said


def test_a_customer_is_its_interfaces(directory):
    yaml = vlan_yaml(acme="customer: big", globex="customer: big")
    with Access() as access, Router(access.router, yaml) as router:
        hosts = {name: access.named(name) for name in ("acme", "globex", "cake")}
        for host in hosts.values():
            ping(host, "10.2.0.1")
        file = directory / "big.pcapng"
        with Capture(router, "big", file):
            for host in hosts.values():
                ping(host, "10.2.0.1", 2)
            wait_for(lambda: len([f for f in frames(file) if f["icmp.type"]]) >= 8)
        found = [f for f in frames(file) if f["icmp.type"]]
        assert {f["vlan.id"] for f in found} == {"107", "8"}  # globex: behind a service tag
        assert echoes(found) == {(INBOUND, "8"), (OUTBOUND, "0")}
        # A late ping sends more than two requests.
        assert len({(f["vlan.id"], f["icmp.type"], f["icmp.ident"], f["icmp.seq"]) for f in found}) == len(found) >= 8, "a packet is there once"
