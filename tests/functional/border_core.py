# SPDX-License-Identifier: BSD-3-Clause
"""A border and a core router, two `surety` processes: customers behind the border, the bottleneck at the core.

    af1, af3 -- border -- core == out == sink
                           |
                           be (the best-effort flows' own border: a plain host)

As CSA's Fig. 6(b): services phb1 and phb3 at the border, RIO at both routers, signals from the core's `out` queue to the border.
"""
import contextlib
import os
import pathlib
import tempfile

from harness import Lab, Router, connect

BORDER_ID, CORE_ID = "10.9.0.1", "10.9.0.2"
KEY_ID, KEY = 1, "5f0b6a4c9d3e21780011223344556677"
KEYS = f"keys:\n  - {{id: {KEY_ID}, key: {KEY}}}\n  - {{id: 2, key: 00112233445566778899aabbccddeeff}}\n"
AF1, AF3, BE, SINK = "10.1.1.1", "10.1.3.1", "10.3.0.1", "10.2.0.1"

QUEUES = """
queues:
  rio:
    - name: assured
      dscp: {in: [AF21], out: [AF22, AF23, BE]}
      limit: 1000 packets
      count: packets
      rio: {average: 0.002, in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}, mean_packet: %s}
    - {name: control, dscp: [CS6], priority: strict}
"""
SERVICE = """  %s: {conditioner: csa, rate: %s, tokens: packets, packet: %s, buffer: 100 packets, in_bucket: 10 packets,
         out_bucket: 1 packets, alpha: {min: 0.04, max: 0.4, step: 0.02, t1: 30 ms, t2: 90 ms, control: %s}, out_from_backlog: %s,
         mark: {in: AF21, out: BE}}
"""


class Process(Router):
    """With more of the `router` section than a name."""

    def __init__(self, namespace, router, yaml):
        super().__init__(namespace, yaml)
        text = self.path.read_text()
        self.path.write_text(text.replace(f"{{name: {self.name}}}", f"{{name: {self.name}, {router}}}", 1))


class BorderCore:
    """`rates` of phb1 and phb3, `bottleneck`, `uplink` (of the border, default the same): quantities of YAML; `packet`: bytes of
    the IP packets that count as one; `backlog`: `out_from_backlog` of both services; `contracts`: of each, default what
    the uplink allows; `apart`: the border's worker has core 0, so that neither waits for the other."""

    def __init__(self, rates=("1600 kbit/s", "400 kbit/s"), bottleneck="30.792 Mbit/s", uplink=None, packet=576,
                 control="search", backlog=False, contracts=None, out_link=connect, apart=False):
        self._stack = contextlib.ExitStack()
        self._directory = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sf-")))
        self.key_file = self._directory / "keys.yaml"
        self.key_file.touch(0o600)
        self.key_file.write_text(KEYS)
        self._rates, self._packet, self._control, self._backlog = rates, packet, control, "on" if backlog else "off"
        self._bottleneck, self._uplink, self._contracts = bottleneck, uplink or bottleneck, contracts
        self._workers = "workers: {cores: [0]}\n" if apart and (os.cpu_count() or 1) > 1 else ""
        try:
            self._build(out_link)
        except BaseException:
            self._stack.close()
            raise

    def _build(self, out_link):
        edge, inside = self._stack.enter_context(Lab()), self._stack.enter_context(Lab())
        self.border_namespace, self.core_namespace = edge.router, inside.router
        self.af1 = edge.host("af1", "af1", [f"{AF1}/24"], ["10.1.1.254"])
        self.af3 = edge.host("af3", "af3", [f"{AF3}/24"], ["10.1.3.254"])
        self.be = inside.host("be", "be", [f"{BE}/24"], ["10.3.0.254"])
        self.sink = inside.host("sink", "out", [f"{SINK}/24"], ["10.2.0.254"])
        if out_link is not connect:  # in place of the plain one
            inside.router.ip("link", "del", "out")
            out_link(inside.router, "out", self.sink.namespace, "eth0")
            self.sink.namespace.add_address("eth0", f"{SINK}/24")
            self.sink.namespace.ip("route", "add", "default", "via", "10.2.0.254")
        connect(edge.router, "uplink", inside.router, "downlink")

    def _signalling(self, mode):
        return f"signalling: {{mode: {mode}, key_file: {self.key_file}}}\n" if mode != "off" else ""

    def border(self, mode):
        contracts = f", contracts: {self._contracts}" if self._contracts else ""
        services = "".join(SERVICE % (name, rate, f"{self._packet} B", self._control, self._backlog)
                           for name, rate in zip(("phb1", "phb3"), self._rates))
        return Process(self.border_namespace, f"id: {BORDER_ID}, role: border", f"""{self._workers}
ports:
  af1: {{device: af_xdp af1, addresses: [10.1.1.254/24]}}
  af3: {{device: af_xdp af3, addresses: [10.1.3.254/24]}}
  uplink: {{device: af_xdp uplink, addresses: [10.9.0.1/24], trust: core, queues: rio, shape: {self._uplink}}}
routes: [{{to: 0.0.0.0/0, via: 10.9.0.2}}]
services:
{services}classify:
  - {{match: {{port: af1}}, service: phb1, per: flow{contracts}}}
  - {{match: {{port: af3}}, service: phb3, per: flow{contracts}}}
""" + QUEUES % f"{self._packet} B" + self._signalling(mode))

    def core(self, mode):
        return Process(self.core_namespace, f"id: {CORE_ID}, role: core", f"""
ports:
  downlink: {{device: af_xdp downlink, addresses: [10.9.0.2/24], trust: core}}
  be: {{device: af_xdp be, addresses: [10.3.0.254/24], trust: core}}
  out: {{device: af_xdp out, addresses: [10.2.0.254/24], trust: core, queues: rio, shape: {self._bottleneck}}}
routes: [{{to: 10.1.0.0/16, via: 10.9.0.1}}]
""" + QUEUES % f"{self._packet} B" + self._signalling(mode))

    def meet(self):
        """Everybody knows everybody's MAC address afterwards. By packets marked IN: who sends the core OUT packets is reminded by
        it for some seconds, and `be` is not behind the border that the tests look at."""
        for host in (self.af1, self.af3, self.be):
            host.namespace.run("ping", "-n", "-Q", str(18 << 2), "-c", "2", "-i", "0.2", "-w", "20", SINK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()


def sent(m, result="sent"):
    return m.value("surety_csa_signals_total", direction="sent", result=result)


def received(m):
    """By result, those that occurred."""
    return {labels["result"]: value for labels, value in m.select("surety_csa_signals_total", direction="received") if value}
