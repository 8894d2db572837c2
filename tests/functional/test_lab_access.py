# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the 4,000 homes behind QinQ: of tests/lab/access-homes.yaml a hundred, what each gets of its promise where the uplink is too
small; of tests/lab/access-evening.yaml four hundred, what they get of their streets, down and up."""
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


def run_lab(scenario, settings, seed=1):
    return sh(LAB, "run", scenario, "--json", "--seed", seed, *(word for s in settings for word in ("--set", s)), timeout=240).stdout


def run(settings, seed=1):
    return run_lab(SCENARIO, SMALLER + settings, seed)


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


# --- An evening. A tenth of the homes, streets and uplink: each home finds what it finds in the whole.

EVENING = ROOT / "tests/lab/access-evening.yaml"
STREETS = {1: {"load": 8, "send": 4, "watch": 88}, 2: {"load": 4, "send": 4, "watch": 92}, 3: {"load": 2, "send": 4, "watch": 94},
           4: {"load": 1, "send": 4, "watch": 95}}
STREET, NEAR, FAR = 150e6, 2e-3, 99.5e-3  # bit/s of a street; the lines' delays


def step(count):
    return (FAR - NEAR) / max(count - 1, 1)


TENTH = [f"{what}{k}{setting}" for k, homes in STREETS.items() for what, setting in
         [("routers.access1.groups.street", f".shape={STREET / 1e6:.0f} Mbit/s")] +
         [(f"hosts.{kind}", f".times={n}") for kind, n in homes.items()] +
         [(f"links.{kind}{k}~access1.{kind}", f".delay_step={1e6 * step(n):.0f} us") for kind, n in homes.items()]]
TENTH += ["routers.access1.ports.up0.shape=270 Mbit/s", "routers.access1.ports.access0.shape=1 Gbit/s"]
# The same packets through the port's own queues, which are those of a home, and its shaper, which has as much as the streets.
ONE_QUEUE = [f"routers.access1.interfaces.{kind}{k}.{key}=null" for k, homes in STREETS.items() for kind in homes
             for key in ("group", "shape", "queues")] + \
    ["routers.access1.ports.access0.queues=down", f"routers.access1.ports.access0.shape={4 * STREET / 1e6:.0f} Mbit/s"]


@pytest.fixture(scope="module")
def evening():
    start = time.monotonic()
    said = json.loads(run_lab(EVENING, TENTH))
    taken = time.monotonic() - start
    print(f"400 homes of an evening: {said['duration_s']:.0f} s in {taken:.2f} s, {said['duration_s'] / taken:.0f} virtual seconds a second")
    for name in [f"{kind}{k}" for kind in ("down", "up") for k in STREETS]:
        got = delivered(said, name)
        print(f"{name}: {min(got) / 1e6:.2f} to {max(got) / 1e6:.2f} Mbit/s, Jain {jain(got):.4f}")
    return said


def of(said, sender):
    return [f for f in said["flows"] if f["name"].split("#")[0] == sender]


def delivered(said, sender):
    return [f["delivered_bps"] for f in of(said, sender)]


def waited(said, k):
    """How long the telephones' packets of a street waited, on average: seconds."""
    return [f["one_way_delay_mean_s"] - NEAR - i * step(STREETS[k]["load"]) - 500e-6 for i, f in enumerate(of(said, f"phone{k}"))]


def test_of_an_evening_who_wants_little_gets_it(evening):
    for k in STREETS:
        for flow in of(evening, f"tv{k}") + of(evening, f"camera{k}") + of(evening, f"phone{k}"):
            assert flow["lost_packets"] == 0, flow["name"]
        assert all(rate == pytest.approx(1e6, rel=0.01) for rate in delivered(evening, f"tv{k}"))
        assert max(waited(evening, k)) < 1e-3


def test_of_an_evening_who_wants_all_gets_an_equal_part_of_the_rest(evening):
    """However far he is: of a street that is full, NewReno's own differences are left; of one that is not, at most what was bought."""
    full = evening["groups"][0]
    assert (full["group"], full["sending"]) == ("street1", 100)
    assert full["departed_bps"] == pytest.approx(STREET, rel=0.01)
    assert jain(delivered(evening, "down1")) > 0.98
    assert all(group["departed_bps"] < 1.01 * STREET for group in evening["groups"][:4])
    assert all(rate < 50e6 for k in STREETS for rate in delivered(evening, f"down{k}"))


def test_of_an_evening_contracts_are_kept(evening):
    """None of what conforms is lost. Who is more than 100 ms away may still climb to his rate: NewReno gains a packet in a round trip."""
    for k, homes in STREETS.items():
        for i, flow in enumerate(of(evening, f"up{k}")):
            assert (flow["committed_bps"], flow["drops"].get("access1", {}).get("in", 0)) == (10e6, 0)
            round_trip = 2 * (NEAR + i * step(homes["send"]) + 500e-6)
            assert flow["delivered_bps"] > 9.5e6 or round_trip > 0.1


def test_of_an_evening_in_one_queue_the_near_ones_get_more_and_everybody_waits():
    said = json.loads(run_lab(EVENING, TENTH + ONE_QUEUE))
    assert jain(delivered(said, "down1")) < 0.9
    assert max(f["lost_packets"] for k in STREETS for f in of(said, f"tv{k}")) > 0


def test_the_whole_evening_is_a_scenario():
    """Of which `check` says how often each street and the uplink are sold."""
    said = sh(LAB, "check", EVENING).stdout.splitlines()
    assert said[-1] == f"{EVENING}: ok: 1 router, 4001 hosts, 4001 links, 7840 senders"
    assert sum("oversubscribed by a factor of 33.34" in line for line in said) == 4
