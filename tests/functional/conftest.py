# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import os
import pathlib
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness import SURETY, Namespace  # noqa: E402
from namespaces import prefer_session  # noqa: E402

NEED_ROUTER = {"test_forwarding.py", "test_pcap.py", "test_netlink.py", "test_services.py", "test_queues.py",
               "test_contracts.py", "test_cli.py", "test_endpoint_transfer.py", "test_endpoint_guarantees.py", "test_gtcp_bpf.py",
               "test_gtcp_sockets.py", "test_signalling.py", "test_memif.py", "test_twin.py", "test_frr.py", "test_routes_scale.py",
               "test_tcp_wire.py", "test_workers.py", "test_metrics_http.py", "test_process.py", "test_one_way.py",
               "test_kernel_limits.py", "test_memif_clients.py", "test_memif_servers.py", "test_interfaces.py", "test_interface_frames.py",
               "test_interface_changes.py", "test_interface_priorities.py", "test_interface_routing.py", "test_port_changes.py",
               "test_interface_shares.py", "test_interface_queues.py", "test_changes.py", "test_changes_killed.py", "test_changes_confirmed.py",
                "test_memory.py"}


# Where tests run side by side, these begin first: each takes longer than most, and none should be waited for in the end.
LONGEST = ["test_interface_shares.py", "test_lab_live.py", "test_tcp_wire.py", "test_memif.py", "test_lab_papers.py", "test_gtcp_bpf.py",
           "test_endpoint_transfer.py", "test_signalling.py", "test_workers.py", "test_lab_cli.py", "test_reload.py", "test_frr.py", "test_twin.py",
           "test_packages.py", "test_interface_changes.py", "test_interface_queues.py", "test_interfaces.py", "test_interface_frames.py"]

MEASURING = -15  # nice


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also the tests that take minutes of real time")


def pytest_configure(config):
    config.addinivalue_line("markers", "alone(reason): beside no other test; not with -n")
    config.addinivalue_line("markers", "paced(reason): waits in real time for rates that a busy machine would change, and keeps half a "
                                       "core idle meanwhile: two side by side (-n 2 --dist loadfile), beside no others")
    config.addinivalue_line("markers", "long(reason): takes minutes of real time; only with --long")


def pytest_collection_modifyitems(config, items):
    """Without root or the program these tests say so instead of failing one by one."""
    reason = ("needs root" if os.geteuid() != 0 else
              None if SURETY.exists() else f"no {SURETY}; build it, or name it with SURETY=")
    for item in items:
        if reason and (item.path.name in NEED_ROUTER or item.path.parent.name in ("observe", "appliance")):
            item.add_marker(pytest.mark.skip(reason=reason))
        if (long := item.get_closest_marker("long")) and not config.getoption("--long"):
            item.add_marker(pytest.mark.skip(reason=f"only with --long: {long.args[0]}"))
    first = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path.name, len(first)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Tests that measure run, with all that they start, before other programs of this machine."""
    measures = item.get_closest_marker("paced") or item.get_closest_marker("alone")
    nice = MEASURING if measures else 0
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    prefer_session("self", nice)


@pytest.fixture
def directory():
    with tempfile.TemporaryDirectory(prefix="sf-") as name:
        yield pathlib.Path(name)


@pytest.fixture(scope="module")
def namespace():
    made = Namespace("r")
    yield made
    made.remove()
