# SPDX-License-Identifier: BSD-3-Clause
"""What an operator is alerted by, beside traffic: links, the process, workers, reloads."""
import json
import os
import time

import pytest

from harness import Router, wait_for
from pair import Pair, ports


@pytest.fixture(scope="module")
def lab():
    with Pair() as made:
        # The kernel tells of a carrier once a second, and that would count as a change.
        wait_for(lambda: made.router.ip("link", "show", "type", "veth").stdout.count(" state UP ") == 2)
        yield made


@pytest.fixture(params=["af_xdp", "af_packet"])
def router(lab, request):
    with Router(lab.router, ports(request.param, wan="shape: 40 Mbit/s, queues: uplink")
                + "queues: {uplink: [{name: all, limit: 77 packets}]}\n") as running:
        yield running


def test_each_change_of_a_link_counts(lab, router):
    changes = {"name": "surety_port_link_changes_total", "port": "lan0"}
    before = router.until(lambda m: m.value("surety_port_up", port="lan0") == m.value("surety_port_up", port="wan0") == 1)
    count = before.value(**changes)
    for state in ("down", "up"):
        lab.a.namespace.run("ip", "link", "set", "eth0", state)
        m = router.until(lambda m: m.value(**changes) == count + 1 and m.value("surety_port_up", port="lan0") == (state == "up"))
        count += 1
    other = {**changes, "port": "wan0"}
    assert m.value(**other) == before.value(**other)


def test_speed_and_shape_of_ports_and_limit_of_queues(router):
    m = router.metrics()
    assert m.value("surety_port_speed_bytes_per_second", port="lan0") == 10e9 / 8, "as ethtool says of a veth"
    assert m.select("surety_port_shape_bytes_per_second") == [({"port": "wan0"}, 5e6)]
    assert m.value("surety_queue_limit_packets", port="wan0", queue="all") == 77
    row, = [row for row in json.loads(router.show("queues", "--json").stdout) if row["port"] == "wan0"]
    assert row["limit"] == 77


def test_the_process_by_the_names_that_every_process_has(router):
    m = router.metrics()
    pid = router.process.pid
    assert abs(m.value("process_start_time_seconds") - time.time()) < 300
    assert m.value("process_open_fds") == pytest.approx(len(os.listdir(f"/proc/{pid}/fd")), abs=8)
    assert m.value("process_max_fds") > m.value("process_open_fds")
    assert m.value("process_resident_memory_bytes") > 10e6
    before = m.value("process_cpu_seconds_total")
    router.until(lambda m: m.value("process_cpu_seconds_total") > before)


def test_how_busy_workers_are(router):
    m = router.until(lambda m: m.select("surety_worker_busy_ratio"))
    assert all(0 <= value <= 1 for _, value in m.select("surety_worker_busy_ratio"))
    assert "BUSY" in router.show("workers").stdout


def test_buckets_are_round(router):
    bounds = {labels["le"] for labels, _ in router.metrics().select("surety_queue_sojourn_seconds_bucket")}
    assert {"1e-06", "2.5e-06", "1e-05", "0.001", "0.25", "2.5", "+Inf"} <= bounds
    assert len(bounds) == 21
