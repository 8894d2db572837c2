# SPDX-License-Identifier: BSD-3-Clause
"""Floods of changes in the kernel: afterwards the router's state is the kernel's within seconds, and its memory is bounded."""
import ipaddress
import pathlib
import re
import signal
import time

import pytest

from harness import Router, UdpSource, Wire, udp_to, wait_for
from pair import LAN, WAN, Pair, ports
from route_flood import Batch, load
from router import waited

CONVERGES = 10  # seconds, but for what the router waits for a core
ROUTES = 4000
MEMORY = 64 * 1024  # kB more than before a flood
BLOCKS = "dpdk: {hugepages: off, max_routes: 16384}\n"


@pytest.fixture(scope="module")
def lab():
    with Pair() as made, Router(made.router, ports("af_packet") + BLOCKS) as made.running:
        made.meet()
        yield made


def memory(router):
    return int(re.search(r"VmRSS:\s*(\d+)", pathlib.Path(f"/proc/{router.process.pid}/status").read_text()).group(1))


def kernel_routes(namespace):
    """{prefix: gateway} of the routes that the tests have set."""
    shown = namespace.ip("-4", "route", "show", "proto", "boot").stdout.splitlines()
    return {str(ipaddress.ip_network(words[0])): words[words.index("via") + 1] for words in map(str.split, shown) if "via" in words}


def router_routes(router):
    rows = (line.split() for line in router.show("routes").stdout.splitlines())
    return {row[0]: row[1] for row in rows if len(row) > 3 and row[3] == "kernel" and row[1].count(".") == 3}


def prefixes(count):
    return [f"172.{16 + i // 256}.{i % 256}.0/24" for i in range(count)]


def changes(turns):
    """Lines for ip(8): each turn moves, removes and adds routes."""
    lines = []
    for turn in range(turns):
        for i, prefix in enumerate(prefixes(ROUTES)):
            gateway = f"10.2.0.{(i + turn) % 8 + 1}"
            lines.append(f"route del {prefix}\n" if (i + turn) % 5 == 0 else f"route replace {prefix} via {gateway}\n")
    return lines


@pytest.fixture
def flooded(lab):
    before = memory(lab.running)
    yield lab
    lab.router.ip("route", "flush", "root", "172.16.0.0/12", "proto", "boot")
    wait_for(lambda: not router_routes(lab.running))
    assert memory(lab.running) < before + MEMORY
    lab.meet()
    lab.running.settle()


def losses(namespace):
    """Messages that the kernel could not deliver to sockets of a namespace."""
    return sum(int(line.split()[8]) for line in namespace.run("cat", "/proc/net/netlink").stdout.splitlines()[1:])


def test_the_table_follows_while_packets_pass(flooded):
    with UdpSource(flooded.a, flooded.b.address(4), 7300) as source, Wire(flooded.b) as wire:
        with Batch(flooded.router) as batch:
            batch.run(changes(8))
        late = sum(waited(flooded.running.process.pid).values())
        began = time.monotonic()
        source.send(b"x")
        assert wire.find(udp_to(7300)) is not None, "forwards while it reads"
        converges(flooded, began, late)


def test_a_loss_of_messages_is_made_good(flooded):
    """The router does not read: the kernel drops messages (ENOBUFS)."""
    flooded.running.process.send_signal(signal.SIGSTOP)
    before = losses(flooded.router)
    load(flooded.router, changes(8))
    assert losses(flooded.router) > before
    flooded.running.process.send_signal(signal.SIGCONT)
    late = sum(waited(flooded.running.process.pid).values())
    converges(flooded, time.monotonic(), late)


def converges(lab, began, late):
    wanted = kernel_routes(lab.router)
    assert len(wanted) > ROUTES / 2
    wait_for(lambda: router_routes(lab.running) == wanted)
    assert time.monotonic() - began < CONVERGES + sum(waited(lab.running.process.pid).values()) - late


def test_a_device_flaps_as_fast_as_the_kernel_lets_it(flooded):
    until = time.monotonic() + 2
    while time.monotonic() < until:
        flooded.router.batch(*["link set wan0 down", "link set wan0 up"] * 20)
    flooded.running.until(lambda m: m.value("surety_port_up", port="wan0") == 1)
    wait_for(lambda: addresses(flooded, "wan0") == set(WAN))
    flooded.router.ip("route", "add", "172.16.0.0/24", "via", "10.2.0.1")
    wait_for(lambda: router_routes(flooded.running) == {"172.16.0.0/24": "10.2.0.1"})


def addresses(lab, device):
    words = lab.router.ip("-o", "address", "show", "dev", device, "scope", "global").stdout.split()
    return {after for word, after in zip(words, words[1:]) if word in ("inet", "inet6")}


def test_two_devices_swap_their_names(flooded):
    for _ in range(10):
        swap(flooded.router)
    for _ in range(2):
        swap(flooded.router)
        for device, wanted in (("lan0", LAN), ("wan0", WAN)):
            wait_for(lambda device=device, wanted=wanted: set(wanted) <= addresses(flooded, device))
            flooded.running.until(lambda m, device=device: m.value("surety_port_up", port=device) == 1)
        wait_for(lambda: "lan0" in connected(flooded.running, "10.1.0.0/24") and "wan0" in connected(flooded.running, "10.2.0.0/24"))
    for device, others in (("lan0", WAN), ("wan0", LAN)):  # of the odd swap
        flooded.router.ip("-force", "-batch", "-", input="".join(f"address del {a} dev {device}\n" for a in others), check=False)


def swap(namespace):
    namespace.batch("link set lan0 name swap", "link set wan0 name lan0", "link set swap name wan0")


def connected(router, prefix):
    return next((line for line in router.show("routes").stdout.splitlines() if line.startswith(prefix)), "")


def test_addresses_that_live_for_less_than_a_millisecond(flooded):
    name = "203.0.113.1/24"
    flooded.router.batch(*[f"address add {name} dev wan0", f"address del {name} dev wan0"] * 200)
    flooded.running.follows_kernel()
    wait_for(lambda: "203.0.113." not in flooded.running.show("routes").stdout)
    flooded.router.batch(*[f"address add {name} dev wan0", f"address del {name} dev wan0"] * 200, f"address add {name} dev wan0")
    wait_for(lambda: "wan0" in connected(flooded.running, "203.0.113.0/24") and "local" in connected(flooded.running, "203.0.113.1/32"))
    flooded.router.ip("address", "del", name, "dev", "wan0")
    wait_for(lambda: "203.0.113." not in flooded.running.show("routes").stdout)
