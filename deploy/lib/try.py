# SPDX-License-Identifier: BSD-3-Clause
"""`deploy/try`: does every customer get the committed rate beside a flood? See --help."""
import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

import access_trial
import customers
import hugepages
import table
import trial
import verdict

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STATE = pathlib.Path("/run/surety-try")  # what a later --clean has to know
WARM_UP = 5  # seconds of TCP's start that no verdict counts
BORN = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - BORN:3.0f} s] {text}", flush=True)


def arguments():
    p = argparse.ArgumentParser(prog="deploy/try", description=(
        f"Four customers share a link of {customers.LINK_MBITS} Mbit/s: three with a committed rate (8, 4 and 2 Mbit/s, "
        f"TCP by iperf3) and one without, which floods it with {customers.FLOOD_MBITS} Mbit/s of UDP. Exit status 0: every "
        f"contract conforms (at least {verdict.LEAST_SHARE:.0%} of the rate was delivered, and at most {verdict.FORGIVEN} second was violated)."))
    p.add_argument("--seconds", type=int, default=30, help="duration of the measurement (30)")
    p.add_argument("--access", action="store_true", help="instead: twenty customers on VLANs behind one port, busy both ways, three of "
                   "whom misbehave and are flooded; one more is added and removed by SIGHUP")
    p.add_argument("--no-qos", action="store_true", help="without contracts, through a FIFO: shows the difference")
    p.add_argument("--keep", action="store_true", help="leave the trial running")
    p.add_argument("--clean", metavar="PREFIX", help="remove a trial that --keep left running")
    p.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/bin/surety", help="the router's program")
    a = p.parse_args()
    if a.access and (a.keep or a.no_qos):
        p.error("--access cannot be combined with --keep or --no-qos")
    if a.seconds <= WARM_UP:
        p.error(f"--seconds must be more than {WARM_UP}: TCP's start takes that long")
    return a


def clean(prefix):
    state = STATE / f"{prefix}.json"
    if not state.exists():
        sys.exit(f"deploy/try: there is no trial {prefix}; there are: {', '.join(p.stem for p in STATE.glob('*.json')) or 'none'}")
    kept = json.loads(state.read_text())
    trial.Trial(prefix, pathlib.Path(kept["directory"]), None, True).remove()
    hugepages.give_back(kept["hugepages"])
    state.unlink()


def remember(prefix, directory, pages):
    STATE.mkdir(exist_ok=True)
    (STATE / f"{prefix}.json").write_text(json.dumps({"directory": str(directory), "hugepages": pages}))


class Screen:
    """Draws over its last picture on a terminal, prints one below the other elsewhere."""

    def __init__(self):
        self.lines = 0

    def draw(self, lines):
        if sys.stdout.isatty():
            print(f"\033[{self.lines}F\033[J" if self.lines else "", end="")
            self.lines = len(lines)
        print("\n".join(lines) if sys.stdout.isatty() else "\n".join([*lines, ""]), flush=True)


def watch(t, seconds, qos):
    """Draws until the end; returns the samples between which the verdict falls."""
    interval = 1 if sys.stdout.isatty() else 5
    start = time.monotonic()
    before, earlier = t.measure()
    first, screen = None, Screen()
    for tick in range(interval, seconds + interval, interval):
        tick = min(tick, seconds)
        time.sleep(max(0.0, start + tick - time.monotonic()))
        now, m = t.measure()
        screen.draw(table.render(tick, customers.CUSTOMERS, before, now, m, earlier, qos))
        before, earlier = now, m
        if first is None and tick >= WARM_UP:
            first = now
    return first, before


def report(first, last, qos):
    print(f"\nVerdict over {last.at - first.at:.0f} s, the first {WARM_UP} s (TCP's start) left out; conformance since the router's start:")
    results = [verdict.judge(c, first, last) for c in customers.CUSTOMERS]
    for r in results:
        print(f"  {verdict.line(r, qos)}")
    got = verdict.mbits(last.flood, first.flood, last.at - first.at)
    print(f"  {verdict.flood_line(customers.FLOOD.name, customers.FLOOD_MBITS, got, qos)}")
    print(f"  {verdict.link_line(customers.LINK_MBITS, first, last, qos)}", flush=True)
    return verdict.shown(results, qos)


def run(t, seconds):
    say("namespaces and veth pairs")
    t.build()
    say("router: surety run" + ("" if t.qos else ", without contracts"))
    t.start_router()
    say("three customers: TCP by iperf3")
    t.start_customers()
    say(f"a flood of {customers.FLOOD_MBITS} Mbit/s of UDP into a link of {customers.LINK_MBITS}; {seconds} s")
    t.start_flood()
    return report(*watch(t, seconds, t.qos), t.qos)


def explain_kept(t):
    print(f"\nStill running. Metrics: ip netns exec {t.namespace('router')} curl http://127.0.0.1:9464/metrics\n"
          f"Tables:   {t.binary} show services --name {t.prefix}\n"
          f"Logs:     {t.directory}\n"
          f"Clean up: {ROOT}/deploy/try --clean {t.prefix}")


def on_signals(handler):
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, handler)


def end(t, pages):
    on_signals(signal.SIG_IGN)
    stopped = t.router is None or t.stop_router()
    t.remove()
    hugepages.give_back(pages)
    (STATE / f"{t.prefix}.json").unlink(missing_ok=True)
    return stopped


def main():
    a = arguments()
    if a.clean:
        return clean(a.clean)
    on_signals(lambda *_: sys.exit("deploy/try: interrupted; cleaning up"))
    prefix = f"st-{os.getpid()}"
    kind = access_trial.AccessTrial if a.access else trial.Trial
    t = kind(prefix, pathlib.Path(tempfile.mkdtemp(prefix="surety-try-")), a.binary.resolve(), not a.no_qos)
    pages = hugepages.reserve()
    remember(prefix, t.directory, pages)
    say(f"huge pages: {hugepages.describe(pages)}")
    keep, stopped = False, True
    try:
        shown = access_trial.run(t, a.seconds, say) if a.access else run(t, a.seconds)
        keep = a.keep
    finally:
        if not keep:
            stopped = end(t, pages)
    if keep:
        explain_kept(t)
    elif not stopped:
        print("The router did not end properly on SIGTERM.", file=sys.stderr)
    return 0 if shown and stopped else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as e:
        sys.exit(f"deploy/try: {e}")
