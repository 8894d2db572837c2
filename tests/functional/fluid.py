# SPDX-License-Identifier: BSD-3-Clause
"""What each queue below a port gets if packets are infinitely small: weighted max-min sharing at each level, within shapers.

A tree is the list of what lies below the port. A node has `name`, `weight` (default 1), `rate` (its shaper; of a strict class its cap;
default none), and `children` or, where it is a class, `demand` (default without end; 0: it is idle) and `strict`. Rates are of any one
unit, of bytes as the port's wire counts them.

Strict classes come first, of all children before anybody's data: among children by weight, within an interface in the order they are
listed. What they take counts at every shaper, and is not held against their interface's part of the data. This is what
aqm/hierarchy/README.md promises, written down anew: nothing here is the router's.
"""
import math

EPSILON = 1e-9  # of what is shared: the rest of a division


def shares(rate, tree):
    """What each class gets, by name; None as `rate`: nothing but the shapers below limits."""
    port = {"name": "", "rate": rate, "children": tree}
    got = {}
    for strict in (True, False):
        give(port, min(wants(port, strict, got), rate if rate is not None else math.inf), strict, got)
    return {name: got[name] for name in leaves(port)}


def leaves(node):
    """The names of the classes in it, in order."""
    if "children" not in node:
        return [node["name"]]
    return [name for child in node["children"] for name in leaves(child)]


def total(node, got):
    return sum(got.get(name, 0.0) for name in leaves(node))


def wants(node, strict, got):
    """How much of this kind it could send: not more than its shaper has left."""
    if "children" in node:
        most = sum(wants(child, strict, got) for child in node["children"])
    else:
        most = node.get("demand", math.inf) if node.get("strict", False) == strict else 0.0
    rate = node.get("rate")
    return most if rate is None else min(most, max(rate - total(node, got), 0.0))


def give(node, amount, strict, got):
    if "children" not in node:
        if node.get("strict", False) == strict:
            got[node["name"]] = amount
        return
    most = [wants(child, strict, got) for child in node["children"]]
    weights = [child.get("weight", 1) for child in node["children"]]
    of_classes = all("children" not in child for child in node["children"])
    parts = in_order(amount, most) if strict and of_classes else by_weight(amount, most, weights)
    for child, part in zip(node["children"], parts):
        give(child, part, strict, got)


def in_order(amount, most):
    parts = []
    for m in most:
        parts.append(min(m, amount))
        amount -= parts[-1]
    return parts


def by_weight(amount, most, weights):
    """Who wants less than his part gets that; the others share what is left."""
    parts = [0.0] * len(most)
    hungry = [i for i, m in enumerate(most) if m > 0]
    left = amount
    while hungry and left > EPSILON * amount:
        fill = left / sum(weights[i] for i in hungry)
        content = [i for i in hungry if most[i] <= fill * weights[i]]
        for i in content or hungry:
            parts[i] = most[i] if content else fill * weights[i]
        if not content:
            break
        left -= sum(most[i] for i in content)
        hungry = [i for i in hungry if i not in content]
    return parts
