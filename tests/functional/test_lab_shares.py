# SPDX-License-Identifier: BSD-3-Clause
"""Queues below queues in virtual time: who gets which part of a port, for whoever is active, beside what a fluid would get (fluid.py).

Two groups with shapers and weights, of three interfaces each with shapers and weights, each with two classes, below a port with a shaper.
All 63 sets of active interfaces are run with both classes of each, and three times with each one's first class, second, or both, as
drawn: any two interfaces meet in all nine ways. `--long` runs a seventh of the 4,095 sets of class queues. The former would do: with
weights, what an interface gets of its parents depends only on who else wants, and what its classes get only on which they are and on what
it got.
"""
import itertools
import json
import os
import pathlib
import random

import pytest

import fluid
from namespaces import sh
from router import ROOT

LAB = pathlib.Path(os.environ.get("SURETY_LAB", ROOT / "build/release/bin/surety-lab"))
needs_lab = pytest.mark.skipif(not LAB.exists(), reason=f"no {LAB}; build it, or name it with SURETY_LAB=")

PORT, ETHERNET = 50.0, 38                             # Mbit/s; bytes of the wire that each packet has besides IP
GROUPS = {"east": (3, 30.0), "west": (2, 24.0)}       # weight, Mbit/s
INTERFACES = {"e1": ("east", 1, None), "e2": ("east", 2, 8.0), "e3": ("east", 4, 20.0),
              "w1": ("west", 1, 6.0), "w2": ("west", 3, None), "w3": ("west", 1, None)}
# By name: DSCP, bytes of a packet, weight; or strict, with a cap and what is offered to it.
WEIGHTED = {"gold": {"dscp": "AF11", "packet": 700, "weight": 3}, "rest": {"dscp": "BE", "packet": 1500, "weight": 1}}
STRICT = {"voice": {"dscp": "EF", "packet": 200, "strict": True, "rate": 2.0, "offered": 1.5},
          "rest": {"dscp": "BE", "packet": 1500, "weight": 1}}
OVER_CAP = {"voice": {**STRICT["voice"], "offered": 3.0}, "rest": STRICT["rest"]}
BATCH = 60  # sets of senders that fit into an argument of a command


def node(name, weight=1, rate=None, children=None, **rest):
    return {"name": name, "weight": weight, "rate": rate, **({"children": children} if children else {}), **rest}


def test_weights_share_and_what_one_leaves_goes_to_its_siblings():
    tree = [node("a", 1), node("b", 2), node("c", 3)]
    assert fluid.shares(60, tree) == {"a": 10, "b": 20, "c": 30}
    tree[2]["demand"] = 0
    assert fluid.shares(60, tree) == {"a": 20, "b": 40, "c": 0}
    tree[1]["demand"] = 12
    assert fluid.shares(60, tree) == {"a": 48, "b": 12, "c": 0}


def test_a_shaper_bounds_its_children_and_its_rest_goes_beyond():
    tree = [node("street", 3, 30, [node("a", 1), node("b", 1, 5)]), node("c")]
    assert fluid.shares(100, tree) == {"a": 25, "b": 5, "c": 70}
    assert fluid.shares(20, tree) == {"a": 10, "b": 5, "c": 5}
    assert fluid.shares(None, [tree[0]]) == {"a": 25, "b": 5}


def test_strict_classes_come_first_in_their_order_and_are_not_held_against_data():
    def interface(name, weight):
        return node(name, weight, None, [node(name + ".control", strict=True, rate=2), node(name + ".voice", strict=True, rate=10),
                                         node(name + ".data")])

    got = fluid.shares(52, [interface("a", 1), interface("b", 3)])
    assert got == {"a.control": 2, "a.voice": 10, "a.data": 7, "b.control": 2, "b.voice": 10, "b.data": 21}
    got = fluid.shares(8, [interface("a", 1), interface("b", 3)])
    assert got == {"a.control": 2, "a.voice": 0, "a.data": 0, "b.control": 2, "b.voice": 4, "b.data": 0}


def test_strict_traffic_counts_at_every_shaper():
    voice, data = node("voice", strict=True, rate=10), node("data")
    tree = [node("street", 1, 30, [node("a", 1, 15, [voice, data]), node("b", 1, None, [node("b.data")])]), node("c")]
    assert fluid.shares(100, tree) == {"voice": 10, "data": 5, "b.data": 15, "c": 70}


def random_tree(rng, depth, names):
    rate = rng.choice([None, rng.uniform(1, 40)])
    if depth == 0:
        return node(f"n{next(names)}", rng.randint(1, 5), rate, demand=rng.choice([0, rng.uniform(0, 30), float("inf")]))
    return node(f"n{next(names)}", rng.randint(1, 5), rate, [random_tree(rng, depth - 1, names) for _ in range(rng.randint(1, 3))])


def ceilings(tree, got, result):
    """(what it got, what it can at most) of each node."""
    if "children" in tree:
        for child in tree["children"]:
            ceilings(child, got, result)
    mine = sum(got[name] for name in fluid.leaves(tree))
    result[tree["name"]] = (mine, fluid.wants(tree, False, {}))
    return result


@pytest.mark.parametrize("seed", range(50))
def test_nothing_is_left_over_and_nobody_envies_a_sibling(seed):
    """The definition of weighted max-min: who could take more has at least as much, by weight, as any sibling."""
    rng, names = random.Random(seed), itertools.count()
    tree = random_tree(rng, 3, names)
    rate = rng.uniform(1, 100)
    got = fluid.shares(rate, [tree])
    of = ceilings(tree, got, {})
    assert sum(got.values()) == pytest.approx(min(rate, of[tree["name"]][1]))

    def look(parent):
        for a, b in itertools.permutations(parent.get("children", []), 2):
            mine, most = of[a["name"]]
            assert mine <= most + 1e-6
            if mine < most - 1e-6:
                assert mine / a["weight"] >= of[b["name"]][0] / b["weight"] - 1e-6
        for child in parent.get("children", []):
            look(child)

    look(tree)


# --- The router, in virtual time.

def wire(packet):
    """Bytes of the wire for each of IP."""
    return (packet + ETHERNET) / packet


def scenario(classes, duration, measure, delay):
    def shaped(rate):
        return ", overhead: ethernet" + (f", shape: {rate:g} Mbit/s" if rate else "")

    groups = "".join(f"      {g}: {{port: access0, weight: {weight}{shaped(rate)}}}\n" for g, (weight, rate) in GROUPS.items())
    interfaces = "".join(
        f"      {i}: {{port: access0, vlan: {100 + n}, group: {group}, weight: {weight}, queues: down{shaped(rate)}}}\n"
        for n, (i, (group, weight, rate)) in enumerate(INTERFACES.items()))
    queues = "".join(
        f"        - {{name: {c}, dscp: {of['dscp']}, limit: 100 packets, "
        + (f"priority: strict, rate: {of['rate']:g} Mbit/s}}\n" if of.get("strict") else f"weight: {of['weight']}}}\n")
        for c, of in classes.items())
    links = "".join(f"  - {{between: [{i}, access1.{i}], delay: {delay}}}\n" for i in INTERFACES)
    return (f"version: 1\nduration: {duration} s\nmeasure: {measure} s - {duration} s\nrouters:\n  access1:\n    ports:\n"
            f"      access0: {{mtu: 1500{shaped(PORT)}}}\n      up0: {{trust: core}}\n    groups:\n{groups}    interfaces:\n{interfaces}"
            f"    queues:\n      down:\n{queues}hosts: [server, {', '.join(INTERFACES)}]\n"
            f"links:\n{links}  - {{between: [access1.up0, server]}}\nsenders: []\n")


def tree(classes, active):
    """What fluid.py is to share among: idle classes want nothing."""
    def leaf(interface, c):
        of = classes[c]
        demand = of["offered"] * wire(of["packet"]) if "offered" in of else float("inf")
        return node(f"{interface}.{c}", of.get("weight", 1), of.get("rate"), strict=of.get("strict", False),
                    demand=demand if (interface, c) in active else 0)

    return [node(g, weight, rate, [node(i, w, r, [leaf(i, c) for c in classes]) for i, (of, w, r) in INTERFACES.items() if of == g])
            for g, (weight, rate) in GROUPS.items()]


def udp(interface, of):
    """More than it can ever get: its shapers' least, half as much again."""
    group, _, rate = INTERFACES[interface]
    most = 1.5 * min(PORT, GROUPS[group][1], rate or PORT)
    return f"protocol: udp, rate: {1000 * of.get('offered', most):.0f} kbit/s"


def newreno(interface, of):
    return "protocol: newreno, flows: 2, start: 0 s - 100 ms" if not of.get("strict") else udp(interface, of)


def senders(classes, active, traffic):
    return "[" + ", ".join(f"{{name: {i}.{c}, host: server, to: {i}, dscp: {classes[c]['dscp']}, packet: {classes[c]['packet']} B, "
                           f"{traffic(i, classes[c])}}}" for i, c in sorted(active)) + "]"


def sets_of_interfaces():
    return [s for n in range(1, len(INTERFACES) + 1) for s in itertools.combinations(INTERFACES, n)]


def sets_of_queues(classes):
    """See the head of this file."""
    rng, (first, second) = random.Random(1), classes
    sets = {frozenset(itertools.product(s, classes)): None for s in sets_of_interfaces()}
    for s in 3 * sets_of_interfaces():
        sets[frozenset((i, c) for i in s for c in rng.choice([(first,), (second,), (first, second)]))] = None
    return list(sets)


def all_sets_of_queues(classes):
    queues = list(itertools.product(INTERFACES, classes))
    return [frozenset(s) for n in range(1, len(queues) + 1) for s in itertools.combinations(queues, n)]


def run(directory, classes, sets, traffic, duration, measure, delay="0 ms"):
    """For each set, by class queue: Mbit/s of the port's wire, and how many timeouts its senders had."""
    file = directory / "shares.yaml"
    file.write_text(scenario(classes, duration, measure, delay))
    measured = []
    for at in range(0, len(sets), BATCH):
        sweep = "senders=" + ",".join(senders(classes, active, traffic) for active in sets[at:at + BATCH])
        for line in sh(LAB, "run", file, "--json", "--sweep", sweep, timeout=600).stdout.splitlines():
            got = {}
            for flow in json.loads(line)["flows"]:
                of_wire = flow["throughput_bps"] + 8 * ETHERNET * flow["received_packets"] / (duration - measure)
                queue = got.setdefault(flow["name"].split("#")[0], {"rate": 0.0, "timeouts": 0})
                queue["rate"] += of_wire / 1e6
                queue["timeouts"] += flow["timeouts"]
            measured.append(got)
    return measured


def beside(classes, sets, measured):
    """For each set, by class queue, how many points of the port's rate it got above what a fluid would; prints both."""
    found = []
    for active, got in zip(sets, measured, strict=True):
        due = {name: rate for name, rate in fluid.shares(PORT, tree(classes, active)).items() if rate > 0}
        assert due.keys() == got.keys()
        found.append({name: 100 * (got[name]["rate"] - due[name]) / PORT for name in due})
        print(f"{worst(found[-1]):6.3f}  " +
              "  ".join(f"{name} {100 * due[name] / PORT:.2f}|{100 * got[name]['rate'] / PORT:.2f}" for name in due))
    print(f"worst of {len(found)} sets: {max(map(worst, found)):.3f} points of the port's rate; mean of the sets' worst: {mean(found):.3f}")
    return found


def worst(errors):
    return max(map(abs, errors.values()))


def mean(found):
    return sum(map(worst, found)) / len(found)


AIM = 0.2  # points of the port's rate
KINDS = pytest.mark.parametrize("classes", [WEIGHTED, STRICT, OVER_CAP], ids=["weights", "strict", "over-cap"])


@needs_lab
@KINDS
def test_udp_shares_are_those_of_a_fluid_within_a_second(classes, tmp_path):
    sets = sets_of_queues(classes)
    assert max(map(worst, beside(classes, sets, run(tmp_path, classes, sets, udp, 1.5, 0.5)))) <= AIM


@needs_lab
@pytest.mark.long("585 scenarios of each kind, minutes")
@KINDS
def test_udp_shares_of_a_seventh_of_all_sets_of_class_queues(classes, tmp_path):
    sets = all_sets_of_queues(classes)[::7]
    assert max(map(worst, beside(classes, sets, run(tmp_path, classes, sets, udp, 1.5, 0.5)))) <= AIM


@needs_lab
@KINDS
def test_tcp_shares_are_those_of_a_fluid_but_where_a_sender_waits(classes, tmp_path):
    """Two NewReno flows to a queue that holds some round trips' packets, over four seconds. While both wait for their timeouts (1 s at
    least), their queue is empty and its siblings have its part: TCP's error, not the router's."""
    sets = [frozenset(itertools.product(s, classes)) for s in sets_of_interfaces()]
    measured = run(tmp_path, classes, sets, newreno, 6, 2, "5 ms")
    found = beside(classes, sets, measured)
    assert mean(found) <= AIM
    for errors, got in zip(found, measured):
        assert all(got[name]["timeouts"] > 0 for name, error in errors.items() if error < -AIM)
