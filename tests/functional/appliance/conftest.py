# SPDX-License-Identifier: BSD-3-Clause
import pytest


@pytest.fixture(scope="session", autouse=True)
def machine_of_root(root):
    """Mounts, units and files of /etc: all of this folder is root's."""
