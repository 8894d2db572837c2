# SPDX-License-Identifier: BSD-3-Clause
"""Twenty customers on VLANs behind one port, three of whom misbehave and are flooded: who they are, and the router's configuration for
them. Each has bought the same in both directions: a contract upstream, a shaper and classes downstream."""
import dataclasses

from vlans import q, qinq

LINK_MBITS = 40
STREET_MBITS = 30  # towards the customers
FAR = "10.20.0.2"
OUTER = 200
SOLD = {"basic": 1, "plus": 2}  # Mbit/s, bytes of IP packets
DEMAND = 0.9  # of what was bought, asked for by who behaves; his pings or his phone have room beside that
GREED = 8  # times what was bought
PHONE_MBITS, PHONE_BYTES, PHONE_PORT = 0.08, 200, 5060  # 50 packets a second
EF = 46
# The router shares its core here: after 20 ms without it the shapers still owe their lines nothing.
AWAY = 0.02


@dataclasses.dataclass(frozen=True)
class Customer:
    number: int
    service: str
    behaviour: str = ""

    @property
    def name(self):
        return f"c{self.number}"

    @property
    def tags(self):
        return q(100 + self.number) if self.number % 2 else qinq(OUTER, self.number)

    @property
    def written_tags(self):
        return ".".join(str(vlan) for _, vlan in self.tags)

    @property
    def mbits(self):
        return SOLD[self.service]

    @property
    def demand(self):
        """Mbit/s"""
        return self.mbits * (GREED if self.behaviour == "greedy" else DEMAND)

    @property
    def demand_down(self):
        """Mbit/s sent to him; who misbehaves is flooded, too."""
        return self.mbits * (GREED if self.behaviour in MISBEHAVE.values() else DEMAND)

    @property
    def phone_port(self):
        return PHONE_PORT + self.number

    @property
    def gateway(self):
        return f"10.10.{self.number}.1"

    @property
    def address(self):
        return f"10.10.{self.number}.2"


MISBEHAVE = {5: "greedy", 10: "spoofer", 15: "foreign VLANs"}
CUSTOMERS = [Customer(n, "plus" if n % 4 == 0 else "basic", MISBEHAVE.get(n, "")) for n in range(1, 21)]
NEWCOMER = Customer(21, "plus", "newcomer")
PHONES = [CUSTOMERS[2], CUSTOMERS[4]]  # of one who behaves, and of one who is greedy and flooded
NOBODYS_VLAN = 999


def interface(c):
    if c.number % 2:
        tags = f"vlan: {c.tags[0][1]}"
    else:
        tags = f"vlan: {OUTER}, inner_vlan: {c.number}, vlan_protocol: 802.1ad"
    return f"  {c.name}: {{port: access0, {tags}, addresses: [{c.gateway}/24], {shaper(c.mbits)}, weight: {c.mbits}, queues: down}}"


def shaper(mbits):
    return f"shape: {mbits} Mbit/s, burst: {max(3000, int(mbits * 1e6 / 8 * AWAY))} B"


def service(name, mbits):
    return (f"  {name}: {{conditioner: csa, rate: {mbits} Mbit/s, in_bucket: {20 * mbits} packets, out_bucket: 1 packets, buffer: 50 packets, "
            "alpha: {min: 0.04, max: 0.04}, mark: {in: AF11, out: BE}}")


def router_yaml(name, customers):
    """`customers`: who has an interface and a contract."""
    return "\n".join([
        f"version: 1\nrouter: {{name: {name}}}",
        "ports:",
        f"  access0: {{device: af_xdp access0, {shaper(STREET_MBITS)}}}",
        f"  up0: {{device: af_xdp up0, addresses: [10.20.0.1/24], trust: core, shape: {LINK_MBITS} Mbit/s, burst: 50 kB, queues: uplink}}",
        "interfaces:", *map(interface, customers),
        "queues:",
        "  uplink:",
        "    - {name: voice, dscp: [EF], priority: strict, rate: 4 Mbit/s, limit: 64 packets}",
        "    - name: assured",
        "      dscp: {in: [AF11], out: [BE]}",
        "      limit: 200 packets",
        "      rio: {average: 0.002, in: {min: 100, max: 180, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}",
        "  down:",
        "    - {name: voice, dscp: [EF], priority: strict, rate: 256 kbit/s, limit: 32 packets}",
        # The router's own ARP, which no flood shall cost anybody, and its ICMP errors, of which a spoofer asks for many.
        "    - {name: control, dscp: [CS6], priority: strict, rate: 10 kbit/s, limit: 16 packets}",
        "    - {name: data, dscp: [BE, AF11], limit: 100 packets}",
        "services:", *(service(n, mbits) for n, mbits in SOLD.items()),
        "  phone: {conditioner: police, rate: 256 kbit/s, bucket: 4 kB, mark: {in: EF}}",
        "classify:", *(f"  - {{match: {{interface: {c.name}, protocol: udp, destination_port: {c.phone_port}}}, service: phone, per: interface}}"
                       for c in PHONES),
        *(f"  - {{match: {{interface: {c.name}}}, service: {c.service}, per: interface}}" for c in customers),
        "flow_table: {capacity: 1024, held: 2048 packets}",
        "dpdk: {max_routes: 1024}"]) + "\n"
