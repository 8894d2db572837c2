#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast `surety-lab run` is beside ns-2 (Debian package ns2) on the same two experiments.

lab_vs_ns2.py [--repetitions 5] [--lab PROGRAM] [--core 1]. The two take turns. Prints wall times (median, minimum,
maximum), CPU times, packet-hops per second and the ratio, and what each says the flows got, which shows that it is the same
experiment; exit status 1 when a ratio is below its target. A packet-hop is one packet through one router or link.
"""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
LAB = HERE.parents[1] / "build/release/bin/surety-lab"
SECONDS = 300
# What stands in lab_*.yaml and ns2/*.tcl: data packets cross three links and two routers, and the last router drops.
LINKS, ROUTERS = 3, 2


@dataclasses.dataclass
class Outcome:
    wall: float
    cpu: float  # of all processes
    hops: int
    throughput: dict  # by flow, bit/s, mean over seeds
    in_share: float


@dataclasses.dataclass
class Case:
    name: str
    scenario: str
    seeds: int
    cores: int  # that may be used
    target: float  # how many times as fast as ns-2 the lab is to be


class Stopwatch:
    """Wall and CPU time of the programs that ran since it was made."""

    def __init__(self):
        self.started = time.monotonic(), self.cpu()

    @staticmethod
    def cpu():
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    def read(self):
        return time.monotonic() - self.started[0], self.cpu() - self.started[1]


def mean_of(runs):
    """Of dictionaries with the same keys."""
    return {key: statistics.mean(run[key] for run in runs) for key in runs[0]}


def confined(command, cores, first):
    """The command on `cores` of the machine's cores, `first` being one of them."""
    if cores == 1:
        return ["taskset", "-c", str(first), *command]
    return command


def read_ns2(text):
    """One run's (hops, throughputs, packets sent by the bottleneck, those of them IN)."""
    flows = {name: (int(sent), int(received)) for name, sent, received in
             re.findall(r"flow=(\w+) sent_packets=(\d+) received_bytes=(\d+)", text)}
    codes = {code: [int(n) for n in counts.split()] for code, counts in re.findall(r"^ *(All|10) +([\d ]+)$", text, re.M)}
    delivered = codes["All"][1]
    feedback = re.search(r"feedback_packets=(\d+)", text)
    answers = int(feedback[1]) if feedback else delivered  # TCP acknowledges every packet
    sent = sum(n for n, _ in flows.values())
    hops = LINKS * sent + ROUTERS * delivered + (LINKS + ROUTERS) * answers
    return hops, {name: received * 8 / SECONDS for name, (_, received) in flows.items()}, delivered, codes["10"][1]


def run_ns2(case, core):
    """A process per seed, as many at a time as there are cores to use."""
    script, texts, running = HERE / "ns2" / f"{case.scenario}.tcl", [], collections.deque()
    started = Stopwatch()
    for seed in range(1, case.seeds + 1):
        if len(running) == case.cores:
            texts.append(finish(running.popleft()))
        command = ["ns", str(script), str(seed), str(SECONDS)]
        running.append(subprocess.Popen(confined(command, case.cores, core), stdout=subprocess.PIPE, text=True))
    texts += [finish(process) for process in running]
    times = started.read()
    runs = [read_ns2(text) for text in texts]
    return Outcome(*times, sum(r[0] for r in runs), mean_of([r[1] for r in runs]), sum(r[3] for r in runs) / sum(r[2] for r in runs))


def finish(process):
    text = process.communicate()[0]
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(process.args)}: exit status {process.returncode}")
    return text


def run_lab(program, case, core):
    command = [str(program), "run", str(HERE / f"lab_{case.scenario}.yaml"), "--json"]
    command += ["--seeds", str(case.seeds)] if case.seeds > 1 else ["--seed", "1"]
    if case.cores == 1:
        command += ["--threads", "1"]
    started = Stopwatch()
    done = subprocess.run(confined(command, case.cores, core), capture_output=True, text=True, check=False)
    times = started.read()
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    runs = [run for run in map(json.loads, done.stdout.splitlines()) if "seed" in run]
    flows = [flow for run in runs for flow in run["flows"]]
    received = sum(flow["received_packets"] for flow in flows)
    elapsed, speed = re.search(r"in ([\d.]+) s: .* ([\d.]+) million hops/s", done.stderr).groups()
    return Outcome(*times, round(float(elapsed) * float(speed) * 1e6),
                   mean_of([{flow["name"]: flow["throughput_bps"] for flow in run["flows"]} for run in runs]),
                   sum(flow["in_share"] * flow["received_packets"] for flow in flows) / received)


def show_times(name, outcomes):
    walls = [o.wall for o in outcomes]
    median = statistics.median(walls)
    cpu = statistics.median(o.cpu for o in outcomes)
    print(f"  {name:<11}{median:7.3f} s  ({min(walls):.3f} - {max(walls):.3f}), CPU {cpu:.3f} s; "
          f"{outcomes[0].hops / 1e6:.2f} million hops, {outcomes[0].hops / median / 1e6:.2f} million/s")
    return median


def compare(case, program, arguments):
    ns2, lab = [], []
    for repetition in range(arguments.repetitions):
        turns = [lambda: ns2.append(run_ns2(case, arguments.core)), lambda: lab.append(run_lab(program, case, arguments.core))]
        for turn in turns if repetition % 2 == 0 else reversed(turns):
            turn()
    print(f"{case.name}:")
    ratio = show_times("ns-2", ns2) / show_times("surety-lab", lab)
    print(f"  ratio      {ratio:7.2f}, target {case.target:.2f}")
    for flow, rate in ns2[0].throughput.items():
        print(f"  {flow:<11}{rate / 1e3:9.1f} and {lab[0].throughput[flow] / 1e3:9.1f} kbit/s")
    print(f"  IN share   {100 * ns2[0].in_share:9.1f} and {100 * lab[0].in_share:9.1f} %")
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--lab", type=pathlib.Path, default=LAB, help="the program")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="of the runs on one core")
    arguments = parser.parse_args()
    if shutil.which("ns") is None:
        sys.exit("there is no `ns` here: apt-get install ns2")
    if not arguments.lab.exists():
        sys.exit(f"there is no {arguments.lab}: build it, or say where it is with --lab")
    cores = len(os.sched_getaffinity(0))
    cases = [Case("four NewReno flows, 300 s, one core", "newreno_rio", 1, 1, 1.5),
             Case("gTFRC Fig. 2(a), 20 seeds, one core", "gtfrc_fig2a", 20, 1, 3),
             Case(f"gTFRC Fig. 2(a), 20 seeds, {cores} cores", "gtfrc_fig2a", 20, cores, 3)]
    met = [compare(case, arguments.lab, arguments) >= case.target for case in cases]
    print(f"{sum(met)} of {len(met)} targets met")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
