# SPDX-License-Identifier: BSD-3-Clause
"""Memory: what a small router has in RAM, against what `surety check` says; and limits that are too low for it."""
import pathlib
import re
import subprocess

import pytest
from harness import SURETY, Namespace, Router
from test_reload import Reloaded

MEGA = 1e6
MOST = {"null": 125, "memif": 125, "af_packet": 130, "af_xdp": 205}  # MB


@pytest.fixture
def namespace():
    made = Namespace("m")
    for port in range(2):
        made.run("ip", "link", "add", f"w{port}", "type", "veth", "peer", "name", f"x{port}")
        made.run("ip", "link", "set", f"w{port}", "up")
        made.run("ip", "link", "set", f"x{port}", "up")
    yield made
    made.remove()


def two_ports(kind, directory):
    devices = {"null": "null", "memif": f"memif {directory}/w%d.sock server"}.get(kind, f"{kind} w%d")
    ports = "".join(f"  p{n}: {{device: {devices.replace('%d', str(n))}, addresses: [10.9.{n}.1/24]}}\n" for n in range(2))
    return f"workers: [0]\ndpdk: {{hugepages: off}}\nports:\n{ports}"


def planned(path):
    said = subprocess.run([SURETY, "check", path], check=True, capture_output=True, text=True).stdout
    rows = {m[1]: float(m[2]) for m in re.finditer(r"^(\w[\w ]*?) +([\d.]+) MB +[\d.]+ MB  \w", said, re.M)}
    assert abs(sum(rows.values()) - 2 * rows["all"]) < 1, "the last line is the sum"
    return rows["all"]


def resident(router):
    """VmRSS in MB of the router itself, which stands behind `ip netns exec`."""
    status = pathlib.Path(f"/proc/{router.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024 / MEGA


@pytest.mark.parametrize("kind", MOST)
def test_a_small_router_takes_what_check_says(namespace, tmp_path, kind):
    with Router(namespace, two_ports(kind, tmp_path)) as router:
        takes = resident(router)
        says = planned(router.path)
        print(f"{kind}: {takes:.0f} MB, by the plan {says:.0f} MB")
        assert takes < MOST[kind]
        assert takes == pytest.approx(says, rel=0.10)
        assert f"start_mb={says:.1f} " in router.stderr()


HOLDS = """services:
  csa: {conditioner: csa, rate: 1 Mbit/s, in_bucket: 2 packets, out_bucket: 1 packets, mark: {in: AF11, out: BE}, alpha: {min: 0.1, max: 0.1}}
classify:
  - {match: {port: p0, protocol: udp}, service: csa, per: flow}
"""


def reloads(namespace, kind, tmp_path, more):
    """Packet buffers before and after a reload by what `more` adds, and what the router says of it."""
    text = two_ports(kind, tmp_path)
    text = text[text.index("ports:"):]
    with Reloaded(namespace, f"workers: [0]\n{text}") as router:
        before = router.metrics().value("surety_mempool_size")
        router.reload(text + more)
        after = router.metrics().value("surety_mempool_size")
        said = router.stderr()
        router.reload(text)
        assert router.metrics().value("surety_mempool_size") == after
        router.settle()
        return before, after, said


@pytest.mark.parametrize("kind", ["null", "memif", "af_packet"])
def test_a_reload_that_wants_more_packet_buffers_has_them(namespace, tmp_path, kind):
    """Twelve more ports, and the first service that holds packets."""
    more = "".join(f"  n{n}: {{device: null}}\n" for n in range(12))
    before, after, said = reloads(namespace, kind, tmp_path, more + HOLDS)
    assert after > before + 16384
    assert "packets in input buffers" not in said


def test_beside_af_xdp_what_is_held_gives_way(namespace, tmp_path):
    """The kernel has the buffers from the start, all of them."""
    before, after, said = reloads(namespace, "af_xdp", tmp_path, HOLDS)
    assert after == before
    assert "a worker holds at most 14336 packets in input buffers, less than `flow_table: {held: 16384}`" in said


def refusal(namespace, tmp_path, kind, *limits):
    router = Router(namespace, two_ports(kind, tmp_path))
    done = subprocess.run(namespace.command(*limits, SURETY, "run", router.path), capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    return [line for line in done.stderr.splitlines() if " error: " in line]


def test_too_little_memory_to_lock(namespace, tmp_path):
    (sentence,) = refusal(namespace, tmp_path, "af_xdp", "prlimit", "--memlock=65536",
                          "setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock")
    assert "RLIMIT_MEMLOCK" in sentence and "LimitMEMLOCK=infinity" in sentence


def test_too_little_address_space(namespace, tmp_path):
    (sentence,) = refusal(namespace, tmp_path, "memif", "prlimit", "--as=300000000")
    assert "RLIMIT_AS" in sentence and "LimitAS=" in sentence


def test_tables_are_as_large_as_configured(tmp_path):
    small, large = tmp_path / "small.yaml", tmp_path / "large.yaml"
    text = f"version: 1\n{two_ports('null', tmp_path)}"
    small.write_text(text.replace("hugepages: off", "hugepages: off, max_routes: 1000") + "flow_table: {capacity: 1000}\n")
    large.write_text(text + "flow_table: {capacity: 1000000}\n")
    assert planned(large) - planned(small) > 120
