# SPDX-License-Identifier: BSD-3-Clause
"""The network of the table "Beside an attacker": a victim, two attackers, a core host, and the router between them.

Host a behind port lan0 is the victim. The neighbour, n, sends through the same port. Host m sends through port lan1. Host b is the core.
SCENES combines device, place (untagged port or VLAN interface) and `per:` pairwise. The router's kernel forwards, as
deploy/frr/sysctl.conf sets it."""
import contextlib
import itertools
import json
from dataclasses import dataclass

from frr import Frr, ospf
from harness import ROOT, Lab, Router, wait_for
from vlans import Trunk, q

CORE, CORE6 = "10.2.0.1", "2001:db8:2::1"
IN_CORE = {"wan0": "10.2.0.0/16"}
NEIGHBOR_MAC = "02:00:00:00:00:6e"
GUESTS = 64  # further addresses of the victim that the router has not met


@dataclass(frozen=True)
class Setting:
    device: str
    place: str  # "port": victim and m are untagged; "vlan": each is behind a VLAN interface
    per: str    # what one contract covers: "source" or "interface"
    rio: bool   # False: IN and OUT share a class that has no `rio:`

    def __str__(self):
        return f"{self.device}, {self.place}, per {self.per}{'' if self.rio else ', no rio'}"


SCENES = [Setting("af_xdp", "port", "interface", True), Setting("af_xdp", "vlan", "source", False),
          Setting("af_packet", "port", "source", True), Setting("af_packet", "vlan", "interface", False)]


@dataclass(frozen=True)
class Origin:
    """Where an attacker sends: the namespace at the far end of the port, and what the router expects there."""
    port: str
    namespace: object
    mac: str
    router: str  # MAC address
    tags: tuple  # VLAN ids, outer first
    subnet: int  # third number of its IPv4 addresses and of its IPv6 prefix

    def address(self, host):
        return f"10.{self.subnet}.0.{host}"

    def address6(self, host):
        return f"2001:db8:{self.subnet}::{host}"


# The uplink carries the victim's 8 Mbit/s beside each attacker's contracts, one attacker at a time: the 10 Mbit/s of `pulse`, or 2 in each
# of two contracts and the one that the excess shares. The rest is best effort. Flows age soon, so that attacks do not meet those of the
# attack before.
YAML = """
ports:
  lan0: {{device: {device} lan0, addresses: [{lan0}], mtu: 1500, shape: 10 Mbit/s, queues: down}}
  lan1: {{device: {device} lan1, addresses: [{lan1}], mtu: 1500}}
  wan0: {{device: {device} wan0, addresses: [10.2.0.254/16, "2001:db8:2::fe/64"], trust: core, shape: 20 Mbit/s, queues: uplink, mtu: 1400}}
interfaces:
{interfaces}
  homes: {{port: lan1, vlan: 40, inner_vlan: 1-200, addresses: [100.64.0.254/16, "2001:db8:40::fe/64"]}}
queues:
  uplink:
    - {{name: control, dscp: [CS6, CS7], priority: strict, limit: 64 packets}}
    - {{name: voice, dscp: [EF], priority: strict, rate: 2 Mbit/s, limit: 64 packets}}
    - {{name: assured, weight: 9, dscp: {{in: [AF11], out: [AF12]}}, limit: 300 packets{rio}}}
    - {{name: rest, weight: 1, dscp: [BE], limit: 200 packets}}
  down:
    - {{name: control, dscp: [CS6, CS7], priority: strict, limit: 64 packets}}
    - {{name: voice, dscp: [EF], priority: strict, limit: 64 packets}}
    - {{name: rest, weight: 1, dscp: [BE], limit: 200 packets}}
services:
  call: {{conditioner: police, rate: 128 kbit/s, bucket: 4 kB, mark: {{in: EF}}}}
  calls: {{conditioner: police, rate: 512 kbit/s, bucket: 16 kB, mark: {{in: EF}}}}
  bought: {{conditioner: token-bucket, rate: 10 Mbit/s, bucket: 60 kB, mark: {{in: AF11, out: AF12}}}}
  small: {{conditioner: token-bucket, rate: 2 Mbit/s, bucket: 12 kB, mark: {{in: AF11, out: AF12}}}}
  pulse: {{conditioner: token-bucket, rate: 10 Mbit/s, bucket: 60 kB, mark: {{in: AF11, out: AF12}}}}
  held: {{conditioner: csa, rate: 64 kbit/s, in_bucket: 4 packets, out_bucket: 1 packets, buffer: 100 packets,
         alpha: {{min: 0.04, max: 0.4, step: 0.02, t1: 30 ms, t2: 90 ms}}, mark: {{in: BE, out: BE}}}}
  metered: {{conditioner: token-bucket, rate: 64 kbit/s, bucket: 4 kB, mark: {{in: BE, out: BE}}}}
  best-effort: {{conditioner: none, mark: {{in: BE}}}}
classify:
{rules}
  - {{match: {{}}, service: best-effort}}
flow_table: {{capacity: 16384, creation_rate: 16384, idle_timeout: 2 s}}
"""
# README's, in parts of the limit.
RIO = ",\n       rio: {average: 0.002, in: {min: 105, max: 180, pmax: 0.01}, out: {min: 15, max: 90, pmax: 0.2}}"
# Of each port its own tags first, then the victim, then what the neighbour bought.
NAMED = [{"match": "interface: homes", "service": "best-effort"},
         *({"match": f"port: lan0, vlan: 30, inner_vlan: {inner}", "service": "metered", "per": "vlan"} for inner in (1, 2, 3, 4)),
         {"match": "port: lan1, vlan: 20", "service": "small", "per": "vlan"},
         {"match": "port: lan1, protocol: udp, destination_port: 5008", "service": "pulse"},
         {"match": "port: lan1, protocol: udp, destination_port: 5010", "service": "metered", "per": "flow"},
         {"match": "port: lan1, protocol: udp, destination_port: 6000", "service": "held", "per": "flow"}]
VOICE = "protocol: udp, destination_port: 5004"
RULES = {
    "source": [{"match": f"port: lan0, source: 10.1.0.0/24, {VOICE}", "service": "call", "per": "flow"},
               {"match": "port: lan0, source: 10.1.0.1/32", "service": "bought", "per": "source"},
               {"match": "port: lan0, source: 10.1.0.0/24", "service": "small"},  # the guests
               {"match": f"port: lan0, {VOICE}", "service": "call", "per": "flow", "contracts": 4},
               {"match": "port: lan0", "service": "small", "per": "source", "contracts": 2},
               {"match": f"port: lan1, {VOICE}", "service": "call", "per": "flow", "contracts": 4},
               {"match": "port: lan1, protocol: udp, destination_port: 5006", "service": "small", "per": "source", "contracts": 2}],
    "interface": [{"match": f"port: lan0, source: 10.1.0.0/24, {VOICE}", "service": "calls", "per": "interface"},
                  {"match": "port: lan0, source: 10.1.0.0/24", "service": "bought", "per": "interface"},
                  {"match": f"port: lan0, {VOICE}", "service": "call", "per": "interface"},
                  {"match": "port: lan0", "service": "small", "per": "interface"},
                  {"match": f"port: lan1, {VOICE}", "service": "call", "per": "interface"},
                  {"match": "port: lan1, protocol: udp, destination_port: 5006", "service": "small", "per": "interface"}]}


def _rule(match, **keys):
    return f"  - {{match: {{{match}}}, " + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def _gateways(subnet):
    return [f"10.{subnet}.0.254/24", f"2001:db8:{subnet}::fe/64"]


def _listed(*subnets):
    return ", ".join(f'"{address}"' for subnet in subnets for address in _gateways(subnet))


def _interface(name, port, vlan, subnet):
    return f"  {name}: {{port: {port}, vlan: {vlan}, addresses: [{_listed(subnet)}]}}"


def yaml_of(setting):
    """The neighbour is untagged only where the victim is and contracts are per source: else both would share one contract."""
    untagged = setting.place == "port"
    beside = untagged and setting.per == "source"
    interfaces = [] if untagged else [_interface("victim", "lan0", 10, 1), _interface("other", "lan1", 11, 3)]
    interfaces += [] if beside else [_interface("neighbour", "lan0", 12, 7)]
    return YAML.format(device=setting.device, interfaces="\n".join(interfaces), rio=RIO if setting.rio else "",
                       lan0=_listed(4, *([1] if untagged else []), *([7] if beside else [])), lan1=_listed(5, *([3] if untagged else [])),
                       rules="\n".join(_rule(**rule) for rule in NAMED + RULES[setting.per]))


class Scene(Lab):
    def __init__(self, setting):
        super().__init__()
        self.setting, self.device, self._trunks, self._guests = setting, setting.device, [], itertools.cycle(range(GUESTS))
        self._forward()
        self.a, near = self._customer("a", "lan0", 10, 1)
        self.m, far = self._customer("m", "lan1", 11, 3)
        self.a.namespace.batch(*(f"address add 10.1.0.{128 + i}/24 dev eth0" for i in range(GUESTS)))
        self.b = self.host("b", "wan0", [f"{CORE}/16", f"{CORE6}/64"], ["10.2.0.254", "2001:db8:2::fe"])
        self.b.namespace.ip("link", "set", "eth0", "mtu", "1400")  # OSPF compares it with wan0's
        tagged = setting.place == "vlan"
        self.origins = {
            "m": Origin("lan1", far, self.m.mac, self.router.mac("lan1"), (11,) if tagged else (), 3),
            "n": Origin("lan0", near, NEIGHBOR_MAC, self.router.mac("lan0"), () if not tagged and setting.per == "source" else (12,), 7)}

    def _forward(self):
        """Sets what this namespace has of deploy/frr/sysctl.conf; some settings exist once per machine."""
        for line in (ROOT / "deploy/frr/sysctl.conf").read_text().splitlines():
            if line and not line.startswith("#"):
                with contextlib.suppress(FileNotFoundError, PermissionError):
                    self.router.sysctl(line.replace(" ", ""))

    def _customer(self, label, port, vlan, subnet):
        """The host, and the namespace at the far end of the port."""
        addresses = [f"10.{subnet}.0.1/24", f"2001:db8:{subnet}::1/64"]
        gateways = [address.split("/")[0] for address in _gateways(subnet)]
        if self.setting.place == "port":
            host = self.host(label, port, addresses, gateways)
            return host, host.namespace
        trunk = Trunk(self.router, port)
        self._trunks.append(trunk)
        if label == "a":
            trunk.prefer()
        return trunk.customer(label, q(vlan), addresses, gateways), trunk.namespace

    def guest(self):
        """An address of the victim's that the router has not met for long."""
        return f"10.1.0.{128 + next(self._guests)}"

    def __exit__(self, *details):
        for trunk in self._trunks:
            trunk.remove()
        super().__exit__(*details)


@contextlib.contextmanager
def running(setting):
    """The scene with its router and an OSPF session that is up."""
    with Scene(setting) as scene, Router(scene.router, yaml_of(setting)) as scene.running:
        core = Frr(scene.b.namespace, ospfd=ospf(CORE, {"eth0": IN_CORE["wan0"]}))
        with Frr(scene.router, ospfd=ospf("10.2.0.254", IN_CORE)) as scene.edge, core:
            wait_for(lambda: neighbor(scene) is not None, 60)
            for host in (scene.a, scene.m):
                for family in (4, 6):
                    host.namespace.run("ping", "-n", "-c", "1", "-w", "20", scene.b.address(family))
            yield scene


def neighbor(scene):
    """How long the OSPF session has been up, in milliseconds; None while it is not."""
    all_of = json.loads(scene.edge.vtysh("show ip ospf neighbor detail json", daemon="ospfd").stdout)["neighbors"]
    for found in all_of.values():
        if found[0]["nbrState"].startswith("Full"):
            return found[0]["lastPrgrsvChangeMsec"]
    return None
