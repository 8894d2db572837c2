# SPDX-License-Identifier: BSD-3-Clause
"""What `surety-gtcp` does with prefixes, sockets, users and a kernel that cannot."""
import contextlib
import os
import pathlib
import socket
import sys

import pytest

from endpoint import Network
from gtcp import attach, gtcp, status  # noqa: F401
from namespaces import sh

CHOOSE = "import socket as s; s.socket().setsockopt(s.IPPROTO_TCP, s.TCP_CONGESTION, b'gtcp')"


class Sockets:
    """Connections over the loopback of a namespace."""

    def __init__(self, network):
        self._namespace = network.namespace("l")
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def client(self, family, congestion="gtcp"):
        s = self._stack.enter_context(self._namespace.socket(family, socket.SOCK_STREAM))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        return s

    def listener(self, family=socket.AF_INET, congestion="reno"):
        s = self.client(family, congestion)
        s.bind(("::" if family == socket.AF_INET6 else "127.0.0.1", 0))
        s.listen()
        return s

    def connect(self, client, listener, address="127.0.0.1"):
        client.connect((address, listener.getsockname()[1]))
        self._stack.enter_context(listener.accept()[0])


def give(s, rate):
    gtcp("set", "--pid", os.getpid(), "--fd", s.fileno(), "--rate", rate)


def used():
    """Connections with a reservation, and of these by prefix."""
    now = status()
    return now["connections"]["reserved"], {r["to"]: r["connections"] for r in now["reservations"] if r["connections"]}


def test_the_longest_prefix_counts_in_both_families(attach):
    attach("--reserve", "127.0.0.0/8=1Mbit/s", "--reserve", "127.0.0.1/32=0bit/s", "--default", "2Mbit/s")
    with Network() as network, Sockets(network) as sockets:
        listener = sockets.listener(socket.AF_INET6)
        for family, address in ((socket.AF_INET, "127.0.0.2"), (socket.AF_INET6, "::ffff:127.0.0.3"),
                                (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            sockets.connect(sockets.client(family), listener, address)
        assert used() == (3, {"127.0.0.0/8": 2, "127.0.0.1/32": 1, "::/0": 1})
        gtcp("release", "127.0.0.0/8")
        sockets.connect(sockets.client(socket.AF_INET), listener, "127.0.0.2")
        gtcp("reserve", "127.0.0.2", "3 Mbit/s")  # an address is the longest prefix
        sockets.connect(sockets.client(socket.AF_INET), listener, "127.0.0.2")
        assert used() == (5, {"0.0.0.0/0": 1, "127.0.0.1/32": 1, "127.0.0.2/32": 1, "::/0": 1})
        assert status()["connections"] == {"total": 6, "reserved": 5, "open": 6}


def test_a_socket_s_own_rate_goes_before_its_destination_s(attach):
    attach("--reserve", "127.0.0.0/8=1Mbit/s")
    with Network() as network, Sockets(network) as sockets:
        listener = sockets.listener()
        own, none = sockets.client(socket.AF_INET, "reno"), sockets.client(socket.AF_INET)
        give(own, "4Mbit/s")
        give(none, "0bit/s")
        sockets.connect(own, listener)
        sockets.connect(none, listener)
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0") == b"gtcp"
        assert used() == (1, {})


def test_accepted_connections_inherit_the_listener_s_rate(attach):
    attach()
    with Network() as network, Sockets(network) as sockets:
        listener = sockets.listener()
        give(listener, "4Mbit/s")
        for _ in range(3):
            sockets.connect(sockets.client(socket.AF_INET, "reno"), listener)
        assert used() == (3, {})


@pytest.mark.parametrize("options, chosen", [([], False), (["--allow"], True)])
def test_users_may_choose_it_when_they_are_allowed_to(attach, options, chosen):
    attach(*options)
    done = sh(sys.executable, "-c", CHOOSE, check=False, user="nobody")
    assert status()["allowed"] == chosen == (done.returncode == 0), done.stderr


def test_detach_leaves_connections_alone_and_ends_the_choice(attach):
    attach("--reserve", "127.0.0.0/8=1Mbit/s")
    with Network() as network, Sockets(network) as sockets:
        listener, client = sockets.listener(), sockets.client(socket.AF_INET)
        sockets.connect(client, listener)
        assert gtcp("attach", check=False).stderr.startswith("surety-gtcp: gtcp is already attached; ")
        gtcp("detach")
        assert status() == {"attached": False} and not pathlib.Path("/sys/fs/bpf/surety-gtcp").exists()
        client.sendall(b"on we go")
        with pytest.raises(FileNotFoundError):
            sockets.client(socket.AF_INET)
        attach()  # while the old one still has a connection
        assert used() == (0, {})


def test_a_kernel_without_struct_ops_gets_one_sentence():
    done = gtcp("attach", check=False, SURETY_GTCP_BTF="/nonexistent")
    assert done.returncode == 1 and done.stderr == (
        "surety-gtcp: this kernel has no type information (no /nonexistent): GTCP for Linux sockets needs "
        "Linux 5.13 or newer, built with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF\n")
