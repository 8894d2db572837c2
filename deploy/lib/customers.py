# SPDX-License-Identifier: BSD-3-Clause
"""Who takes part in the trial and what they were promised, and the router's configuration that says so."""
import dataclasses

LINK_MBITS = 20
FLOOD_MBITS = 40
FAR = "10.20.0.2"


@dataclasses.dataclass(frozen=True)
class Customer:
    name: str  # of its namespace, its port and its service
    index: int
    mbits: float  # committed, bytes of IP packets
    congestion_control: str

    @property
    def subnet(self):
        return f"10.11.{self.index}"

    @property
    def address(self):
        return f"{self.subnet}.2"

    @property
    def tcp_port(self):
        return 5200 + self.index


CUSTOMERS = (Customer("gold", 1, 8, "reno"), Customer("silver", 2, 4, "cubic"), Customer("bronze", 3, 2, "reno"))
FLOOD = Customer("flood", 4, 0, "")
EVERYBODY = CUSTOMERS + (FLOOD,)


# The router shares its core here: after 10 ms without it the shaper still owes the link nothing.
SHAPER_BURST = f"{LINK_MBITS * 1000 // 8 * 10} B"


def ports():
    lines = [f"  {c.name}: {{device: af_xdp {c.name}, addresses: [{c.subnet}.1/24]}}" for c in EVERYBODY]
    wan = (f"device: af_xdp wan, addresses: [10.20.0.1/24], trust: core, shape: {LINK_MBITS} Mbit/s, "
           f"burst: {SHAPER_BURST}, queues: uplink")
    return "\n".join(["ports:", *lines, f"  wan: {{{wan}}}"])


# RIO and alpha are those of the CSA paper. Its in-bucket of 10 packets belongs to 1 Mbit/s: 120 ms of the committed rate,
# which is also what the full queue adds to the round-trip time here. A bucket that a window's climb outlasts loses tokens.
IN_BUCKET_PACKETS_PER_MBIT = 10
ASSURED = """\
queues:
  uplink:
    - name: assured
      dscp: {in: [AF11], out: [BE]}
      limit: 200 packets
      rio: {average: 0.002, in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}"""
FIFO = """\
queues:
  uplink:
    - {name: fifo, dscp: [BE], limit: 200 packets}"""


def service(c):
    return f"""\
  {c.name}:
    conditioner: csa
    rate: {c.mbits} Mbit/s
    in_bucket: {c.mbits * IN_BUCKET_PACKETS_PER_MBIT} packets
    out_bucket: 1 packets
    buffer: 100 packets
    alpha: {{min: 0.04, max: 0.4, step: 0.02, t1: 30 ms, t2: 90 ms}}
    mark: {{in: AF11, out: BE}}
    objective: 98 %"""


def services(promised):
    best_effort = "  best-effort: {conditioner: none, mark: {in: BE}}"
    rules = [f"  - {{match: {{port: {c.name}}}, service: {c.name}, per: interface}}" for c in promised]
    rules += [f"  - {{match: {{port: {c.name}}}, service: best-effort}}" for c in EVERYBODY if c not in promised]
    return "\n".join(["services:", *map(service, promised), best_effort, "", "classify:", *rules])


def router_yaml(name, qos):
    """`qos`: with the customers' contracts; otherwise everybody's packets go through one FIFO of the same rate."""
    return "\n\n".join([
        f"version: 1\n\nrouter: {{name: {name}}}",
        ports(),
        ASSURED if qos else FIFO,
        services(CUSTOMERS if qos else ()),
        "flow_table: {capacity: 1024, held: 2048 packets}",
        "dpdk: {max_routes: 1024}",
        "metrics: {report: kept}",  # beside this file: goes with the trial
    ]) + "\n"
