# SPDX-License-Identifier: BSD-3-Clause
"""`deploy/try --access`: an access edge with twenty customers on VLANs; one more comes and goes meanwhile."""
import json
import pathlib
import re
import signal
import subprocess
import time

import access
import crowd
import trial
from namespaces import Host, Namespace
from vlans import Trunk, q

HERE = pathlib.Path(__file__).resolve().parent
PORT = 9000
KEPT = 0.98  # of what was promised and asked for
ASKED = 0.85  # of what was promised: 0.95 is sent, and who could not send has proved nothing
PING_EVERY = 0.01  # s
PINGS = re.compile(r"(\d+) packets transmitted, (\d+) received")


class Worker:
    """A process that is told things and answers."""

    def __init__(self, *arguments):
        self._process = subprocess.Popen(["/usr/bin/python3", HERE / "crowd.py", *map(str, arguments)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)

    def tell(self, *words):
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def end(self):
        self._process.kill()
        self._process.communicate()


class AccessTrial(trial.Trial):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.trunk, self.hosts, self.workers = None, {}, []

    def yaml(self):
        return access.router_yaml(self.prefix, access.CUSTOMERS)

    def build(self):
        self.namespaces["router"] = router = Namespace("router", self.prefix)
        self.namespaces["far"] = Host("far", router, "up0", [f"{access.FAR}/24"], ["10.20.0.1"], self.prefix).namespace
        self.trunk = Trunk(router, "access0", self.prefix)
        for c in access.CUSTOMERS:
            self.join(c)

    def join(self, c):
        self.hosts[c.name] = self.trunk.customer(c.name, c.tags, [f"{c.address}/24"], [c.gateway])

    def meet(self):
        """Everybody is known to the router."""
        for c in access.CUSTOMERS:
            self._wait(lambda: self.hosts[c.name].namespace.run("ping", "-n", "-c", 1, "-W", 1, access.FAR, check=False).returncode == 0,
                       f"{c.name} does not get through")

    def start_traffic(self):
        self.sink = Worker("sink", self.namespaces["far"].name, PORT)
        self.crowd = Worker("send")
        self.workers += [self.sink, self.crowd]
        for c in access.CUSTOMERS:
            self.send(c)
            if c.behaviour == "spoofer":
                for victim in access.CUSTOMERS[:3]:
                    self._flow(f"{c.name} as {victim.name}", self.hosts[c.name], victim.address, 1)
            if c.behaviour == "foreign VLANs":
                self._flow(f"{c.name} elsewhere", self._elsewhere(c), None, 1)

    def send(self, c):
        self._flow(c.name, self.hosts[c.name], None, c.demand)

    def _flow(self, label, host, source, mbits):
        self.crowd.tell("flow", label, host.namespace.name, source, access.FAR, PORT, mbits)

    def _elsewhere(self, c):
        """The same customer behind a tag that nobody has bought."""
        host = self.trunk.customer(f"{c.name}-elsewhere", q(access.NOBODYS_VLAN), [f"{c.address}/24"], [c.gateway])
        host.namespace.ip("neigh", "replace", c.gateway, "lladdr", self.namespaces["router"].mac("access0"), "dev", "eth0", "nud", "permanent")
        return host

    def measure(self):
        return time.monotonic(), dict(self.crowd.tell("counts")), dict(self.sink.tell("counts")), self.scrape().drops()

    def reload(self, customers):
        """Whoever has an interface from now on; the seconds until the router says that it is so."""
        before = self.scrape().value("surety_config_reloads_total")
        (self.directory / "router.yaml").write_text(access.router_yaml(self.prefix, customers))
        began = time.monotonic()
        self.router.send_signal(signal.SIGHUP)
        self._wait(lambda: self.scrape().value("surety_config_reloads_total") > before, "the router does not take the new configuration")
        return time.monotonic() - began

    def ping(self, c, count):
        return self.hosts[c.name].namespace.popen("ping", "-n", "-q", "-c", count, "-i", PING_EVERY, "-W", 2, access.FAR)

    def remove(self):
        for worker in self.workers:
            worker.end()
        if self.trunk is not None:
            self.trunk.remove()
        super().remove()


def mbits(packets, seconds):
    return packets * crowd.PACKET * 8 / seconds / 1e6


def row(c, before, now):
    """A line of the table, and whether the promise was kept."""
    seconds = now[0] - before[0]
    asked = mbits(now[1].get(c.name, 0) - before[1].get(c.name, 0), seconds)
    delivered = mbits(now[2].get(c.address, 0) - before[2].get(c.address, 0), seconds)
    kept = asked >= ASKED * c.mbits and delivered >= KEPT * min(asked, c.mbits)
    return f"{c.name:<9}{c.written_tags:<9}{c.behaviour or '-':<15}{c.mbits:>9.2f}{asked:>9.2f}{delivered:>11.2f}  {'kept' if kept else 'BROKEN'}", kept


def table(customers, before, now):
    rows = [row(c, before, now) for c in customers]
    head = f"{'customer':<9}{'tags':<9}{'misbehaves':<15}{'promised':>9}{'asked':>9}{'delivered':>11}  Mbit/s"
    return [head, *(text for text, _ in rows)], all(kept for _, kept in rows)


def change(t, say, pause):
    """One more comes and goes while two others ping; whether nobody has lost anything for it."""
    watched = [access.CUSTOMERS[0], access.CUSTOMERS[1]]
    pings = [t.ping(c, max(600, int((pause + 3) / PING_EVERY))) for c in watched]
    t.join(access.NEWCOMER)
    seconds = t.reload([*access.CUSTOMERS, access.NEWCOMER])
    say(f"SIGHUP: {access.NEWCOMER.name} is added; {seconds:.2f} s until the router says so")
    t.send(access.NEWCOMER)
    before = t.measure()
    time.sleep(pause)
    text, kept = row(access.NEWCOMER, before, t.measure())
    t.crowd.tell("end", access.NEWCOMER.name)
    time.sleep(0.1)
    t.reload(access.CUSTOMERS)
    say(f"SIGHUP: {access.NEWCOMER.name} is removed. It had:")
    print(f"  {text}", flush=True)
    answered = [tuple(map(int, PINGS.search(p.communicate(timeout=60)[0]).groups())) for p in pings]
    for c, (sent, received) in zip(watched, answered):
        print(f"  {c.name} meanwhile: {received} of {sent} pings answered", flush=True)
    return kept and all(sent == received for sent, received in answered)


def report_drops(before, now):
    """Whose packets were dropped can be told from the reasons: nobody else gives cause for them."""
    drops = {reason: n - before[3].get(reason, 0) for reason, n in now[3].items() if n > before[3].get(reason, 0)}
    spoofed, elsewhere = (sum(n - before[1].get(label, 0) for label, n in now[1].items() if word in label) for word in (" as ", " elsewhere"))
    print(f"\nSent in others' names: {spoofed}, dropped as source_check: {drops.get('source_check', 0):.0f}. "
          f"On a VLAN that nobody bought: {elsewhere}, dropped as vlan_unknown: {drops.get('vlan_unknown', 0):.0f}.")
    print("All drops: " + (", ".join(f"{reason} {n:.0f}" for reason, n in sorted(drops.items())) or "none"), flush=True)


def run(t, seconds, say):
    say("namespaces, and twenty customers on VLANs behind one port")
    t.build()
    say("router: surety run")
    t.start_router()
    t.meet()
    say(f"everybody sends; {seconds} s")
    t.start_traffic()
    time.sleep(1)
    before = t.measure()
    unnoticed = change(t, say, max(2, seconds / 4))
    time.sleep(max(0.0, before[0] + seconds - time.monotonic()))
    now = t.measure()
    lines, kept = table(access.CUSTOMERS, before, now)
    print("\n" + "\n".join(lines))
    report_drops(before, now)
    print(f"\nPromises: {'all kept' if kept else 'BROKEN'}. Adding and removing one: {'nobody noticed' if unnoticed else 'NOTICED'}.", flush=True)
    return kept and unnoticed
