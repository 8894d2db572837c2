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
    router/process router/machine router/wire router/rings router/interfaces router/capture router/classify router/flows router/contracts router/routes router/signals router router/observe router/observe/explain router/observe/capture router/generations router/console router/linux
    router/dpdk/memif router/dpdk/ports router/dpdk/workers router/dpdk router/dpdk/bench router/cli
    endpoints/engine endpoints/tcp endpoints/tfrc endpoints/udp endpoints/host endpoints/config endpoints/report
    endpoints/dpdk endpoints/linux
    tests/lab/scenario tests/lab/results tests/lab/simulation tests/lab/live tests/lab""".split()
# What endpoints may use of the product besides themselves: bytes, text, and the helpers of a program with ports.
BELOW_ENDPOINTS = ["conditioners", "config", "config/text", "router/process", "router/wire"]
ONLY = {room: BELOW_ENDPOINTS for room in ROOMS if room.startswith("endpoints/")}
ONLY["endpoints/dpdk"] = BELOW_ENDPOINTS + ["router/dpdk/ports"]
ONLY["router/process"] = ["config", "config/text"]
ONLY["router/machine"] = ["config", "config/text", "router/process"]
ONLY["router/dpdk/memif"] = ["router/process"]
ONLY["router/wire"] = ["conditioners", "config"]
ONLY["router/rings"] = ["conditioners"]
ONLY["router/interfaces"] = ["conditioners", "config"]
ONLY["router/capture"] = ["conditioners", "config", "router/wire", "router/interfaces"]
ONLY["router/classify"] = ["conditioners", "config", "router/wire", "router/interfaces"]
ONLY["router/flows"] = ["conditioners", "router/wire"]
ONLY["router/contracts"] = ["conditioners", "config", "router/wire", "router/interfaces", "router/flows"]
ONLY["router/linux"] = ["conditioners", "config", "router/process", "router/wire", "router/interfaces", "router/routes"]
ONLY["router/observe"] = [room for room in ROOMS[: ROOMS.index("router/observe")]]
NO_DPDK = re.compile(r"(conditioners|aqm|config(/text)?|router/(process|machine|wire|signals|linux)|endpoints/(?!dpdk).*)$")
DEVICES = re.compile(r"(router|endpoints)/dpdk")


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
    print("\n".join(faults) or f"{len(ROOMS)} rooms, no arrow runs back")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
