# SPDX-License-Identifier: BSD-3-Clause
"""A router that is followed by another process: what is lost, what goes on, and what becomes of it when either dies on the way."""
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time

import pytest

from harness import SURETY, Router, UdpSink, law, wait_for
from pair import Pair, ports
from router import waited
from test_memif import Chain

PORT, RATE = 5001, 2000
# What is claimed is 200 ms, but for what the processes wait for a core. At once it may be more.
LOST, LOST_AT_ONCE = 0.2, 2


class Counted(contextlib.AbstractContextManager):
    """Numbered packets from a to b; which of them have not arrived."""

    def __init__(self, a, b):
        self._sink = UdpSink(b, b.address(4), PORT)
        self._sink.socket.settimeout(0.2)
        self._source = a.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._to, self._over, self.sent, self.arrived = (b.address(4), PORT), threading.Event(), 0, set()
        self._threads = [threading.Thread(target=t, daemon=True) for t in (self._send, self._receive)]

    def __enter__(self):
        for t in self._threads:
            t.start()
        return self

    def _send(self):
        begin = time.monotonic()
        while not self._over.wait(0.001):
            while self.sent < (time.monotonic() - begin) * RATE:
                with contextlib.suppress(OSError):
                    self._source.sendto(self.sent.to_bytes(8, "big"), self._to)
                self.sent += 1

    def _receive(self):
        with contextlib.suppress(OSError):
            while True:
                try:
                    self.arrived.add(int.from_bytes(self._sink.socket.recv(64), "big"))
                except TimeoutError:
                    if self._over.is_set():
                        return

    def lost_seconds(self):
        """How long nothing came, at most, in packets of the stream; and what was lost in all."""
        self._over.set()
        for t in self._threads:
            t.join(10)
        arrived = sorted(self.arrived)
        return max(b - a - 1 for a, b in zip(arrived, arrived[1:])) / RATE, self.sent - len(arrived)

    def flows(self):
        """packets arrive that were sent after now"""
        first = self.sent
        wait_for(lambda: max(self.arrived, default=0) > first)

    def __exit__(self, *_):
        self._over.set()
        for t in self._threads:
            t.join(10)
        self._sink.socket.close()
        self._source.close()


def pid_of(router):
    """Of the process that answers; None: none does."""
    with contextlib.suppress(OSError, ValueError):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(5)
            s.connect(telemetry(router))
            return json.loads(s.recv(65536))["pid"]
    return None


def telemetry(router):
    return f"/run/dpdk/surety-{router.name}/dpdk_telemetry.v2"


def adopt(router, pid):
    """From now on `router` is the process that has taken over."""
    router.process.wait(120)
    router.process = Follower(pid)


class Follower:
    """A process of somebody else, as subprocess has its own."""

    stdout = contextlib.nullcontext()

    def __init__(self, pid):
        self.pid, self.returncode, self.stdout = pid, None, open(os.devnull)
        self._fd = os.pidfd_open(pid)

    def poll(self):
        try:
            status = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            status = "Z"
        self.returncode = 0 if status == "Z" else None
        return self.returncode

    def wait(self, patience=30):
        wait_for(lambda: self.poll() is not None, patience)
        return 0

    def send_signal(self, number):
        signal.pidfd_send_signal(self._fd, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def upgrade(router, check=True):
    done = router.namespace.run(SURETY, "upgrade", router.name, check=check)
    if done.returncode == 0:
        adopt(router, pid_of(router))
    return done


def follower(router, *options, **more):
    return subprocess.Popen(router.namespace.command(SURETY, "run", "--take-over", *options, router.path), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env={**os.environ, "STATE_DIRECTORY": router.state, **more})


@pytest.fixture(params=["af_xdp", "af_packet"])
def pair(request):
    with Pair() as lab:
        lab.router.run("sysctl", "-q", "net.ipv4.ip_forward=0")
        with Router(lab.router, ports(request.param)) as router:
            lab.meet()
            yield lab, router


def test_upgrade_goes_on_where_the_old_one_was(pair):
    lab, router = pair
    before = lab.router.run("ip", "-json", "address").stdout
    old = router.process.pid
    with Counted(lab.a, lab.b) as stream:
        for _ in range(2):
            stream.flows()
            said = upgrade(router).stdout
            assert f"process {router.process.pid} has taken over from process {old}" in said
            old = router.process.pid
            stream.flows()
        once, lost = stream.lost_seconds()
        print(f"lost {lost} packets, {1000 * once:.0f} ms at once")
        assert once < LOST_AT_ONCE
    law(router.metrics())
    kept = json.loads(before)
    now = {row["ifname"]: row for row in json.loads(lab.router.run("ip", "-json", "address").stdout)}
    for row in kept:  # the operator's way in by the router's own addresses has not changed
        if row["ifname"] in ("lan0", "wan0"):
            assert [a["local"] for a in row["addr_info"]] == [a["local"] for a in now[row["ifname"]]["addr_info"]]
    router.stop()
    left = {row["ifname"]: row["addr_info"] for row in json.loads(lab.router.run("ip", "-json", "-4", "address").stdout)}
    assert not left.get("lan0") and not left.get("wan0"), "the new one has taken back what the old one gave"


class Waits(threading.Thread):
    """How long threads of these processes, the router's successor and this one wait for a core while it is followed."""

    def __init__(self, *pids):
        super().__init__(daemon=True)
        self._pids, self._over, self._before = (*pids, os.getpid()), threading.Event(), {}
        self._before, self._seen = self._look(), {}
        self.start()

    def _look(self):
        return {thread: waits for pid in self._pids for thread, waits in waited(pid).items()}

    def run(self):
        while not self._over.wait(0.01):
            self._seen |= self._look()

    def seconds(self, successor):
        self._over.set()
        self.join()
        self._pids += (successor,)
        self._seen |= self._look()
        return sum(waits - self._before.get(thread, 0) for thread, waits in self._seen.items())


@pytest.mark.alone("on a busy machine the hand-over of a memif client can stand for 30 s, and end without a successor")
@pytest.mark.parametrize("device", ["af_xdp", "memif-server", "memif-client"])
def test_loses_200_ms_at_most_on_average(device):
    with contextlib.ExitStack() as stack:
        if device == "af_xdp":
            lab, second = stack.enter_context(Pair()), None
            a, b, router = lab.a, lab.b, stack.enter_context(Router(lab.router, ports()))
            lab.router.run("sysctl", "-q", "net.ipv4.ip_forward=0")
        else:
            chain = stack.enter_context(Chain())
            a, b = chain.a, chain.b
            first, second = ("edge", "core") if device == "memif-server" else ("core", "edge")
            second = chain.start(second)
            router = chain.start(first)
        stream = stack.enter_context(Counted(a, b))
        late = 0
        for _ in range(3):
            stream.flows()
            waits = Waits(router.process.pid, *([second.process.pid] if second else []))
            upgrade(router)
            late += waits.seconds(router.process.pid)
            stream.flows()
        once, lost = stream.lost_seconds()
        print(f"{device}: {lost} packets of three hand-overs, {1000 * once:.0f} ms at once at most, {1000 * late:.0f} ms without a core")
        assert lost / RATE < 3 * LOST + late


def burst(lab, n=400, length=1000):
    """So many bytes at once."""
    with lab.a.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("", 6001))
        for _ in range(n):
            with contextlib.suppress(OSError):
                s.sendto(bytes(length - 28), (lab.b.address(4), 6000))
            time.sleep(0.0001)


@pytest.mark.parametrize("service,per", [("conditioner: police, rate: 80 kbit/s, bucket: 100 kB", "source"),
                                         ("conditioner: token-bucket, rate: 80 kbit/s, bucket: 100 kB", "flow"),
                                         ("conditioner: csa, alpha: {max: 0.4}, rate: 80 kbit/s, in_bucket: 100 kB, out_bucket: 10 kB, buffer: 10 packets", "source")])
def test_a_bucket_that_is_empty_stays_empty(service, per):
    with Pair() as lab:
        lab.router.run("sysctl", "-q", "net.ipv4.ip_forward=0")
        yaml = ports() + f"services:\n  sold: {{{service}}}\nclassify:\n  - {{match: {{port: lan0}}, service: sold, per: {per}}}\n"
        with Router(lab.router, yaml) as router:
            lab.meet()

            def passed():
                return router.metrics().service_bytes("sold", "in")
            began = time.monotonic()
            burst(lab)
            wait_for(lambda: passed() > 90_000)
            router.settle()
            first = passed()
            upgrade(router)
            burst(lab)
            router.settle()
            second = passed()  # the counters have begun anew
            took = time.monotonic() - began
            print(f"{first:.0f} bytes before, {second:.0f} after, {took:.1f} s")
            assert first + second < 110_000 + 10_000 * took, "a bucket of 100 kB, ten packets, 10 kB/s; and not a second bucket"


@contextlib.contextmanager
def conversation(router):
    """As a new router begins it; the old one has answered."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(120)
        s.connect(telemetry(router))
        s.recv(65536)
        s.send(b"/surety/hand-over,1")
        yield s, json.loads(s.recv(65536))["/surety/hand-over"]


@pytest.fixture
def plain():
    with Pair() as lab:
        lab.router.run("sysctl", "-q", "net.ipv4.ip_forward=0")
        with Router(lab.router, ports()) as router:
            lab.meet()
            yield lab, router


def test_until_it_is_to_hand_over_the_old_one_goes_on(plain):
    lab, router = plain
    with Counted(lab.a, lab.b) as stream:
        with conversation(router) as (_, facts):
            assert facts["process"] == router.process.pid and facts["file"] == str(router.path)
            with conversation(router) as (_, second):
                assert "already" in second["error"]
            stream.flows()
        with conversation(router) as (s, _):
            s.send(b"nonsense")
            stream.flows()
        # One that dies while it makes itself ready.
        for _ in range(3):
            new = follower(router)
            time.sleep(random.uniform(0, 0.2))
            new.kill()
            new.wait()
            new.stdout.close()
        stream.flows()
    assert pid_of(router) == router.process.pid
    assert "taken over" in upgrade(router).stdout


def test_a_new_one_that_dies_afterwards_is_told_by_the_old_ones_exit(plain):
    _, router = plain
    with conversation(router) as (s, _):
        s.send(b"take")
        assert json.loads(s.recv(1 << 20))["contracts"] == [0]
    assert router.process.wait(120) == 1, "for a supervisor to start it again"
    assert "the new process ended before it took over" in router.stderr()
    router.start()
    wait_for(router._ready)


def test_an_old_one_that_dies_meanwhile_is_followed_all_the_same(plain):
    lab, router = plain
    for i in range(4):
        old = router.process.pid
        new = follower(router)
        time.sleep(0.05 * 2**i)
        router.process.send_signal(signal.SIGKILL)
        router.process.wait(120)
        wait_for(lambda: new.poll() is not None or pid_of(router) not in (None, old))
        assert new.poll() is None, new.stdout.read()
        wait_for(lambda: lab.a.namespace.run("ping", "-n", "-c", "1", "-W", "1", lab.b.address(4), check=False).returncode == 0)
        router.process.stdout.close()
        router.process = Follower(pid_of(router))
        new.stdout.close()


def heard(s):
    """All that the old one says until it has gone."""
    return [m for m in iter(lambda: s.recv(1 << 20), b"") if len(m) < 16]


@pytest.mark.parametrize("when", ["before", "while it hands over", "never"])
def test_the_old_one_passes_on_a_reload_that_it_cannot_do(plain, when):
    _, router = plain
    with conversation(router) as (s, _):
        if when == "before":
            router.process.send_signal(signal.SIGHUP)
        s.send(b"take")
        while s.recv(1 << 20) != b"rest":
            pass
        if when == "while it hands over":
            router.process.send_signal(signal.SIGHUP)
        s.send(b"taken")
        assert heard(s) == ([] if when == "never" else [b"reload"])
    assert router.process.wait(120) == 0
    router.start()
    wait_for(router._ready)


def test_a_reload_meanwhile_is_carried_out_by_the_new_one(plain):
    """It has read the file before it begins; what is in there now has been asked of the old one."""
    lab, router = plain
    text = router.path.read_text()
    new = follower(router)
    while "DPDK started: " not in new.stdout.readline():
        pass
    router.path.write_text(text.replace("10.1.0.254/24", "10.9.0.254/24"))
    router.process.send_signal(signal.SIGHUP)
    assert router.process.wait(120) == 0
    wait_for(lambda: "10.9.0.254" in lab.router.run("ip", "-4", "address", "show", "lan0").stdout)
    router.process = Follower(new.pid)
    new.stdout.close()


def test_a_service_manager_hears_which_process_is_the_first_one(plain, directory):
    _, router = plain
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(directory / "notify"))
        manager.settimeout(120)
        new = follower(router, NOTIFY_SOCKET=str(directory / "notify"))
        told = ""
        while "MAINPID=" not in told:
            told = manager.recv(4096).decode()
        pid = int(told.split("MAINPID=")[1].split()[0])
        assert router.process.wait(120) == 0
        assert pid == pid_of(router)
        router.process = Follower(pid)
        new.stdout.close()


def test_what_cannot_start_changes_nothing(plain):
    lab, router = plain
    with Counted(lab.a, lab.b) as stream:
        text = router.path.read_text()
        router.path.write_text(text + "nonsense: 1\n")
        assert upgrade(router, check=False).returncode == 1
        router.path.write_text(text)
        stream.flows()
    assert router.process.poll() is None
    done = lab.router.run(SURETY, "upgrade", "nobody", check=False)
    assert done.returncode == 1 and "no router called nobody" in done.stderr
