#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What customers of a csa service get of an uplink that is idle or flooded: link use, round-trip time under their own load, conformance.

    sudo tests/bench/idle_link.py [--service YAML ...] [--seconds 12] [--surety PROGRAM ...]

Real TCP (cubic, one flow per customer) in network namespaces: 1, 2 and 4 customers of 4 Mbit/s each upload through an uplink of 20 Mbit/s;
`flooded`: another host sends 40 Mbit/s of best effort besides. The RTT is of pings beside the first customer's upload, in its contract; the
wires themselves add less than 1 ms. One row per service and program: those of one case follow each other."""
import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "functional"))
from harness import Lab, Router, UdpSource, wait_for  # noqa: E402
import router as router_module  # noqa: E402  (harness makes its imports possible)

UPLINK, RATE = 20e6, 4e6  # bit/s
CUSTOMERS = 4


def yaml(service):
    ports = "".join(f"  lan{i}: {{device: af_packet lan{i}, addresses: [10.{10 + i}.0.254/24]}}\n" for i in range(CUSTOMERS + 1))
    return f"""ports:
{ports}  wan0: {{device: af_packet wan0, addresses: [10.2.0.254/16], trust: core, shape: 20 Mbit/s, queues: q}}
queues:
  q:
    - {{name: assured, dscp: {{in: [AF11], out: [AF12]}}, weight: 9}}
    - {{name: rest}}
services:
  silver: {service}
classify:
""" + "".join(f"  - {{match: {{port: lan{i}}}, service: silver}}\n" for i in range(CUSTOMERS))


class Scene(Lab):
    def __init__(self):
        super().__init__()
        self.customers = [self.host(f"c{i}", f"lan{i}", [f"10.{10 + i}.0.1/24"], [f"10.{10 + i}.0.254"]) for i in range(CUSTOMERS + 1)]
        self.b = self.host("b", "wan0", ["10.2.0.1/16"], ["10.2.0.254"])


def flood(host, seconds):
    with UdpSource(host, "10.2.0.1", 9) as source:
        source.pace(bytes(1400), 40e6 / 8 / 1428, int(seconds * 40e6 / 8 / 1428))


def measure(scene, service, customers, flooded, seconds):
    import threading
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(Router(scene.router, yaml(service)))
        for i in range(customers):
            process = subprocess.Popen(scene.b.namespace.command("iperf3", "-s", "-1", "-p", 5201 + i), stdout=subprocess.DEVNULL)
            stack.callback(process.kill)
        wait_for(lambda: scene.b.namespace.run("ss", "-Hltn").stdout.count(":52") >= customers)
        ends = []
        if flooded:
            thread = threading.Thread(target=flood, args=(scene.customers[CUSTOMERS], seconds + 3))
            thread.start()
            stack.callback(thread.join)
        for i in range(customers):
            ends.append(subprocess.Popen(scene.customers[i].namespace.command(
                "iperf3", "-c", "10.2.0.1", "-p", 5201 + i, "-C", "cubic", "-t", int(seconds), "-O", 2, "-J"), stdout=subprocess.PIPE, text=True))
        time.sleep(3)
        ping = scene.customers[0].namespace.run("ping", "-i", "0.02", "-c", int((seconds - 2) * 50), "-w", int(seconds), "10.2.0.1", check=False)
        rtts = sorted(float(line.split("time=")[1].split()[0]) for line in ping.stdout.splitlines() if "time=" in line)
        rates = [json.loads(end.communicate()[0])["end"]["sum_received"]["bits_per_second"] / 1e6 for end in ends]
        rows = json.loads(running.show("contracts", "--json").stdout)
        demanding = sum(row["demanding_seconds"] for row in rows)
        met = sum(row["met_seconds"] for row in rows)
        lost = 1 - len(rtts) / int((seconds - 2) * 50)
        return (f"{sum(rates):.2f} | {min(rates):.2f} to {max(rates):.2f} | {rtts[len(rtts) // 2]:.1f} | {rtts[len(rtts) * 99 // 100]:.1f} | "
                f"{100 * lost:.1f} % | {100 * met / max(demanding, 1):.1f} % of {demanding}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--service", action="append", help="YAML of the service")
    parser.add_argument("--surety", action="append", help="the program; default: the release build's")
    parser.add_argument("--seconds", type=float, default=12)
    arguments = parser.parse_args()
    print("| customers | uplink | service | Mbit/s | each | RTT median, ms | p99 | pings lost | conformance |\n|---|---|---|---|---|---|---|---|---|", flush=True)
    with Scene() as scene:
        for customers in (1, 2, 4):
            for flooded in (False, True):
                for program in arguments.surety or [router_module.SURETY]:
                    router_module.SURETY = program
                    for service in arguments.service or ["{rate: 4 Mbit/s, objective: 99 %}"]:
                        row = measure(scene, service, customers, flooded, arguments.seconds)
                        print(f"| {customers} | {'flooded' if flooded else 'idle'} | {program} {service} | {row} |", flush=True)


if __name__ == "__main__":
    main()
