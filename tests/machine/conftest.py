# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "deploy/lib"), str(HERE.parent / "functional")]


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also the tests that take longer than minutes")


def pytest_configure(config):
    config.addinivalue_line("markers", "long(reason): only with --long")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if (long := item.get_closest_marker("long")) and not config.getoption("--long"):
            item.add_marker(pytest.mark.skip(reason=f"only with --long: {long.args[0]}"))


def pytest_terminal_summary(terminalreporter):
    from vm import BOOTED
    if BOOTED:
        terminalreporter.section("booted")
        terminalreporter.write_line("\n".join(BOOTED))
