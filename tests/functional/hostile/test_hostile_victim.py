# SPDX-License-Identifier: BSD-3-Clause
"""Beside each attack another customer keeps its rate, its new connections, its calls and its pings, and the router its OSPF session.
hostile_table.py measures for longer, in all scenes, and prints the losses."""
import contextlib

import pytest

from bypasses import ATTACKS
from frr import installed
from scene import SCENES, running
from victim import under

pytestmark = [pytest.mark.skipif(not installed(), reason="needs frr"),
              pytest.mark.alone("rates beside a flood that takes half a core")]
SECONDS, RATE = 4, 50_000
# One of each kind, by scene: packets for the kernel, keys by tag and by source, a class that IN and OUT share, a table that many
# share; answers that reflect, packets that only the slow path handles, and small packets.
GUARDED = {SCENES[1]: ["link-local source", "inner tags", "61 addresses", "a neighbour beyond its contract",
                       "first in the flow table"],
           SCENES[0]: ["reflected echoes", "unknown hosts", "pulses of small packets"]}


# With --long each attack in one scene, one after the other; hostile_table.py has them all in each.
def cases():
    for place, setting in enumerate(SCENES):
        for number, attack in enumerate(ATTACKS):
            guarded = attack in GUARDED.get(setting, [])
            if not guarded and number % len(SCENES) != place:
                continue
            marks = [] if guarded else [pytest.mark.long("of the same kind as a guarded one")]
            yield pytest.param(setting, attack, marks=marks, id=f"{setting}: {attack}")


class Current:
    """The scene of the tests that run now; the one before it is left first."""

    def __init__(self, stack):
        self._stack, self._setting, self._scene = stack, None, None

    def of(self, setting):
        if setting != self._setting:
            self._setting = None
            self._stack.close()
            self._scene, self._setting = self._stack.enter_context(running(setting)), setting
        return self._scene


@pytest.fixture(scope="module")
def scenes():
    with contextlib.ExitStack() as stack:
        yield Current(stack)


@pytest.mark.parametrize("setting, attack", cases())
def test_an_attack_costs_another_nothing(scenes, directory, setting, attack):
    losses, arrived = under(attack, scenes.of(setting), directory, RATE, SECONDS, afterwards=0)
    assert losses.holds(), losses
    assert arrived > 0.2 * ATTACKS[attack].pace(RATE), "the attack has taken place"
