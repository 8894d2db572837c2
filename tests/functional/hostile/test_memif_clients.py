# SPDX-License-Identifier: BSD-3-Clause
"""A memif client may do what it likes with messages, rings, memory and descriptors: the router, its server, lives, its other ports
forward, and an honest peer gets the link afterwards. Each attack ended, hung or misled a router that had DPDK's driver, or might."""
import contextlib
import fcntl
import os
import pathlib
import stat
import tempfile
import time

import pytest

import memif_peer as memif
from harness import law, wait_for
from memif_peer import HEAD, MASK_INT, NEXT, TAIL, Channel, Client, Gone
from memif_victim import Victim, readable


@pytest.fixture(scope="module")
def _served():
    with Victim("server") as victim:
        yield victim


@pytest.fixture
def victim(_served):
    return _served.alive()


@pytest.fixture
def client(victim):
    with Client.to(victim.path) as one:
        yield one


def open_files(router):
    return len(list(pathlib.Path(f"/proc/{router.process.pid}/fd").iterdir()))


# What a client says.

def introduced(client):
    client.greet()
    client.lay_out()
    client.ask(memif.init())


def with_region(client):
    introduced(client)
    client.ask(memif.add_region(0, client.size), client.file)


def connects(client, ring=0):
    client.ask(memif.add_ring(memif.TO_SERVER, 0, 0, ring, client.LOG2), client.event())
    client.ask(memif.message(memif.CONNECT))
    client.hear()


def connects_with_region(client, size, file, ring=0):
    client.ask(memif.add_region(0, size), file)
    connects(client, ring)


def joined_by(client, **wrong):
    """A link whose ring to the server is another than it should be."""
    with_region(client)
    ring = {"flags": memif.TO_SERVER, "index": 0, "region": 0, "offset": 0, "log2": client.LOG2, **wrong}
    client.ask(memif.add_ring(**ring), client.event())
    client.ask(memif.add_ring(0, 0, 0, client.ring_bytes, client.LOG2), client.event())
    client.ask(memif.message(memif.CONNECT))
    client.out.put(HEAD, 16)
    client.hear()


def a_ring_beyond_the_region(client):
    joined_by(client, offset=0xFFFFF000)


def a_ring_that_ends_beyond_the_region(client):
    joined_by(client, log2=14, offset=0x100000)  # of 1,057,024 bytes


def a_ring_in_no_region(client):
    joined_by(client, region=7)


def a_ring_in_region_65535(client):
    joined_by(client, region=0xFFFF)


def a_ring_of_2_to_the_40(client):
    joined_by(client, log2=40)


def a_ring_at_an_odd_place(client):
    joined_by(client, offset=3)


def a_ring_without_its_cookie(client):
    joined_by(client, offset=client.LOG2 * 4096)


def ring_index_65535(client):
    joined_by(client, index=0xFFFF)


def a_region_larger_than_its_file(client):
    introduced(client)
    connects_with_region(client, 1 << 29, client.own(memif.memfd(4096)), ring=1 << 28)


def a_region_of_2_to_the_63(client):
    introduced(client)
    connects_with_region(client, 1 << 63, client.file)


def region_index_65535(client):
    introduced(client)
    client.ask(memif.add_region(0xFFFF, client.size), client.file)


def regions_without_end(client):
    introduced(client)
    for i in range(100_000):
        client.ask(memif.add_region(i, 4096), client.file)


def a_region_of_a_file_on_disk(client):
    introduced(client)
    with tempfile.TemporaryFile() as file:
        file.truncate(client.size)
        client.ask(memif.add_region(0, client.size), file.fileno())
        client.ask(memif.add_ring(memif.TO_SERVER, 0, 0, 0, client.LOG2), client.event())
        file.truncate(0)
        client.ask(memif.message(memif.CONNECT))
    client.hear()


def connect_before_all_else(client):
    client.greet()
    client.ask(memif.message(memif.CONNECT))


def rings_before_regions(client):
    client.greet()
    client.ask(memif.init())
    connects(client)


def a_servers_messages(client):
    client.greet()
    client.ask(memif.init())
    client.ask(memif.hello())
    client.ask(memif.message(memif.CONNECTED))
    client.hear()


def connect_twice(client):
    client.join()
    client.ask(memif.message(memif.CONNECT))


def another_region_for_a_live_link(client):
    client.join()
    client.ask(memif.add_region(1, client.size), client.file)


def no_end_of_acknowledgements(client):
    client.greet()
    client.ask(memif.init())
    for _ in range(1_000_000):
        client.say(memif.message(memif.ACK))


def a_message_of_no_known_type(client):
    client.greet()
    client.ask(memif.init())
    client.ask(memif.message(0xFFFF, b"\xff" * 126))


def a_larger_message(client):
    client.greet()
    client.ask(memif.init() + bytes(1))
    client.hear()


SAID = [a_ring_beyond_the_region, a_ring_that_ends_beyond_the_region, a_ring_in_no_region, a_ring_in_region_65535, a_ring_of_2_to_the_40,
        a_ring_at_an_odd_place, a_ring_without_its_cookie, ring_index_65535, a_region_larger_than_its_file, a_region_of_2_to_the_63,
        region_index_65535, regions_without_end, a_region_of_a_file_on_disk, connect_before_all_else, rings_before_regions,
        a_servers_messages, connect_twice, another_region_for_a_live_link, no_end_of_acknowledgements, a_message_of_no_known_type,
        a_larger_message]


@pytest.mark.parametrize("say", SAID, ids=lambda f: f.__name__)
def test_what_a_client_says(victim, client, say):
    with pytest.raises(Gone):
        say(client)
    client.close()
    victim.is_unharmed()
    victim.serves_an_honest_peer()


# What a client writes into its memory, while packets come for it.

def a_descriptor_in_no_region(client):
    client.out.describe(0, 0, 100, region=9)
    client.out.put(HEAD, 1)


def a_descriptor_beyond_its_region(client):
    client.out.describe(0, 0xFFFFF000, 100)
    client.out.put(HEAD, 1)


def a_descriptor_that_ends_beyond_its_region(client):
    client.out.describe(0, client.size - 16, 0xFFFF)
    client.out.put(HEAD, 1)


def a_descriptor_of_4_GB(client):
    client.out.describe(0, client.offset(client.out, 0), 0xFFFFFFFF)
    client.out.put(HEAD, 1)


def a_frame_without_end(client):
    for slot in range(client.out.size):
        client.out.describe(slot, client.offset(client.out, slot), 60, NEXT)
    client.out.put(HEAD, client.out.size)


def a_frame_of_more_buffers_than_any_needs(client):
    for slot in range(129):
        client.out.describe(slot, client.offset(client.out, slot), 0, NEXT if slot < 128 else 0)
    client.out.put(HEAD, 129)


def an_index_that_jumps(client):
    for slot in range(client.out.size):
        client.out.describe(slot, client.offset(client.out, slot), 60)
    client.out.put(HEAD, client.out.size + 1)


def an_index_that_goes_back(client):
    client.transmit(bytes(60))
    wait_for(lambda: client.out.get(TAIL) == 1, 5)
    client.out.put(HEAD, 0)


def buffers_in_no_region(client):
    for slot in range(client.back.size):
        client.back.describe(slot, 0, 2048, region=9)


def buffers_beyond_their_region(client):
    for slot in range(client.back.size):
        client.back.describe(slot, 0xFFFFF000, 2048)


def buffers_that_end_beyond_their_region(client):
    for slot in range(client.back.size):
        client.back.describe(slot, client.size - 16, 0xFFFF)


def buffers_of_a_byte(client):
    for slot in range(client.back.size):
        client.back.describe(slot, client.offset(client.back, slot), 1)


def more_buffers_than_there_are(client):
    client.back.put(HEAD, 3 * client.back.size)


WRITTEN = [a_descriptor_in_no_region, a_descriptor_beyond_its_region, a_descriptor_that_ends_beyond_its_region, a_descriptor_of_4_GB,
           a_frame_without_end, a_frame_of_more_buffers_than_any_needs, an_index_that_jumps, an_index_that_goes_back, buffers_in_no_region, buffers_beyond_their_region,
           buffers_that_end_beyond_their_region, buffers_of_a_byte, more_buffers_than_there_are]


@pytest.mark.parametrize("write", WRITTEN, ids=lambda f: f.__name__)
def test_what_a_client_writes(victim, client, write):
    client.join()
    write(client)
    victim.ends_the_link_of(client)
    client.close()
    victim.is_unharmed()
    victim.serves_an_honest_peer()


def test_memory_that_its_maker_takes_away(victim, client):
    client.greet()
    client.lay_out(seals=0)
    with contextlib.suppress(Gone):
        client.ask(memif.init())
        client.ask(memif.add_region(0, client.size), client.file)
        client.ask(memif.add_ring(memif.TO_SERVER, 0, 0, 0, client.LOG2), client.event())
        client.ask(memif.add_ring(0, 0, 0, client.ring_bytes, client.LOG2), client.event())
        client.ask(memif.message(memif.CONNECT))
    with contextlib.suppress(PermissionError):  # the router has sealed it
        os.ftruncate(client.file, 0)
    victim.is_unharmed()
    client.close()
    victim.serves_an_honest_peer()


def test_pages_that_their_maker_takes_away_come_again(victim, client):
    client.join()
    size = client.size // 4096 * 4096
    libc_fallocate(client.file, size)
    victim.is_unharmed()
    client.close()
    victim.serves_an_honest_peer()


def libc_fallocate(file, size):
    """Holes all over the file."""
    import ctypes
    punch_and_keep = 2 | 1
    assert ctypes.CDLL(None, use_errno=True).fallocate(file, punch_and_keep, ctypes.c_long(0), ctypes.c_long(size)) == 0


def full(flags=0):
    """An eventfd to which a writer would wait, and where O_NONBLOCK does not help for long."""
    fd = os.eventfd(0, flags)
    os.eventfd_write(fd, 0xFFFFFFFFFFFFFFFE)
    return fd


def test_an_eventfd_that_would_make_its_writer_wait(victim, client):
    client.join(event=client.own(full()))
    client.back.put(memif.FLAGS, 0)
    for _ in range(100):
        victim.to_peer()
        time.sleep(0.02)
    victim.is_unharmed()
    client.close()
    victim.serves_an_honest_peer()


def test_a_pipe_instead_of_an_eventfd(victim, client):
    read, write = os.pipe()
    client.own(read)
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write, bytes(4096))
    with contextlib.suppress(Gone):
        client.join(event=client.own(write))
        client.back.put(memif.FLAGS, 0)
        for _ in range(100):
            victim.to_peer()
            time.sleep(0.02)
    victim.is_unharmed()
    client.close()
    victim.serves_an_honest_peer()


def test_descriptors_that_nobody_asked_for_are_not_kept(victim):
    wait_for(lambda: not victim.up())
    before = open_files(victim.router)
    for _ in range(50):
        with contextlib.suppress(Gone), Client.to(victim.path) as client:
            client.greet()
            fds = [client.event() for _ in range(8)]
            client.ask(memif.init(), *fds[:2])
            client.ask(memif.message(memif.ACK), *fds)
    wait_for(lambda: open_files(victim.router) <= before)  # a scrape may have been open
    victim.serves_an_honest_peer()


# Who may have the link, and when.

def test_the_socket_is_its_users_alone(victim):
    assert stat.S_IMODE(victim.path.stat().st_mode) == 0o600


def test_a_live_peer_is_not_pushed_out(victim, client):
    client.join()
    for _ in range(20):
        with Client.to(victim.path) as another:
            another.greet()
            with pytest.raises(Gone, match="already connected"):
                another.ask(memif.init())
    victim.exchanges_with(client)


@pytest.mark.parametrize("wrong, why", [({"version": 0x0300}, "version"), ({"interface": 1}, "id"), ({"mode": 1}, "Ethernet")])
def test_who_is_wanted(victim, client, wrong, why):
    client.greet()
    with pytest.raises(Gone, match=why):
        client.ask(memif.init(**wrong))


def test_who_says_nothing_is_sent_away(victim):
    silent = [Channel.to(victim.path) for _ in range(16)]
    began = time.monotonic()
    for channel in silent:
        channel.hear()
        with pytest.raises(Gone, match="too slow"):
            channel.hear()
        channel.close()
    assert time.monotonic() - began < 10
    victim.serves_an_honest_peer()


def test_who_comes_after_a_long_silence_has_its_time(victim):
    wait_for(lambda: not victim.up())
    time.sleep(4)  # longer than anybody has for an agreement
    with Client.to(victim.path) as client:
        client.join()


def test_who_introduces_itself_and_stops_is_sent_away(victim, client):
    introduced(client)
    with pytest.raises(Gone, match="too slow"):
        client.hear()
    victim.serves_an_honest_peer()


# An honest one, in all the ways that the protocol allows.

def test_a_twins_carrier_is_the_ports_link(victim, client):
    """Whatever the kernel has said of it: only its administrator takes it out of use."""
    client.join()
    victim.exchanges_with(client)
    victim.twin("carrier", "off")
    victim.exchanges_with(client)
    victim.twin("carrier", "on")
    victim.twin("down")
    wait_for(lambda: not victim.reaches(client), 5)
    victim.twin("up")
    victim.exchanges_with(client)


def test_frames_over_many_buffers(victim, client):
    client.join(buffer=128)
    for size in (1, 100, 129, 500, 1400):
        victim.exchanges_with(client, size)


def test_frames_that_no_buffer_of_ours_holds_are_counted(victim, client):
    client.join()
    missed = victim.router.metrics().value("surety_port_rx_missed_total", port="m0")
    client.transmit(bytes(60_000))
    client.transmit(bytes(40_000))
    victim.router.until(lambda m: m.value("surety_port_rx_missed_total", port="m0") == missed + 2)
    victim.exchanges_with(client)
    law(victim.router.metrics())


def test_indices_that_count_beyond_65535(victim, client):
    client.join()
    frame = bytes(60)
    for _ in range(70_000 // 200):
        for _ in range(200):
            client.transmit(frame)
        wait_for(lambda: client.out.get(TAIL) == client.sent & 0xFFFF, 5, 0)
    victim.exchanges_with(client)


def test_a_peer_that_sleeps_is_woken(victim, client):
    event = client.event()
    client.join(event=event)
    client.back.put(memif.FLAGS, 0)

    def quiet():
        """what a link that has come up brings by itself has come"""
        return client.receive(0.2) is None
    wait_for(quiet, 10)
    with contextlib.suppress(BlockingIOError):
        os.eventfd_read(event)

    def wakes():
        victim.to_peer()
        return readable(event)
    wait_for(wakes, 10)
    client.back.put(memif.FLAGS, MASK_INT)
