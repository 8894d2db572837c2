# SPDX-License-Identifier: BSD-3-Clause
"""A memif server may do what it likes to a router that is its client (test_memif_clients.py: the other way)."""
import contextlib
import os
import socket
import time

import pytest
from scapy.layers.l2 import Ether

import memif_peer as memif
from harness import wait_for
from memif_peer import HEAD, TAIL, Server
from memif_victim import BACK, OURS, Victim


@pytest.fixture(scope="module")
def _calling():
    with Victim("client") as victim:
        victim.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        victim.listener.bind(str(victim.path))
        victim.listener.listen(16)
        victim.listener.settimeout(10)
        yield victim
        victim.listener.close()


@pytest.fixture
def calling(_calling):
    return _calling.alive()


@pytest.fixture
def server(calling):
    with Server(calling.listener) as one:
        yield one


def a_servers_index_that_jumps(server):
    server.meet().connected()
    time.sleep(0.05)
    server.rings[1].put(TAIL, server.rings[1].get(HEAD) + 1)


def a_servers_index_beyond_ours(server):
    server.meet().connected()
    server.rings[0].put(TAIL, 5000)


def a_servers_frame_that_is_too_long(server):
    server.meet().connected()
    time.sleep(0.05)
    ring = server.rings[1]
    ring.describe(0, ring.described(0)[3], 0xFFFFFFFF)
    ring.put(TAIL, 1)


def a_servers_frame_somewhere_else(server):
    server.meet().connected()
    time.sleep(0.05)
    server.rings[1].describe(0, 0xFFFFFFF0, 100, region=0xFFFF)
    server.rings[1].put(TAIL, 1)


def a_greeting_twice(server):
    server.meet()
    server.say(memif.hello())


def connected_without_being_asked(server):
    server.say(memif.message(memif.CONNECTED))


def a_greeting_of_another_version(server):
    server.say(memif.hello(min_version=0x0300))


def noise(server):
    server.say(b"\xff" * 128)


def a_clients_messages(server):
    server.meet()
    server.say(memif.init())


@pytest.mark.parametrize("do", [a_servers_index_that_jumps, a_servers_index_beyond_ours, a_servers_frame_that_is_too_long,
                                a_servers_frame_somewhere_else, a_greeting_twice, connected_without_being_asked,
                                a_greeting_of_another_version, noise, a_clients_messages], ids=lambda f: f.__name__)
def test_what_a_server_does(calling, server, do):
    do(server)
    calling.ends_the_link_of(server)
    server.close()
    calling.is_unharmed()
    with Server(calling.listener) as honest:
        honest.meet().connected()
        wait_for(calling.up, BACK)


@pytest.mark.parametrize("offer", [{"max_log2": 0}, {"max_log2": 255}, {"max_ring": 0xFFFF}])
def test_what_a_server_offers(calling, server, offer):
    server.meet(**offer).connected()
    wait_for(calling.up, BACK)
    for _ in range(10):
        calling.to_peer()
    calling.is_unharmed()


def test_our_memory_cannot_be_taken_away(calling, server):
    server.meet().connected()
    for size in (0, 1 << 32):
        with pytest.raises(PermissionError):
            os.ftruncate(server.file, size)
    for event in server.events:
        with contextlib.suppress(BlockingIOError):  # none has been written
            os.eventfd_read(event)
        with contextlib.suppress(BlockingIOError):  # the router was quicker
            os.eventfd_write(event, 0xFFFFFFFFFFFFFFFE)
        os.set_blocking(event, True)
    for ring in server.rings:
        ring.put(memif.FLAGS, 0)
    for _ in range(100):
        calling.to_peer()
        time.sleep(0.02)
    calling.is_unharmed()


def test_descriptors_that_a_server_rewrites_lead_nowhere(calling, server):
    """A client's buffers are where it has put them, whatever stands in its memory."""
    server.meet().connected()
    wait_for(calling.up, BACK)
    ring = server.rings[0]
    for slot in range(ring.size):
        ring.describe(slot, 0xFFFFFFF0, 0xFFFF, region=0xFFFF)

    def sends():
        calling.to_peer()
        return ring.get(HEAD) > 0
    wait_for(sends, 10)
    _, region, length, offset = ring.described(ring.get(HEAD) - 1)
    assert region == 0 and offset + length <= server.size
    frame = Ether(server.memory[offset:offset + length])
    assert frame.src == OURS
    calling.is_unharmed()
