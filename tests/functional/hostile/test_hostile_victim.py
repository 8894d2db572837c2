# SPDX-License-Identifier: BSD-3-Clause
"""Nobody takes what another has bought: beside each attack a customer keeps his rate, his calls, his pings, and the router its session.
hostile_table.py measures for longer and prints what is lost."""
import pytest

from attacks import ATTACKS
from frr import installed
from victim import running, under

pytestmark = [pytest.mark.skipif(not installed(), reason="needs frr"),
              pytest.mark.alone("rates beside a flood that takes half a core")]
SECONDS, RATE = 3, 50_000
# Those that have cost a victim something once; the others never have.
COSTLY = ["unknown hosts", "ARP", "TTL 1", "spoofed sources", "foreign VLANs", "new flows", "held packets", "the router's own addresses"]


@pytest.fixture(scope="module", params=["af_xdp", pytest.param("af_packet", marks=pytest.mark.long("as af_xdp, in the same words"))])
def scene(request):
    with running(request.param) as made:
        yield made


@pytest.mark.parametrize("attack", [a if a in COSTLY else pytest.param(a, marks=pytest.mark.long("has cost nobody anything yet"))
                                    for a in ATTACKS])
def test_an_attack_costs_another_nothing(scene, directory, attack):
    losses, arrived = under(attack, scene, directory, RATE, SECONDS)
    assert losses.holds(), losses
    assert arrived > 0.2 * RATE, "the attack has taken place"
