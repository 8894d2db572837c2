# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share: how many processes at once, by cores and memory."""
import pathlib
import subprocess

import pytest

COMMON = pathlib.Path(__file__).resolve().parent / "common.sh"


@pytest.mark.parametrize("per_core, cores, free_kb, expected", [
    (1, 1, 24_000_000, 1), (1, 2, 24_000_000, 2), (3, 2, 24_000_000, 6),
    (1, 8, 4_000_000, 3), (3, 2, 4_000_000, 3), (1, 2, 500_000, 1)])
def test_jobs_follow_cores_and_free_memory(per_core, cores, free_kb, expected):
    script = f'. "{COMMON}"; nproc() {{ echo {cores}; }}; sed() {{ echo {free_kb}; }}; jobs {per_core}'
    assert subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=20).stdout == f"{expected}\n"
