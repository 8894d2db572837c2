#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The arrows between rooms point one way: includes, and what a room's library links.

A room is a folder of product code. It may use those that stand before it in ROOMS, and itself; ONLY narrows that for some.
A program's main.cc stands above all rooms.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = """conditioners aqm aqm/hierarchy config/text config
    router/process router/operate/machine
    router/pipeline/wire router/pipeline/interfaces router/pipeline/capture router/pipeline/classify router/pipeline/flows
    router/pipeline/routes router/pipeline/signals router/pipeline
    router/operate/observe router/operate/explain router/operate/capture router/operate/generations router/operate/subscribers router/operate/console router/daemon/linux
    router/daemon/memif router/daemon/ports router/daemon/workers router/daemon/control router/daemon router/daemon/bench router/operate/cli
    endpoints/engine endpoints/tcp endpoints/tfrc endpoints/udp endpoints/host endpoints/config endpoints/report
    endpoints/dpdk endpoints/linux
    tests/lab/scenario tests/lab/results tests/lab/simulation tests/lab/live tests/lab""".split()
# What endpoints may use of the product besides themselves: bytes, text, and the helpers of a program with ports.
BELOW_ENDPOINTS = ["conditioners", "config", "config/text", "router/process", "router/pipeline/wire"]
ONLY = {room: BELOW_ENDPOINTS for room in ROOMS if room.startswith("endpoints/")}
ONLY["endpoints/dpdk"] = BELOW_ENDPOINTS + ["router/daemon/ports"]
ONLY["router/process"] = ["config", "config/text"]
ONLY["router/operate/machine"] = ["config", "config/text", "router/process"]
ONLY["router/daemon/memif"] = ["router/process"]
ONLY["router/pipeline/wire"] = ["conditioners", "config"]
ONLY["router/pipeline/interfaces"] = ["conditioners", "config"]
ONLY["router/pipeline/capture"] = ["conditioners", "config", "router/pipeline/wire", "router/pipeline/interfaces"]
ONLY["router/pipeline/classify"] = ["conditioners", "config", "router/pipeline/wire", "router/pipeline/interfaces"]
ONLY["router/pipeline/flows"] = ["conditioners", "config", "router/pipeline/wire", "router/pipeline/interfaces"]
ONLY["router/daemon/linux"] = ["conditioners", "config", "router/process", "router/pipeline/wire", "router/pipeline/interfaces", "router/pipeline/routes"]
ONLY["router/pipeline"] = ["conditioners", "aqm", "aqm/hierarchy", "config", *(room for room in ROOMS if room.startswith("router/pipeline/"))]
NO_DPDK = re.compile(r"(conditioners|aqm|config(/text)?|router/(process|operate/machine|pipeline/(wire|signals)|daemon/linux)|endpoints/(?!dpdk).*)$")
DEVICES = re.compile(r"router/daemon|endpoints/dpdk")


def may_use(room, other):
    """Whether an arrow from one room to another points the right way."""
    if other.startswith("endpoints/") and not room.startswith(("endpoints/", "tests/lab")):
        return False
    before = other in ROOMS[: ROOMS.index(room) + 1]
    if room in ONLY and not (room.startswith("endpoints/") and other.startswith("endpoints/")):
        return before and (other == room or other in ONLY[room])
    return before


def room_of(path):
    return str(pathlib.PurePosixPath(path).parent)


def include_faults(room):
    for source in sorted((ROOT / room).glob("*.[ch]*")):
        if source.suffix not in (".cc", ".h", ".c") or source.name == "main.cc":
            continue
        for number, line in enumerate(source.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
            if not found:
                continue
            quoted, name = found[1] == '"', found[2]
            place = f"{source.relative_to(ROOT)}:{number}"
            if quoted and "/" in name and not may_use(room, room_of(name)):
                yield f"{place}: {room} must not use {room_of(name)}"
            if name.startswith("rte_") and NO_DPDK.match(room):
                yield f"{place}: no DPDK in {room}"
            if name in ("rte_ethdev.h", "rte_cycles.h") and not DEVICES.match(room) and not room.startswith("tests"):
                yield f"{place}: ports and clocks belong to dpdk/"


def link_faults():
    """surety_room(NAME ... LIBS ... PRIVATE ...) of each folder."""
    lists = {room: (ROOT / room / "CMakeLists.txt").read_text() for room in ROOMS}
    calls = {room: re.search(r"surety_room\((\w+)([^)]*)\)", text) for room, text in lists.items()}
    owner = {call[1]: room for room, call in calls.items()}
    for room, call in calls.items():
        for library in call[2].split():
            if library in owner and not may_use(room, owner[library]):
                yield f"{room}/CMakeLists.txt: {call[1]} must not link {library} of {owner[library]}"


def main():
    faults = [fault for room in ROOMS for fault in include_faults(room)] + list(link_faults())
    print("\n".join(faults) or f"{len(ROOMS)} rooms, all dependencies point one way")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
