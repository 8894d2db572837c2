# SPDX-License-Identifier: BSD-3-Clause
"""Huge pages for the time of the trial."""
import pathlib

POOL = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
WANTED = 320  # 640 MB: packet buffers of five ports, and what `surety run` asks to have beside
SPARE_KB = 2 << 20  # memory that stays for everybody else


def _read(name):
    return int((POOL / name).read_text())


def _available_kb():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1])
    return 0


def reserve():
    """Adds what is missing; returns how many were added, 0 when they are there already or cannot be had."""
    try:
        missing = WANTED - _read("free_hugepages")
        if missing <= 0 or _available_kb() < missing * 2048 + SPARE_KB:
            return 0
        before = _read("nr_hugepages")
        (POOL / "nr_hugepages").write_text(str(before + missing))
        added = _read("nr_hugepages") - before
        if added < missing:
            give_back(added)
            return 0
        return added
    except OSError:  # a container without a writable /sys
        return 0


def give_back(added):
    if added > 0:
        (POOL / "nr_hugepages").write_text(str(max(0, _read("nr_hugepages") - added)))


def describe(added):
    if added > 0:
        return f"{added} of 2 MB reserved until the end"
    try:
        there = _read("free_hugepages") >= WANTED
    except OSError:
        there = False
    return "enough are free" if there else "not available, running without them (slower)"
