# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness import SURETY, Namespace  # noqa: E402
from namespaces import prefer_session, remove  # noqa: E402

# What only root makes, by the module that has it.
NEED_ROOT = {"namespaces": "Namespace", "guide": "Machine", "machine": "Machine", "chroot": "Chroot", "sandbox": "Sandbox"}

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
    missing = None if SURETY.exists() else f"no {SURETY}; build it, or name it with SURETY="
    for item in items:
        if missing:
            item.add_marker(pytest.mark.skip(reason=missing))
        if (long := item.get_closest_marker("long")) and not config.getoption("--long"):
            item.add_marker(pytest.mark.skip(reason=f"only with --long: {long.args[0]}"))
    first = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path.name, len(first)))


def lacking():
    """What this machine lacks for routers between namespaces; None: nothing."""
    if os.geteuid() != 0:
        return "needs root"
    if subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True).returncode != 0:
        return "this container may not make network namespaces: it needs CAP_SYS_ADMIN and CAP_NET_ADMIN"
    return None if os.path.exists("/dev/net/tun") else "no /dev/net/tun: `modprobe tun`, or give the container that device"


@pytest.fixture(scope="session", autouse=True)
def requirements():
    """A test that needs what this machine lacks is skipped where it asks for it."""
    with pytest.MonkeyPatch.context() as patch:
        if reason := lacking():
            for module, name in NEED_ROOT.items():
                if module in sys.modules:
                    patch.setattr(getattr(sys.modules[module], name), "__init__", lambda *_, **__: pytest.skip(reason))
        yield
    # What an interrupt has found half made, nobody else knows.
    remove(f"sf-{os.getpid()}")


@pytest.fixture(scope="session")
def root():
    """For tests that use root's rights themselves."""
    if reason := lacking():
        pytest.skip(reason)


class Told:
    """Names a failure when it happens, not when all tests have run."""

    def __init__(self, config):
        self._terminal = config.pluginmanager.get_plugin("terminalreporter")

    def pytest_runtest_logreport(self, report):
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self._terminal.write_line(f"\nfailed: {report.nodeid} ({report.when}, after {report.duration:.0f} s)")
            self._terminal.write_line(f"{crash.path}:{crash.lineno}: {crash.message.splitlines()[0]}" if crash else "")


def pytest_sessionstart(session):
    if "PYTEST_XDIST_WORKER" not in os.environ:
        session.config.pluginmanager.register(Told(session.config))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Tests that measure run, with all that they start, before other programs of this machine."""
    measures = item.get_closest_marker("paced") or item.get_closest_marker("alone")
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, MEASURING if measures else 0)
    if measures:
        prefer_session("self", MEASURING)


@pytest.fixture
def directory():
    with tempfile.TemporaryDirectory(prefix="sf-") as name:
        yield pathlib.Path(name)


@pytest.fixture(scope="module")
def namespace():
    made = Namespace("r")
    yield made
    made.remove()
