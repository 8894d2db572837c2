# SPDX-License-Identifier: BSD-3-Clause
"""Ten thousand services and twelve thousand interfaces: what it takes to look at them.

0.3 s is what it takes on an idle machine (router/operate/observe/README.md); on a busy one a test can only say that it is no matter of tens
of seconds, as when each page of a table was a question of its own.
"""
import json
import time

import pytest

from harness import Router

SERVICES = 10_000
PATIENCE = 5  # s


def timed(call):
    before = time.monotonic()
    return call(), time.monotonic() - before


@pytest.fixture(scope="module")
def router(namespace):
    services = "".join(f"  s{i:05}: {{conditioner: token-bucket, rate: 1 Mbit/s, bucket: 16 kB, mark: {{in: AF11, out: AF12}}}}\n"
                       for i in range(SERVICES))
    rules = "".join(f"  - {{match: {{source: 10.{i >> 8}.{i & 255}.0/24}}, service: s{i:05}}}\n" for i in range(SERVICES))
    interfaces = "".join(f"  t{p}: {{port: a{p}, vlan: 100, inner_vlan: 1-4000, shape: 5 Mbit/s, addresses: 100.{p}.0.1/16}}\n"
                         for p in range(3))
    with Router(namespace, "ports:\n  up0: {device: null, trust: core, shape: 40 Gbit/s, queues: q}\n"
                + "".join(f"  a{p}: {{device: null, queues: q, shape: 1 Gbit/s}}\n" for p in range(3))
                + f"interfaces:\n{interfaces}queues:\n  q:\n    - {{name: assured, dscp: {{in: [AF11], out: [AF12]}}}}\n    - {{name: rest}}\n"
                + f"services:\n{services}classify:\n{rules}") as running:
        yield running


def test_a_scrape(router):
    m, took = timed(router.metrics)
    assert len(m.select("surety_service_committed_bytes_per_second")) >= SERVICES
    # Its text is parsed here, in Python.
    assert took < 4 * PATIENCE


@pytest.mark.parametrize("table, least", [("services", SERVICES), ("queues", 8), ("interfaces", 3), ("commitments", 3)])
def test_a_table(router, table, least):
    shown, took = timed(lambda: router.show(table, "--json"))
    assert len(json.loads(shown.stdout)) >= least
    assert took < PATIENCE
    shown, took = timed(lambda: router.show(table))
    assert shown.stdout.count("\n") > least
    assert took < PATIENCE
