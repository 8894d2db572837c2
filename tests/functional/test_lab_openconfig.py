# SPDX-License-Identifier: BSD-3-Clause
"""The traffic tests of openconfig/featureprofiles (feature/qos) in virtual time, with their tables: two ports send to a third one of the same
rate, here 100 Mbit/s instead of 100 or 400 Gbit/s. Policers have a tenth of the plan's rates and bursts."""
import json
import os
import pathlib

import pytest

from namespaces import sh
from router import ROOT

LAB = pathlib.Path(os.environ.get("SURETY_LAB", ROOT / "build/release/bin/surety-lab"))
pytestmark = pytest.mark.skipif(not LAB.exists(), reason=f"no {LAB}; build it, or name it with SURETY_LAB=")

LINE, PACKET, ETHERNET = 100e6, 474, 38  # bit/s; bytes of a packet, and what the wire has besides: frames of 512 bytes
DSCP = {"NC1": "CS6", "AF4": "AF41", "AF3": "AF31", "AF2": "AF21", "AF1": "AF11", "BE1": "CS1", "BE0": "BE"}
TOLERANCE = 1  # percent of what is sent


def queues(strict, weights):
    """Classes without a weight have 1: the plans send nothing to them."""
    of = [f"{{name: {c}, dscp: {DSCP[c]}, priority: strict, limit: 100 packets}}" for c in strict]
    return of + [f"{{name: {c}, dscp: {DSCP[c]}, weight: {weights.get(c, 1)}, limit: 200 packets}}" for c in DSCP if c not in strict]


ONE_STRICT, TWO_STRICT = ["NC1"], ["NC1", "AF4"]
WEIGHTS_8, WEIGHTS_9 = {"AF3": 12, "AF2": 8, "AF1": 4, "BE1": 2, "BE0": 1}, {"AF3": 64, "AF2": 16, "AF1": 4, "BE0": 1, "BE1": 1}
WEIGHTS_10 = {"AF3": 32, "AF2": 16, "AF1": 8, "BE0": 4, "BE1": 1}

# Plan and test case: queues; by class, percent of the line rate from either port, and percent of it that arrives.
PLANS = {
    "DP-1.7 one strict queue, 200 %": (queues(ONE_STRICT, {}), {"NC1": (50, 50, 100), "AF4": (50, 50, 0)}),
    **{f"DP-1.8 NC1 vs {c}": (queues(TWO_STRICT, WEIGHTS_8), {"NC1": (0.1, 0.7, 100), c: (45.1, 54.1, 100)})
       for c in ("AF4", "AF3", "AF2", "AF1", "BE1", "BE0")},
    **{f"DP-1.8 NC1 vs {c}, oversubscribed": (queues(TWO_STRICT, WEIGHTS_8), {"NC1": (0.1, 0.7, 100), c: (99.9, 99.3, 49.8)})
       for c in ("AF4", "AF3", "AF2", "AF1", "BE1", "BE0")},
    **{f"DP-1.8 AF4 vs {c}, starvation": (queues(TWO_STRICT, WEIGHTS_8), {"AF4": (50, 50, 100), c: (50, 50, 0)})
       for c in ("AF3", "AF2", "AF1", "BE1", "BE0")},
    **{f"DP-1.8 AF4 vs {c}, oversubscribed": (queues(TWO_STRICT, WEIGHTS_8), {"AF4": (20, 30, 100), c: (60, 40, 50)})
       for c in ("AF3", "AF2", "AF1", "BE1", "BE0")},
    "DP-1.9 AF3 vs AF2": (queues(TWO_STRICT, WEIGHTS_9), {"AF3": (40, 40, 100), "AF2": (10, 10, 100)}),
    "DP-1.9 AF3 vs AF2, case 1": (queues(TWO_STRICT, WEIGHTS_9), {"AF3": (80, 80, 50), "AF2": (10, 10, 100)}),
    "DP-1.9 AF3 vs AF2, case 2": (queues(TWO_STRICT, WEIGHTS_9), {"AF3": (40, 40, 100), "AF2": (20, 20, 50)}),
    **{f"DP-1.9 {a} vs {b}, case 3": (queues(TWO_STRICT, WEIGHTS_9), {a: (50, 50, 80), b: (50, 50, 20)})
       for a, b in (("AF3", "AF2"), ("AF2", "AF1"), ("AF1", "BE1"))},
    "DP-1.9 BE1 vs BE0, case 3": (queues(TWO_STRICT, WEIGHTS_9), {"BE1": (50, 50, 50), "BE0": (50, 50, 50)}),
    "DP-1.10": (queues(TWO_STRICT, WEIGHTS_10), {"NC1": (0.1, 0.9, 100), "AF4": (18, 20, 100), "AF3": (16, 16, 100), "AF2": (8, 8, 100),
                                                 "AF1": (4, 4, 100), "BE0": (2, 2, 100), "BE1": (0.5, 0.5, 100)}),
    "DP-1.10 case 1": (queues(TWO_STRICT, WEIGHTS_10), {"NC1": (0.1, 0.9, 100), "AF4": (50, 49, 100), "AF3": (20, 14, 0), "AF2": (14, 24, 0),
                                                        "AF1": (12, 4, 0), "BE0": (1, 7, 0), "BE1": (1, 1, 0)}),
    "DP-1.10 case 2": (queues(TWO_STRICT, WEIGHTS_10), {"NC1": (0.1, 0.9, 100), "AF4": (18, 20, 100), "AF3": (40, 24, 50), "AF2": (8, 24, 50),
                                                        "AF1": (12, 4, 50), "BE0": (1, 7, 50), "BE1": (1, 1, 50)}),
    "DP-1.15 six strict queues": (queues(["NC1", "AF4", "AF3", "AF2", "AF1", "BE1"], {}),
                                  {"NC1": (1, 1, 100), "AF4": (30, 30, 100), "AF3": (12, 12, 100), "AF2": (14, 14, 50), "AF1": (12, 12, 0),
                                   "BE1": (12, 12, 0)}),
}


def run(directory, queues, senders, line=LINE, in1="core", more=""):
    file = directory / "plan.yaml"
    listed = "".join(f"        - {q}\n" for q in queues)
    file.write_text(f"version: 1\nduration: 5 s\nmeasure: 1 s - 5 s\nrouters:\n  dut:\n    ports:\n      in1: {{trust: {in1}}}\n"
                    f"      in2: {{trust: core}}\n      out: {{trust: core, shape: {line / 1e6:g} Mbit/s, overhead: ethernet, queues: plan}}\n"
                    f"    queues:\n      plan:\n{listed}{more}hosts: [ate1, ate2, ate3]\nlinks:\n  - {{between: [ate1, dut.in1]}}\n"
                    f"  - {{between: [ate2, dut.in2]}}\n  - {{between: [dut.out, ate3]}}\nsenders:\n" + "".join(
                        f"  - {{name: {name}, host: ate{at}, to: ate3, protocol: udp, dscp: {dscp}, packet: {PACKET} B, "
                        f"rate: {rate / 1000:.3f} kbit/s}}\n" for name, at, dscp, rate in senders))
    return json.loads(sh(LAB, "run", file, "--json", timeout=120).stdout)


def of_wire(percent):
    """bit/s of packets that take so much of the line."""
    return LINE * percent / 100 * PACKET / (PACKET + ETHERNET)


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan(plan, tmp_path):
    used, classes = PLANS[plan]
    result = run(tmp_path, used, [(f"{c}-{at}", at, DSCP[c], of_wire(loads[at - 1])) for c, loads in classes.items() for at in (1, 2)])
    got = {f["name"]: f["throughput_bps"] for f in result["flows"]}
    for c, (first, second, arrives) in classes.items():
        share = 100 * (got[f"{c}-1"] + got[f"{c}-2"]) / of_wire(first + second)
        assert share == pytest.approx(arrives, abs=TOLERANCE), f"{c}: {got}"


# Conditioner; by rate that is sent (Mbit/s), percent that is lost.
POLICERS = {
    "DP-2.2 one rate, two colours, dest_A": ("police, rate: 100 Mbit/s, bucket: 10 kB, mark: {in: AF11}", {70: 0, 200: 50}),
    "DP-2.2 one rate, two colours, dest_B": ("police, rate: 200 Mbit/s, bucket: 10 kB, mark: {in: AF11}", {150: 0}),
    "DP-2.5 two rates, three colours": ("trtcm, rate: 100 Mbit/s, peak: 200 Mbit/s, committed_burst: 10 kB, peak_burst: 10 kB, "
                                        "mark: {in: AF11, out: AF12, red: drop}", {150: 0, 400: 50}),
}


@pytest.mark.parametrize("plan,load", [(plan, load) for plan, (_, loads) in POLICERS.items() for load in loads])
def test_a_policer(plan, load, tmp_path):
    conditioner, loads = POLICERS[plan]
    more = f"    services:\n      policer: {{conditioner: {conditioner}}}\n    classify:\n      - {{match: {{port: in1}}, service: policer}}\n"
    fast = ["{name: all, dscp: {in: [AF11, BE], out: [AF12]}, limit: 1000 packets}"]
    flow = run(tmp_path, fast, [("flow", 1, "BE", load * 1e6)], 1e9, "customer", more)["flows"][0]
    assert 100 * (1 - flow["throughput_bps"] / (load * 1e6)) == pytest.approx(loads[load], abs=TOLERANCE)
    if "trtcm" in conditioner:
        assert flow["in_throughput_bps"] == pytest.approx(100e6, rel=0.01)


def test_wred(tmp_path):
    """DP-1.14, without ECN: what exceeds the line is dropped early, between the thresholds."""
    red = "{name: AF1, dscp: AF11, rio: {in: {min: 100, max: 500, pmax: 50 %}, out: {min: 10, max: 50, pmax: 50 %}}}"
    result = run(tmp_path, [red], [("flow-1", 1, "AF11", of_wire(60)), ("flow-2", 2, "AF11", of_wire(60))])
    assert sum(f["throughput_bps"] for f in result["flows"]) == pytest.approx(of_wire(100), rel=0.01)
    queue = result["queues"][0]
    assert queue["in"]["early_drops"] / queue["in"]["arrivals"] == pytest.approx(1 / 6, abs=0.01)
    assert queue["in"]["forced_drops"] + queue["in"]["overflow_drops"] == 0
    assert 100 < queue["average_total_mean"] < 500
