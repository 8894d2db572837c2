# SPDX-License-Identifier: BSD-3-Clause
"""Scenario 1 of the CSA paper: N flows of 1000 kbit/s each, and the two rows that every table of it has."""
from .lab import Case
from .rows import delivered, paper, ros, sweep

N = (10, 15, 20, 25, 30)
PROVISIONED = paper(1000)
# The paper's T2 to the letter, and as one that restarts in congestion too; then the product's own control, whose rows the paper's numbers
# stand beside and do not judge.
READINGS = {"": "paper", "T2 runs on, ": "periodic", "search, ": "search"}
SHORT = {"duration": "50 s", "measure": "20 s - 50 s"}  # for --quick


def cases_of(variants, common=None):
    """{variant: {N: case}} of {variant: settings of the service}."""
    base = {n: Case("csa-scenario1").set({"hosts.source.times": n, **(common or {})}) for n in N}
    return {name: {n: case.set({f"routers.edge.services.af2.{key}": value for key, value in settings.items()})
                   for n, case in base.items()} for name, settings in variants.items()}


def rows_of(name, cases, rates, respect, rate_bands=None, respect_bands=None, whys=(None, None)):
    """[throughput over N, respect of service over N], with what the paper prints."""
    return [sweep("N", f"{name}: throughput", "kbit/s", delivered("f#*"), cases, rates, rate_bands, whys[0]),
            sweep("N", f"{name}: RoS", "%", ros("f#*"), cases, respect, respect_bands, whys[1])]


def missed(why, *points):
    """What is known to miss."""
    return dict.fromkeys(points, why)
