# SPDX-License-Identifier: BSD-3-Clause
"""Queues below queues: who gets which part of a port. Here: the fluid model that says what it should be."""
import itertools
import random

import pytest

import fluid


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
