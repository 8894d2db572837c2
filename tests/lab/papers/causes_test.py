# SPDX-License-Identifier: BSD-3-Clause
"""The arithmetic of the causes, and what their settings change."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from papers import causes  # noqa: E402


def test_the_mean_queue_of_a_leaky_bucket():
    assert causes.poisson_level(100, 0, 60) == 60
    assert causes.poisson_level(100, 50, 60) == 59.5  # M/D/1 at half load: half a packet's work
    assert causes.poisson_level(570, 494, 60) == pytest.approx(56.75)


def test_a_header_changes_every_port_and_the_named_flows():
    changed = dict(causes.with_header(causes.gtfrc.gtfrc_against_tcp, "long").settings)
    assert changed["senders.long.header"] == "32 B" and "senders.short.header" not in changed
    assert sum(key.endswith(".mtu") for key in changed) == 5
