# SPDX-License-Identifier: BSD-3-Clause
"""The process itself: who may ask it what, how it ends where a part of it stands still."""
import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import tempfile
import time

import pytest

from harness import Router, wait_for
from pair import Pair, ports

PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000
TWO_WORKERS = "workers: {cores: [0, 1]}\n"
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


@pytest.fixture
def pair():
    with Pair() as made:
        yield made


def threads(router):
    """{name: thread id}"""
    tasks = pathlib.Path(f"/proc/{router.process.pid}/task").iterdir()
    return {(task / "comm").read_text().strip(): int(task.name) for task in tasks}


def worker_thread(router, number):
    """As DPDK names it: rte-worker-1, or dpdk-worker1 since 23.11."""
    names = threads(router)
    return names.get(f"rte-worker-{number}") or names[f"dpdk-worker{number}"]


def status(thread):
    """what proc(5) says of a thread"""
    lines = pathlib.Path(f"/proc/{thread}/status").read_text().splitlines()
    return {key: value.strip() for key, value in (line.split(":", 1) for line in lines)}


def reaped(thread):
    """the thread that we trace has ended; until we know, its process stays"""
    found, status = os.waitpid(thread, os.WNOHANG | WALL)
    return found == thread and not os.WIFSTOPPED(status)


def test_only_our_own_commands_are_answered(pair):
    """DPDK's own /eal/memzone_info ends its process where the number is none of a zone."""
    with Router(pair.router, ports("af_packet")) as router:
        path = pathlib.Path(f"/run/dpdk/surety-{router.name}/dpdk_telemetry.v2")
        assert path.stat().st_mode & 0o777 == 0o600
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asks:
            asks.connect(str(path))
            assert json.loads(asks.recv(1 << 16))["pid"] == router.process.pid
            for command in ("/eal/memzone_info,99999", "/eal/params", "/ethdev/list", "/surety/nothing"):
                asks.send(command.encode())
                assert json.loads(asks.recv(1 << 16)) == {command.split(",")[0]: None}
            asks.send(b"/surety/ports")
            assert json.loads(asks.recv(1 << 16))["/surety/ports"]["total"] == 2
        assert "lan0" in router.show("ports").stdout
    assert not path.exists()


DAC_READ_SEARCH = 2
CAPABILITIES = {"NET_ADMIN": 12, "NET_RAW": 13, "IPC_LOCK": 14, "PERFMON": 38, "BPF": 39}  # linux/capability.h


@pytest.mark.parametrize("device,new_ports,main_thread",
                         [("af_packet", "off", ["NET_ADMIN", "BPF"]), ("af_xdp", "off", ["NET_ADMIN", "BPF"]), ("null", "off", [])]
                         + [(device, "on", list(CAPABILITIES)) for device in ("af_packet", "af_xdp", "null")])
def test_a_running_router_may_do_little(pair, device, new_ports, main_thread):
    """No new privileges, system calls filtered, and of root's capabilities what one thread needs to follow the kernel, and to open ports."""
    yaml = ports(device) if device != "null" else "ports: {lan0: {device: null}, wan0: {device: null, trust: core}}\n"
    router = Router(pair.router, yaml + TWO_WORKERS)
    router.path.write_text(router.path.read_text().replace("router: {", f"router: {{new_ports: {new_ports}, "))
    with router:
        pid, needed = router.process.pid, sum(1 << CAPABILITIES[name] for name in main_thread)
        log = r"system calls of a router, files (and TCP )?by Landlock"
        wait_for(lambda: "forwards between" in router.stderr())
        assert re.search(log, router.stderr().split("forwards between")[0]), "confined before the first packet is read"
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            shown = status(task.name)
            assert (shown["NoNewPrivs"], shown["Seccomp"]) == ("1", "2"), shown["Name"]
            filters = 2 if new_ports == "on" and int(task.name) != pid else 1
            assert int(shown["Seccomp_filters"]) == filters, "no packet sockets for others"
            for kind in ("CapEff", "CapPrm", "CapInh"):
                allowed = needed if int(task.name) == pid and kind != "CapInh" else 0
                assert int(shown[kind], 16) == allowed, (shown["Name"], kind)
        # It still follows what its operator does.
        router.process.send_signal(signal.SIGHUP)
        router.until(lambda m: m.value("surety_config_reloads_total") == 1)
        assert "lan0" in router.show("ports").stdout
        assert "refused" not in router.stderr()


def test_a_file_of_another_user_is_read_again(pair):
    """What root reads by its rule over all files, a capability since it has given up the others."""
    with Router(pair.router, ports("af_packet")) as router:
        wait_for(lambda: "forwards between" in router.stderr())  # /metrics answers before it is confined
        assert int(status(router.process.pid)["CapEff"], 16) & 1 << DAC_READ_SEARCH == 0
    directory = tempfile.TemporaryDirectory(prefix="sf-")
    os.chown(directory.name, 1, 1)
    os.chmod(directory.name, 0o700)
    with directory, Router(pair.router, ports("af_packet"), directory=directory.name) as router:
        router.process.send_signal(signal.SIGHUP)
        router.until(lambda m: m.value("surety_config_reloads_total") == 1)
        assert router.metrics().value("surety_config_last_reload_successful") == 1


@pytest.mark.parametrize("idle", ["adaptive", "poll"])
def test_a_worker_that_stands_still_ends_the_router(pair, idle):
    yaml = ports("af_packet") + f"workers: {{cores: [0, 1], idle: {idle}}}\n"
    with Router(pair.router, yaml) as router:
        time.sleep(1.5)  # longer than the limit: an idle router does not count as one that stands still
        thread = worker_thread(router, 2)
        assert libc.ptrace(PTRACE_SEIZE, thread, None, None) == 0
        began = time.monotonic()
        assert libc.ptrace(PTRACE_INTERRUPT, thread, None, None) == 0
        wait_for(lambda: reaped(thread), 10)
        took = time.monotonic() - began
        status = router.process.wait(120)
        assert status == 2
        assert "error: worker 1 on core 1 has made no progress for 1 s; this router ends" in router.stderr()
        assert took >= (1 if idle == "poll" else 0.99), "one that sleeps has made its last turn up to 10 ms before"
        router.stop = lambda: None  # it has
    with Router(pair.router, yaml, name=router.name) as again:  # whatever that one has left
        assert "lan0" in again.show("ports").stdout


def test_a_port_that_is_lost_keeps_no_worker_busy(pair):
    """The error that its socket reports for ever after is no reason to look again and again."""
    with Router(pair.router, ports("af_packet")) as router:
        pair.router.run("ip", "link", "del", "lan0")
        router.until(lambda m: m.value("surety_port_up", port="lan0") == 0)
        def used():
            return sum(map(int, pathlib.Path(f"/proc/{router.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
        time.sleep(1)  # what waited has been given up
        before = used()
        time.sleep(3)
        assert (used() - before) / os.sysconf("SC_CLK_TCK") < 0.3 * 3


def test_a_router_that_was_stopped_itself_goes_on(pair):
    """As after a suspended machine: nobody is to blame for time that nobody had."""
    with Router(pair.router, ports("af_packet") + TWO_WORKERS) as router:
        router.process.send_signal(signal.SIGSTOP)
        time.sleep(2.5)  # the watchdog's limit is 1 s
        router.process.send_signal(signal.SIGCONT)
        time.sleep(1.5)
        assert router.process.poll() is None
        assert "made no progress" not in router.stderr()
