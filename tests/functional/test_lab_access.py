# SPDX-License-Identifier: BSD-3-Clause
"""A hundred of the 4,000 homes behind QinQ of tests/lab/access-homes.yaml: what each gets of its promise where the uplink is too small."""
import json
import os
import pathlib
import time

import pytest

from namespaces import sh
from router import ROOT

LAB = pathlib.Path(os.environ.get("SURETY_LAB", ROOT / "build/release/bin/surety-lab"))
pytestmark = pytest.mark.skipif(not LAB.exists(), reason=f"no {LAB}; build it, or name it with SURETY_LAB=")
SCENARIO = ROOT / "tests/lab/access-homes.yaml"
HOMES, PROMISE, UPLINK, SECONDS = 100, 500e3, 62.5e6, 14
SMALLER = ["hosts.home.times=100", "routers.access1.interfaces.homes.inner_vlan=1-100", "routers.access1.ports.up0.shape=62500 kbit/s",
           f"duration={SECONDS} s", f"measure=6 s - {SECONDS} s"]
# As many classes for the same packets, and nobody has bought anything.
NOTHING_SOLD = ["routers.access1.services.home={conditioner: none, mark: {in: AF12}}"]


def run(settings, seed=1):
    done = sh(LAB, "run", SCENARIO, "--json", "--seed", seed, *(word for s in SMALLER + settings for word in ("--set", s)), timeout=120)
    return done.stdout


@pytest.fixture(scope="module")
def sold():
    start = time.monotonic()
    said = run([])
    taken = time.monotonic() - start
    print(f"{HOMES} homes: {SECONDS} s in {taken:.2f} s, {SECONDS / taken:.0f} virtual seconds a second")
    return said


def flows(said):
    return json.loads(said)["flows"]


def of_promises(said):
    """What each home got, delivered over promised."""
    return [f["delivered_bps"] / PROMISE for f in flows(said)]


def jain(shares):
    return sum(shares) ** 2 / (len(shares) * sum(s * s for s in shares))


def test_each_home_has_a_contract_and_gets_what_it_says(sold):
    assert [f["name"] for f in flows(sold)] == [f"home#{i}" for i in range(1, HOMES + 1)]
    assert all(f["committed_bps"] == PROMISE for f in flows(sold))
    shares = of_promises(sold)
    assert min(shares) > 0.99
    assert jain(shares) > 0.999


def test_the_uplink_is_too_small_and_full(sold):
    """Each home's line carries eight times its promise; all of them together get the uplink, less some headers' rounding."""
    queue = json.loads(sold)["queues"][0]
    assert queue["queue"] == "assured" and queue["utilisation"] > 0.98
    assert 0.97 * UPLINK < sum(of_promises(sold)) * PROMISE < 1.01 * UPLINK


def test_without_contracts_the_far_ones_get_less():
    """The same packets, lines and queues: else promises would be kept by themselves."""
    shares = of_promises(run(NOTHING_SOLD))
    assert 0.9 * UPLINK < sum(shares) * PROMISE
    assert min(shares) < 0.95
    assert jain(shares) < 0.99


def test_it_is_a_function_of_scenario_and_seed(sold):
    assert run([]) == sold
    assert of_promises(run([], seed=2)) != of_promises(sold)


def test_the_whole_of_it_is_a_scenario():
    said = sh(LAB, "check", SCENARIO).stdout
    assert said == f"{SCENARIO}: ok: 1 router, 4001 hosts, 4001 links, 4000 senders\n"
