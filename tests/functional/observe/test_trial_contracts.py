# SPDX-License-Identifier: BSD-3-Clause
"""The four customers of deploy/try: what the router says of each contract is what his TCP got at the far end."""
import json
import os
import pathlib
import sys
import time

import pytest

from harness import ROOT, SURETY, wait_for
from pair import MBIT

sys.path.insert(0, str(ROOT / "deploy" / "lib"))

import customers  # noqa: E402
import verdict  # noqa: E402
from trial import Trial  # noqa: E402

pytestmark = pytest.mark.paced("TCP beside a flood, at a link's rate")
SECONDS = 10


@pytest.fixture
def trial(directory):
    made = Trial(f"sf-{os.getpid()}-try", pathlib.Path(directory) / "trial", SURETY, qos=True)
    made.directory.mkdir()
    try:
        made.build()
        made.start_router()
        made.start_customers()
        made.start_flood()
        yield made
    finally:
        made.stop_router()
        made.remove()


def contracts(trial):
    shown = trial.namespaces["router"].run(SURETY, "show", "--name", trial.prefix, "contracts", "--json").stdout
    return {row["service"]: row for row in json.loads(shown)}


def window(trial):
    """Samples and contracts around some seconds in which the link was full, as it is unless the machine has no time for us."""
    for _ in range(4):
        before, rows = trial.measure()[0], contracts(trial)
        time.sleep(SECONDS)
        after, then = trial.measure()[0], contracts(trial)
        if verdict.mbits(after.carried, before.carried, after.at - before.at) >= verdict.LEAST_SHARE * customers.LINK_MBITS:
            return before, rows, after, then
    pytest.fail("the router was not given the time to fill its link")


def test_each_customer_sees_what_he_got(trial):
    names = [c.name for c in customers.CUSTOMERS]
    wait_for(lambda: all(contracts(trial).get(name, {}).get("demanding_seconds", 0) > 5 for name in names))  # TCP's start
    before, rows, after, then = window(trial)
    assert sorted(then) == sorted(names), "the flood has none"
    seconds = after.at - before.at
    for c in customers.CUSTOMERS:
        row, earlier = then[c.name], rows[c.name]
        delivered = {p: row[f"delivered_{p}_bytes"] - earlier[f"delivered_{p}_bytes"] for p in ("in", "out")}
        got = verdict.mbits(after.got[c.name], before.got[c.name], seconds)
        assert row["committed_bytes_per_second"] == c.mbits * MBIT
        # deploy/try prints the conformance of the console, which reads the same rows a moment later.
        for shown, printed in zip((row["demanding_seconds"], row["met_seconds"]), after.seconds[c.name]):
            assert 0 <= shown - printed <= 2
        # Contracts are looked at once a second; and what TCP sends again is delivered, too.
        assert sum(delivered.values()) / MBIT / seconds == pytest.approx(got, rel=0.15), c.name
        assert delivered["in"] >= 0.85 * c.mbits * MBIT * seconds
        assert row["objective_ratio"] == 0.98 and row["respect_ratio"] > 0.95
