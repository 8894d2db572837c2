# SPDX-License-Identifier: BSD-3-Clause
"""Three routers and everything that alerts are for: caused, and mended."""
import contextlib
import os
import pathlib
import signal
import struct
import tempfile
import threading

from scapy.data import ETH_P_IP
from scapy.layers.l2 import Ether

from border_core import KEYS, Process
from harness import Router, UdpSource, Wire
from metrics import scrape
from pair import Pair, ports
from signal_wire import Signal

PORTS = {"edge": 9464, "flooded": 9465, "other": 9466}
TARGETS = [f"127.0.0.1:{port}" for port in PORTS.values()]
STATIONS = [f"10.3.0.{n}" for n in range(2, 12)]
ROUTES = [f"10.100.{n}.0/24" for n in range(40)]

# More is sold than the uplink has, and its queue is short: what customer a sends is marked IN, and half of it dies there.
EDGE = ports(wan="shape: 2 Mbit/s, burst: 30 kB, queues: uplink") + """
  spare0: {device: af_xdp spare0, addresses: [10.3.0.254/24]}
interfaces:
  home: {port: lan0, vlan: 7, addresses: [10.7.0.254/24], customer: lan0}
queues:
  uplink:
    - name: assured
      dscp: {in: [AF11], out: [AF13, BE]}
      limit: 50 packets
      count: packets
      rio: {average: 0.05, in: {min: 20, max: 40, pmax: 0.1}, out: {min: 5, max: 20, pmax: 0.2}}
services:
  gold: {conditioner: token-bucket, rate: 4 Mbit/s, bucket: 30 kB, objective: 0.99, mark: {in: AF11, out: AF13}}
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 20 kB, out_bucket: 20 kB, mark: {in: AF11, out: AF13}}
classify:
  - {match: {port: lan0, protocol: tcp}, service: silver}
  - {match: {port: lan0}, service: gold, per: interface}
signalling: {mode: act, key_file: KEY_FILE}
"""
# Its pool has room for a queue that a reload makes as long as that.
FLOODED = """ports:
  side0: {device: af_xdp side0, addresses: [10.4.0.254/24]}
  void: {device: null, twin: off, addresses: [10.8.0.254/24], mtu: 68, trust: core, shape: 64 kbit/s, queues: deep}
queues:
  deep: [{name: all, dscp: [BE], limit: 150000 packets}]
neighbors: [{address: 10.8.0.1, mac: "02:00:00:00:00:99", port: void}]
flow_table: {held: 64 packets}
metrics: {listen: "127.0.0.1:9465"}
"""
OTHER = """ports:
  p0: {device: DEVICE, twin: off}
  p1: {device: null, twin: off}
metrics: {listen: "127.0.0.1:9466"}
"""
LARGE = bytes(1472)


class Scraped(Router):
    """One of several in a namespace, each with an address of its own for metrics."""

    def metrics(self):
        return scrape(self.namespace, address=("127.0.0.1", PORTS[self.label]))

    def reload(self, change, successful=True):
        before = self.metrics().value("surety_config_reloads_total")
        self.path.write_text(change(self.path.read_text()))
        self.process.send_signal(signal.SIGHUP)
        self.until(lambda m: m.value("surety_config_last_reload_successful") == successful
                   and m.value("surety_config_reloads_total") == before + successful)


class Edge(Scraped, Process):
    label = "edge"


class Flooded(Scraped):
    label = "flooded"


class Other(Scraped):
    label = "other"


class Again:
    """Does it again and again, until its context ends."""

    def __init__(self, action, every=0.0):
        self._action, self._every, self._done = action, every, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self._done.wait(self._every):
            self._action()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join(30)


class Feed:
    """Frames for nobody without end, by a pipe in place of a capture file: whoever reads that has no time for anything else."""

    def __init__(self, pipe):
        os.mkfifo(pipe)
        self._pipe, self._over = pipe, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        frames = 10000 * (struct.pack("<IIII", 0, 0, 60, 60) + bytes(60))
        with contextlib.suppress(BrokenPipeError), open(self._pipe, "wb", buffering=0) as pipe:
            pipe.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            while not self._over.is_set():
                pipe.write(frames)

    def end(self):
        self._over.set()
        self._thread.join(30)


class Troubles(Pair):
    """`with Troubles() as t:`; cause() brings about everything that alerts are for, mend() ends it."""

    def __init__(self):
        super().__init__()
        self.c = self.host("c", "spare0", ["10.3.0.1/24"], ["10.3.0.254"])
        self.d = self.host("d", "side0", ["10.4.0.1/24"], ["10.4.0.254"])
        self._stack, self._causes = contextlib.ExitStack(), contextlib.ExitStack()
        self._directory = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sf-")))

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._causes.close()
        self._stack.close()
        super().__exit__()

    def _start(self):
        keys = self._directory / "keys.yaml"
        keys.touch(0o600)
        keys.write_text(KEYS)
        feed = self._directory / "feed"
        self._feed = Feed(feed)
        run = self._stack.enter_context
        self.edge = run(Edge(self.router, "id: 10.9.0.1, role: border", EDGE.replace("KEY_FILE", str(keys))))
        self.flooded = run(Flooded(self.router, FLOODED))
        self.other = run(Other(self.router, OTHER.replace("DEVICE", f"pcap rx={feed}")))
        self.meet()
        self._neighbors("add")
        self._routes("add")
        self.edge.until(lambda m: m.value("surety_routes") > len(ROUTES) and m.value("surety_neighbors") > len(STATIONS))

    def _neighbors(self, what):
        for address in STATIONS:
            self.router.ip("neighbor", what, address, "lladdr", self.c.mac, "dev", "spare0", "nud", "permanent")

    def _routes(self, what):
        """As FRR has them in the kernel."""
        for route in ROUTES:
            self.router.ip("route", what, route, "via", "10.3.0.2", "proto", "bgp")

    def cause(self, fires):
        """`fires`: waits for an alert."""
        enter = self._causes.enter_context
        source = enter(UdpSource(self.a, "10.2.0.1", 4000))
        enter(Again(lambda: source.pace(bytes(972), 600, 60)))  # 4.8 Mbit/s
        enter(Again(self._forger(), 0.2))
        self._routes("del")
        self._neighbors("del")
        self.edge.reload(lambda text: text.replace("services:", "servces:"), successful=False)
        self._flood = enter(UdpSource(self.d, "10.8.0.1", 4000))
        self._fill()
        with Again(self._starve, 0.5):
            fires("SuretyRxMissed")
        fires("SuretyWorkerBusy")
        self._feed.end()
        self.other.stop()
        with Again(self._flap):
            fires("SuretyLinkFlapping")
        self.c.namespace.ip("link", "set", "eth0", "down")
        for alert in ("SuretyRouterDown", "SuretyLinkDown"):
            fires(alert)

    def mend(self):
        self._causes.close()
        self.c.namespace.ip("link", "set", "eth0", "up")
        self.edge.reload(lambda text: text.replace("servces:", "services:").replace("shape: 2 Mbit/s", "shape: 20 Mbit/s"))
        self.flooded.reload(lambda text: text.replace("shape: 64 kbit/s", "shape: 1 Gbit/s"))
        self._neighbors("add")
        self._routes("add")
        self.other = self._stack.enter_context(Other(self.router, OTHER.replace("DEVICE", "null")))

    def _forger(self):
        """Signals with a key that is not the core's."""
        wire = self._causes.enter_context(Wire(self.b))
        forged = Signal(bytes(16), 1, "10.1.0.1", "10.2.0.1", router="10.9.0.2", sender="10.2.0.1")
        ether = Ether(src=self.b.mac, dst=self.router.mac("wan0"), type=ETH_P_IP)
        return lambda: wire.send(ether / forged.packet())

    def _flap(self):
        for state, up in (("down", 0), ("up", 1)):
            self.c.namespace.ip("link", "set", "eth0", state)
            self.edge.until(lambda m: m.value("surety_port_up", port="spare0") == up)

    def _fill(self):
        """Until the pool is nearly empty: many packets leave for each that comes."""
        self.flooded.reload(lambda text: text.replace("limit: 150000", "limit: 190000"))

        def full(m):
            self._flood.pace(LARGE, 1e6, 1000)
            return m.drops().get("overflow")
        self.flooded.until(full)

    def _starve(self):
        """The router does not run for a moment, in which more comes than its device keeps."""
        self.flooded.process.send_signal(signal.SIGSTOP)
        self._flood.pace(LARGE, 1e6, 5000)
        self.flooded.process.send_signal(signal.SIGCONT)
