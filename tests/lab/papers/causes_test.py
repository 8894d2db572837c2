# SPDX-License-Identifier: BSD-3-Clause
"""The arithmetic of the causes, and what their settings change."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from papers import causes  # noqa: E402


def test_the_other_flow_gets_its_contract_and_every_out_packet_at_most():
    # Half of the packets are IN and none is dropped: 40 of IN, and 50 of OUT.
    assert causes.most_of_the_other(0.5, 0, 0, 100, 40) == 90
    # Half of the OUT packets are dropped: 133.3 arrive at a full link, 66.7 of them OUT.
    assert causes.most_of_the_other(0.5, 0, 0.5, 100, 40) == pytest.approx(40 + 200 / 3)
    assert 330 < causes.BOUND < 331


def test_the_mean_queue_of_a_leaky_bucket():
    assert causes.poisson_level(100, 0, 60) == 60
    assert causes.poisson_level(100, 50, 60) == 59.5  # M/D/1 at half load: half a packet's work
    assert causes.poisson_level(570, 494, 60) == pytest.approx(56.75)


def test_a_header_changes_every_port_and_the_named_flows():
    changed = dict(causes.with_header(causes.gtfrc.gtfrc_against_tcp, "long").settings)
    assert changed["senders.long.header"] == "32 B" and "senders.short.header" not in changed
    assert sum(key.endswith(".mtu") for key in changed) == 5
