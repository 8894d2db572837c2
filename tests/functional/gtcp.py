# SPDX-License-Identifier: BSD-3-Clause
"""`surety-gtcp` on this machine, and the fixture that attaches GTCP for one test."""
import json
import os
import pathlib

import pytest

from endpoint import BUILD
from namespaces import sh

GTCP = pathlib.Path(os.environ.get("SURETY_GTCP", BUILD / "surety-gtcp"))


def gtcp(*arguments, check=True, **environment):
    return sh(GTCP, *arguments, check=check, env={**os.environ, **environment})


def status():
    return json.loads(gtcp("status", "--json").stdout)


@pytest.fixture
def attach(root):
    """attach(*arguments): `surety-gtcp attach`, undone after the test."""
    assert GTCP.exists(), f"no {GTCP}; build it, or name it with SURETY_GTCP="
    if status()["attached"]:
        pytest.skip("gtcp is attached to this machine already, by somebody else")

    def run(*arguments):
        done = gtcp("attach", *arguments, check=False)
        if "this kernel" in done.stderr:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
    yield run
    gtcp("detach", check=False)
