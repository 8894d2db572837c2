# SPDX-License-Identifier: BSD-3-Clause
"""A running `surety run`, started from YAML inside a namespace and stopped as a service manager would."""
import contextlib
import itertools
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from law import law
from metrics import scrape
from namespaces import prefer

ROOT = pathlib.Path(__file__).resolve().parents[2]
SURETY = pathlib.Path(os.environ.get("SURETY", ROOT / "build/release/bin/surety"))
# Seconds at most: how long it takes is a claim only where a test says so, and the machine may be busy.
START, STOP, SETTLE = 120, 120, 120
CLAIM = 30  # s: a shorter patience is a claim
# What a test's configuration gets unless it says otherwise: small, so that a router starts in a moment.
DEFAULTS = {"dpdk": "{hugepages: off, max_routes: 1024}"}
if "SURETY_WORKERS" in os.environ:  # YAML: all tests with several workers, or where the router's own core is busy
    DEFAULTS["workers"] = os.environ["SURETY_WORKERS"]
TX_DESCRIPTORS = 2048  # port.cc
_numbers = itertools.count()


def waited(pid):
    """{thread: seconds that it has waited for a core}"""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            found[task.name] = int((task / "schedstat").read_text().split()[1]) / 1e9
    return found


def descendants():
    """This process and all that it has started. Only they are looked at: a look at a process that ends, in /proc, can wait for its end,
    and where that process has the lowest priority, the kernel (6.18, shrink_dcache_parent) spins meanwhile."""
    found, new = set(), {os.getpid()}
    while new:
        found |= new
        started = set()
        for pid in new:
            with contextlib.suppress(OSError):
                for task in os.listdir(f"/proc/{pid}/task"):
                    started |= set(map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split()))
        new = started - found
    return found


def stolen():
    """Seconds that the hypervisor gave to others, of all cores."""
    return int(pathlib.Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")


class Lateness:
    """What processes have waited for a core since then: others had it, of this machine or of its host, which is no fault of theirs."""

    def __init__(self, *pids):
        self._pids, self._before, self._now, self._stolen = pids, self._look(pids), {}, stolen()

    def _look(self, pids):
        return {thread: seconds for pid in pids or descendants() for thread, seconds in waited(pid).items()}

    def seconds(self):
        self._now |= self._look(self._pids)
        return stolen() - self._stolen + sum(seconds - self._before.get(thread, 0) for thread, seconds in self._now.items())


def wait_for(condition, patience=SETTLE, every=0.01):
    """The first true value of condition(); fails when there is none in time. A patience below CLAIM is one: what this test's
    processes wait for a core meanwhile comes on top."""
    late = Lateness() if patience < CLAIM else None
    began = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        took = time.monotonic() - began
        assert took < patience or late and took < patience + late.seconds(), f"not within {patience} s: {condition.__doc__ or condition.__name__}"
        time.sleep(every if took < patience else 0.1)


@contextlib.contextmanager
def within(seconds):
    """Fails where what is inside takes longer, but for what this test's processes have waited for a core meanwhile."""
    late, began = Lateness(), time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds or took < seconds + late.seconds(), f"{took:.1f} s"


def ends_within(process, seconds):
    """Fails where a child takes longer, but for what its threads have waited for a core meanwhile."""
    late, began = Lateness(process.pid), time.monotonic()
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        took, waits = time.monotonic() - began, late.seconds()
        assert took < seconds + waits, f"{took:.1f} s, of which {waits:.1f} s without a core"
        time.sleep(0.01)


class Router:
    """`with Router(namespace, yaml) as router:`; yaml without `version` and `router`."""

    def __init__(self, namespace, yaml, name=None, directory=None):
        self.namespace = namespace
        self.name = name or f"sf{os.getpid()}-{next(_numbers)}"
        self._directory = tempfile.TemporaryDirectory(prefix="sf-")
        self.path = pathlib.Path(directory or self._directory.name) / "router.yaml"
        self.state = str(self.path.parent / "state")  # what is kept of contracts
        more = "".join(f"{key}: {value}\n" for key, value in DEFAULTS.items() if f"{key}:" not in yaml)
        self.path.write_text(f"version: 1\nrouter: {{name: {self.name}}}\n{yaml}{more}")
        self.process = None
        self._metrics_off = "listen: off" in yaml

    def start(self):
        """Without waiting: for routers that are not expected to start."""
        self._stderr = open(self.path.with_suffix(".stderr"), "w+")
        self.process = subprocess.Popen(self.namespace.command(SURETY, "run", self.path), stdout=subprocess.PIPE,
                                        stderr=self._stderr, text=True, env={**os.environ, "STATE_DIRECTORY": self.state})
        return self

    def fails(self, patience=START):
        """For routers that must not start: exit status and standard error."""
        self.start()
        try:
            return self.process.wait(patience), self.stderr()
        finally:
            self._end()

    def __enter__(self):
        try:
            self.start()
            wait_for(self._ready, START)
            if not self._metrics_off:
                m = self.metrics()
                self.buffers = m.value("surety_mempool_available")
                self.taken = m.value("surety_mempool_size") - self.buffers
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.stop()
        finally:
            self._end()

    def _ready(self):
        """the router answers"""
        assert self.process.poll() is None, f"surety ended: {self.process.returncode}\n{self.stderr()}"
        if self._metrics_off:
            return self.show("router", check=False).returncode == 0
        try:
            return self.metrics().select("surety_build_info", router=self.name)
        except OSError:
            return None

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(STOP)
        assert status == 0, f"exit status {status} after SIGTERM\n{self.stderr()}"

    def _end(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()  # in order, if it still can: a killed one leaves its XDP programs
            try:
                self.process.wait(STOP)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process:
            self.process.stdout.close()
            self._stderr.close()
        with contextlib.suppress(OSError):  # DPDK leaves it behind, empty
            pathlib.Path(f"/run/dpdk/surety-{self.name}").rmdir()
        self._directory.cleanup()

    def stderr(self):
        self._stderr.seek(0)
        return self._stderr.read()

    def metrics(self):
        return scrape(self.namespace, timeout=SETTLE)

    def show(self, *arguments, check=True):
        return self.namespace.run(SURETY, "show", "--name", self.name, *arguments, check=check)

    def follows_kernel(self):
        """The router has read all that the kernel reported before: messages come in order, and a route is the last of them."""
        sentinel = f"192.0.2.{next(_numbers) % 256}/32"
        self.namespace.ip("route", "add", "blackhole", sentinel)
        wait_for(lambda: sentinel in self.show("routes").stdout)
        self.namespace.ip("route", "del", "blackhole", sentinel)

    def until(self, condition, patience=SETTLE):
        """Scrapes until the condition holds; the scrape that satisfied it."""
        def holds():
            m = self.metrics()
            return m if condition(m) else None
        return wait_for(holds, patience)

    def settle(self):
        """Nothing waits in the router any more; the scrape obeys the law, and no packet buffer has got lost."""
        def idle(m):
            return not (m.sum("surety_port_held_packets") or m.sum("surety_port_queued_packets"))
        m = self.until(idle)
        law(m)
        # DPDK's AF_XDP driver takes sent buffers back when it sends the next ones; all others keep none.
        kept = self._kept_by_devices(m)
        # A reload may have brought more of them.
        self.until(lambda now: now.value("surety_mempool_available") >= now.value("surety_mempool_size") - self.taken - kept)
        return m

    def _kept_by_devices(self, m):
        return sum(min(TX_DESCRIPTORS, m.value("surety_port_tx_packets_total", port=port))
                   for port in m.ports() if port in self._xdp_ports())

    def _xdp_ports(self):
        import yaml
        ports = yaml.safe_load(self.path.read_text())["ports"]
        return {name for name, port in ports.items() if str(port.get("device")).startswith("af_xdp")}


class Measured(Router):
    """Before other programs on this machine: what it misses of a core its shapers do not make up for."""

    def start(self):
        super().start()
        prefer(self.process.pid)  # at once: the threads it starts inherit that
        return self
