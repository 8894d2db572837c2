#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""`surety bench` beside DPDK's own example programs, on the same core, with the same feed, taking turns.

As root: peers.py [--surety PROGRAM] [--flows 1k,64k,1M,4M] [--exits 1] [--repetitions 9] [--core 1]. Builds l3fwd,
qos_meter and qos_sched from the sources of Debian's package dpdk-doc (installed, or fetched with apt-get into --build),
links peer_feed.c into them, and runs each beside the others: all are stopped (SIGSTOP) but the one that is measured.
What a peer transmits is counted as what surety transmits is. Prints in Markdown: TSC cycles per 64-byte packet, feed
and null transmit included, least (and median); the ratio of the least to that of l3fwd's longest-prefix match in the
same run, and the aim for it; and how many times as fast as the others surety is. l3fwd's exact match and qos_sched have
no row at 64k and 4M flows, qos_meter only at 1k.

`--exits` is the number of ports by which surety and l3fwd's longest-prefix match send, at random: to a single one l3fwd
passes on the burst as it came, for two it sorts it.

A line of each of the examples is changed (PATCHES): net_null has no checksum offload, and qos_sched wants a CPU for each
of its three lcores, of which one only prints. They are compiled for this machine (-march=native), surety is not.
l3fwd's exact-match table is filled with all flows of the feed; its longest-prefix match and qos_meter know nothing of
flows. qos_sched needs two cores, one that receives and one that schedules and transmits: the cycles are those of the
second, so the feed is not in them. Its traffic is the same for any number of flows: 16 for each of its 4096 pipes,
evenly, as its profile of rates wants it.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import select
import shlex
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTALLED = pathlib.Path("/usr/share/dpdk/examples")
HUGEPAGES = pathlib.Path("/proc/sys/vm/nr_hugepages")
NEEDED_PAGES = 4600  # surety with a million routes 2000, l3fwd's tables for 4 million flows 800, the others 64 each
PATCHES = {"l3fwd": ("main.c", "s/RTE_ETH_RX_OFFLOAD_CHECKSUM/0/"),
           "qos_meter": ("main.c", "s/RTE_ETH_RX_OFFLOAD_CHECKSUM/0/"),
           "qos_sched": ("args.c", "s/nb_lcores = app_cpu_core_count();/nb_lcores = 3; (void)app_cpu_core_count;/")}
SOURCES = {"l3fwd": ["main.c", "l3fwd_acl.c", "l3fwd_lpm.c", "l3fwd_fib.c", "l3fwd_em.c", "l3fwd_event.c",
                     "l3fwd_event_generic.c", "l3fwd_event_internal_port.c"],
           "qos_meter": ["main.c", "rte_policer.c"],
           "qos_sched": ["app_thread.c", "args.c", "cfg_file.c", "cmdline.c", "init.c", "main.c", "stats.c"]}
REAL_TIME = ["chrt", "-r", "5"]
PIPES = 4096  # of qos_sched's profile
LPM, EXACT, SCHED = "l3fwd, longest prefix match", "l3fwd, exact match", f"qos_sched, {PIPES} pipes (two cores)"
PATHS = ["forward", "everything", "core"]  # of both families; the anchor is l3fwd itself
# At most so many times the cycles of l3fwd's longest-prefix match, by number of flows. IPv6 may cost a fifth more.
EDGE = {1000: 2.4, 64_000: 2.5, 1_000_000: 2.8, 4_000_000: 3.2}
AIMS = {"surety, everything": EDGE,
        "surety, everything, IPv6": {flows: 1.2 * ratio for flows, ratio in EDGE.items()},
        "surety, core": {1000: 1.9, 64_000: 2.0, 1_000_000: 2.2, 4_000_000: 2.2},
        "surety, forward": {1000: 1.4, 64_000: 1.5, 1_000_000: 1.6, 4_000_000: 1.6}}
# At least so many times as fast.
RATES = [("surety, everything", EXACT, {1_000_000: 1.0}),
         ("surety, everything", SCHED, {1000: 2.2, 1_000_000: 2.2}),
         ("surety, core", EXACT, {}), ("surety, core", SCHED, {})]
LOADED_ROUTE = "R2001:db8::1 2001:db8::2 9 9 17 0\n"  # l3fwd wants rules of both families


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def examples(build):
    """The directory of the examples' sources."""
    if (INSTALLED / "l3fwd").is_dir():
        return INSTALLED
    unpacked = build / "dpdk-doc"
    if not unpacked.is_dir():
        version = run("dpkg-query", "-W", "-f", "${Version}", "libdpdk-dev")
        run("apt-get", "download", f"dpdk-doc={version}", cwd=build)
        run("dpkg-deb", "-x", str(next(build.glob("dpdk-doc_*.deb"))), str(unpacked))
    return unpacked / "usr/share/dpdk/examples"


def build_peer(name, build):
    """The program; built once."""
    program = build / name
    feed = HERE / "peer_feed.c"
    if program.exists() and program.stat().st_mtime > feed.stat().st_mtime:
        return program
    source = build / "src"
    source.mkdir(exist_ok=True)
    for directory in (name, "common"):
        run("cp", "-rT", str(examples(build) / directory), str(source / directory))
    file, patch = PATCHES[name]
    run("sed", "-i", patch, str(source / name / file))
    flags = ["-O3", *shlex.split(run("pkg-config", "--cflags", "libdpdk")), "-march=native",
             "-DALLOW_EXPERIMENTAL_API", f"-I{source}/common"]
    run("cc", *flags, "-w", *[str(source / name / file) for file in SOURCES[name]], str(feed), "-o", str(program),
        "-Wl,--wrap=rte_eth_dev_start", *shlex.split(run("pkg-config", "--libs", "libdpdk")), "-lm")
    return program


@contextlib.contextmanager
def hugepages(count):
    """At least so many, given back afterwards."""
    before = int(HUGEPAGES.read_text())
    HUGEPAGES.write_text(str(max(before, count)))
    try:
        if int(HUGEPAGES.read_text()) < count:
            sys.exit(f"{count} hugepages of 2 MB are needed, there is memory for {HUGEPAGES.read_text().strip()}")
        yield
    finally:
        HUGEPAGES.write_text(str(before))


class Peer:
    """An example program, stopped but while it is measured."""

    def __init__(self, label, command, environment, patience=180, least_forwarded=0.0):
        """`least_forwarded`: of what it receives; a measurement with less does not count, and ends with an error."""
        self.label = label
        self.least_forwarded = least_forwarded
        self.read_end, write_end = os.pipe()
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment, "PEER_FD": str(write_end)}, pass_fds=[write_end],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write_end)
        self.lines(1, patience)
        self.process.send_signal(signal.SIGSTOP)

    def lines(self, count, patience):
        text, end = b"", time.monotonic() + patience
        while text.count(b"\n") < count:
            if not select.select([self.read_end], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError(f"{self.label} transmits nothing")
            read = os.read(self.read_end, 4096)
            if not read:
                raise RuntimeError(f"{self.label} has ended, status {self.process.wait()}")
            text += read
        return [[float(word) for word in line.split()] for line in text.split(b"\n")[:count]]

    def measure(self):
        """Cycles per packet of the second whole block: the one that it was stopped in, and the one that warms the
        caches up again, do not count."""
        while select.select([self.read_end], [], [], 0)[0]:
            os.read(self.read_end, 4096)
        self.process.send_signal(signal.SIGCONT)
        cycles, forwarded = self.lines(3, 60)[2]
        self.process.send_signal(signal.SIGSTOP)
        if forwarded < self.least_forwarded:
            raise RuntimeError(f"{self.label} forwards only {forwarded:.1%} of its packets")
        return {self.label: cycles}

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.read_end)


class Surety:
    """`surety bench --step`: it waits for us by itself."""

    def __init__(self, program, flows, core, exits):
        self.process = subprocess.Popen(
            [*pinned(core), program, "bench", "--step", "--families", "4,6", "--flows", str(flows), "--core", str(core),
             "--exits", str(exits), "--paths", ",".join(PATHS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"surety bench has ended, status {self.process.wait()}")
        return {f"surety, {path}": cycles for path, cycles in json.loads(line).items()}

    def close(self):
        self.process.stdin.close()
        if self.process.wait(60) != 0:
            raise RuntimeError("surety bench says that its rows do not count")


def pinned(core):
    return [*REAL_TIME, "taskset", "-c", str(core)]


def eal(lcores, name, exits=1):
    vdevs = [argument for port in range(exits + 1)
             for argument in ("--vdev", f"net_null{port},copy=0" + (",no-rx=1" if port > 0 else ""))]
    return ["--lcores", lcores, "--in-memory", "--no-pci", "--no-telemetry", "--log-level", "3", "--file-prefix", name,
            *vdevs, "--"]


def l3fwd(build, flows, core, lookup, exits=1):
    rules, other = build / f"rules.{lookup}", build / "rules.ipv6"
    environment = {"PEER_FLOWS": str(flows)}
    if lookup == "em":
        environment["PEER_RULES"] = str(rules)  # written by the feed itself, before main()
        other.write_text(LOADED_ROUTE)
    else:
        # 16.0.0.0/8, where all destinations are: as 256 of /16 they touch as much of the table as 65536 of /24.
        rules.write_text("".join(f"R16.{i}.0.0/16 {1 + i % exits}\n" for i in range(256)))
        other.write_text("R2001:db8::/64 0\n")
    try:
        return Peer(EXACT if lookup == "em" else LPM,
                    [*pinned(core), str(build_peer("l3fwd", build)), *eal(f"0@{core}", f"peer-{lookup}", exits),
                     "-p", hex(2 ** (exits + 1) - 1), "-P", "--config", "(0,0,0)", "--lookup", lookup, "--rule_ipv4",
                     str(rules), "--rule_ipv6", str(other), "--parse-ptype"], environment, least_forwarded=0.999)
    finally:
        rules.unlink(missing_ok=True)


def qos_meter(build, flows, core):
    return Peer("qos_meter, srTCM", [*pinned(core), str(build_peer("qos_meter", build)),
                                     *eal(f"0@{core}", "peer-meter"), "-p", "3"], {"PEER_FLOWS": str(flows)})


def qos_sched(build, core):
    """lcores: 0 prints, 1 receives, both on another core; 2 schedules and transmits."""
    program = build_peer("qos_sched", build)
    other = 0 if core != 0 else 1
    return Peer(SCHED,
                [*REAL_TIME, str(program),
                 *eal(f"0@{other},1@{other},2@{core}", "peer-sched"), "--mnc", "0", "--pfc", "0,1,1,2", "--msz", "65535",
                 "--cfg", str(build / "src/qos_sched/profile.cfg")],
                {"PEER_FLOWS": str(16 * PIPES), "PEER_PIPES": str(PIPES), "PEER_BLOCK": "1000000"})


def measure(options, flows):
    """Cycles by label: a list, one per repetition."""
    programs, cycles = [], {}
    starts = [lambda: Surety(options.surety, flows, options.core, options.exits),
              lambda: l3fwd(options.build, flows, options.core, "lpm", options.exits)]
    if flows in (1000, 1_000_000):
        starts += [lambda: l3fwd(options.build, flows, options.core, "em"),
                   lambda: qos_sched(options.build, options.core)]
    if flows == 1000:
        starts.append(lambda: qos_meter(options.build, flows, options.core))
    try:
        for start in starts:
            try:
                programs.append(start())
            except (RuntimeError, subprocess.CalledProcessError) as error:
                print(f"left out: {error} {getattr(error, 'stderr', '') or ''}", file=sys.stderr)
        for _ in range(options.repetitions):
            for program in programs:
                for label, value in program.measure().items():
                    cycles.setdefault(label, []).append(value)
    finally:
        for program in programs:
            program.close()
    return cycles


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    dpdk = run("pkg-config", "--modversion", "libdpdk").strip()
    return f"{cpu}, {os.cpu_count()} cores, Linux {os.uname().release}, DPDK {dpdk}"


def size(text):
    return int(float(text.rstrip("kM")) * {"k": 1000, "M": 1000000}.get(text[-1], 1))


def judged(is_met, figure, aim):
    return figure if aim is None else f"{figure}, aim {aim:.2f} {'met' if is_met else '**missed**'}"


def cost(label, flows, result):
    """A cell of the table of cycles."""
    if label not in result:
        return "-"
    least = min(result[label])
    cell = f"{least:.1f} ({statistics.median(result[label]):.1f})"
    if not label.startswith("surety") or LPM not in result:
        return cell
    ratio, aim = least / min(result[LPM]), AIMS.get(label, {}).get(flows)
    return f"{cell}: " + judged(aim is None or ratio <= aim, f"{ratio:.2f}", aim)


def rate(ours, peer, aims, flows, result):
    if ours not in result or peer not in result:
        return "-"
    ratio, aim = min(result[peer]) / min(result[ours]), aims.get(flows)
    return judged(aim is None or ratio >= aim, f"{ratio:.2f}", aim)


def table(results):
    """`results`: by number of flows."""
    yield "| least cycles (median): least / l3fwd's | " + " | ".join(f"{f} flows" for f in results) + " |"
    yield "|---|" + "---|" * len(results)
    for label in dict.fromkeys(label for r in results.values() for label in r):
        yield f"| {label} | " + " | ".join(cost(label, f, r) for f, r in results.items()) + " |"
    yield "| **rate, times that of** | " + "| " * len(results) + "|"
    for ours, peer, aims in RATES:
        yield f"| {ours} / {peer} | " + " | ".join(rate(ours, peer, aims, f, r) for f, r in results.items()) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--surety", default=str(ROOT / "build/release/bin/surety"))
    parser.add_argument("--flows", default="1k,64k,1M,4M")
    parser.add_argument("--exits", type=int, choices=range(1, 17), metavar="1..16", default=1)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--core", type=int, default=os.cpu_count() - 1)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/peers")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.build.mkdir(parents=True, exist_ok=True)
    flow_counts = [size(text) for text in options.flows.split(",")]
    start = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # what was started is ended, and pages given back
    with hugepages(NEEDED_PAGES):
        results = {flows: measure(options, flows) for flows in flow_counts}
    print(f"{machine()}; exits: {options.exits}; least and median of {options.repetitions}; {time.monotonic() - start:.0f} s in all\n")
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
