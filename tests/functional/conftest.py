# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness import SURETY, Namespace  # noqa: E402

NEED_ROUTER = {"test_forwarding.py", "test_pcap.py", "test_netlink.py", "test_services.py", "test_queues.py",
               "test_contracts.py", "test_cli.py", "test_endpoint_transfer.py", "test_endpoint_guarantees.py", "test_gtcp_bpf.py",
               "test_gtcp_sockets.py", "test_signalling.py", "test_memif.py", "test_twin.py", "test_frr.py",
               "test_routes_scale.py", "test_workers.py"}


def pytest_collection_modifyitems(items):
    """Without root or the program these tests say so instead of failing one by one."""
    reason = ("needs root" if os.geteuid() != 0 else
              None if SURETY.exists() else f"no {SURETY}; build it, or name it with SURETY=")
    for item in items:
        if reason and item.path.name in NEED_ROUTER:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def directory():
    with tempfile.TemporaryDirectory(prefix="sf-") as name:
        yield pathlib.Path(name)


@pytest.fixture(scope="module")
def namespace():
    made = Namespace("r")
    yield made
    made.remove()
