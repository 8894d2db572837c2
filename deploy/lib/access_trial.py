# SPDX-License-Identifier: BSD-3-Clause
"""`deploy/try --access`: an access edge with twenty customers on VLANs, busy both ways; one more comes and goes meanwhile."""
import dataclasses
import json
import pathlib
import signal
import statistics
import subprocess
import time

import access
import crowd
import trial
from namespaces import Host, Namespace, prefer
from pings import Pings
from vlans import Trunk, q

HERE = pathlib.Path(__file__).resolve().parent
PORT = 9000
KEPT = 0.98  # of what was promised and asked for
ASKED = 0.85  # of what was promised: 0.9 is sent, and who could not send has proved nothing
PHONE_WITHIN, PHONE_PART = 20, 0.99  # ms one way, of the packets; a full queue of data takes 800
PHONE_SECOND = 50  # packets of a phone
PING_EVERY = 0.01  # s
SENT, RECEIVED, DROPS = range(3)  # of AccessTrial.measure()


class Worker:
    """A process that executes commands (crowd.py); in a session of its own, so that prefer() puts it before all others."""

    def __init__(self, *arguments):
        self._process = subprocess.Popen(["/usr/bin/python3", HERE / "crowd.py", *map(str, arguments)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, start_new_session=True)

    def prefer(self):
        """Before other programs on this machine."""
        prefer(self._process.pid)

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
        self.trunk.prefer()
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
        self.sink, self.crowd = Worker("sink"), Worker("send")
        self.workers += [self.sink, self.crowd]
        for worker in self.workers:
            worker.prefer()
        self.sink.tell("listen", None, self.namespaces["far"].name, PORT)
        for c in access.CUSTOMERS:
            self.send(c)
        for c in access.PHONES:
            self._call(c)
        for c in access.CUSTOMERS:
            if c.behaviour == "spoofer":
                for victim in access.CUSTOMERS[:3]:
                    self._flow(f"{c.name} as {victim.name}", self.hosts[c.name], victim.address, 1)
            if c.behaviour == "foreign VLANs":
                self._flow(f"{c.name} elsewhere", self._elsewhere(c), None, 1)

    def send(self, c):
        """Both ways."""
        host = self.hosts[c.name].namespace
        self._flow(c.name, self.hosts[c.name], None, c.demand)
        self.sink.tell("listen", down(c), host.name, PORT)
        self.crowd.tell("flow", down(c), self.namespaces["far"].name, None, c.address, PORT, c.demand_down)

    def hang_up(self, c):
        for label in (c.name, down(c)):
            self.crowd.tell("end", label)

    def _call(self, c):
        """His phone, both ways."""
        here, far = self.hosts[c.name].namespace.name, self.namespaces["far"].name
        for way, source, sink, address in (("up", here, far, access.FAR), ("down", far, here, c.address)):
            self.sink.tell("listen", phone(c, way), sink, c.phone_port, True)
            self.crowd.tell("flow", phone(c, way), source, None, address, c.phone_port, access.PHONE_MBITS, access.PHONE_BYTES, access.EF << 2)

    def _flow(self, label, host, source, mbits):
        self.crowd.tell("flow", label, host.namespace.name, source, access.FAR, PORT, mbits)

    def _elsewhere(self, c):
        """The same customer behind a tag that nobody has bought."""
        host = self.trunk.customer(f"{c.name}-elsewhere", q(access.NOBODYS_VLAN), [f"{c.address}/24"], [c.gateway])
        host.namespace.ip("neigh", "replace", c.gateway, "lladdr", self.namespaces["router"].mac("access0"), "dev", "eth0", "nud", "permanent")
        return host

    def measure(self):
        """Each side's counts have the time at which it made them: the rates do not depend on what this machine did in between."""
        return self.crowd.tell("counts"), self.sink.tell("counts"), self.scrape().drops()

    def reload(self, customers):
        """Whoever has an interface from now on; the seconds until the router says that it is so."""
        before = self.scrape().value("surety_config_reloads_total")
        (self.directory / "router.yaml").write_text(access.router_yaml(self.prefix, customers))
        began = time.monotonic()
        self.router.send_signal(signal.SIGHUP)
        self._wait(lambda: self.scrape().value("surety_config_reloads_total") > before, "the router does not take the new configuration")
        return time.monotonic() - began

    def remove(self):
        for worker in self.workers:
            worker.end()
        if self.trunk is not None:
            self.trunk.remove()
        super().remove()


def down(c):
    return f"{c.name} down"


def phone(c, way):
    return f"{c.name} phone {way}"


@dataclasses.dataclass(frozen=True)
class Window:
    """What lies between two measurements."""
    before: tuple
    now: tuple

    def mbits(self, what, label, size=crowd.PACKET):
        (began, before), (ended, now) = self.before[what], self.now[what]
        return (now.get(label, 0) - before.get(label, 0)) * size * 8 / (ended - began) / 1e6

    def asked(self, label):
        return self.mbits(SENT, label)

    def up(self, c):
        """Asked and delivered."""
        return self.asked(c.name), self.mbits(RECEIVED, c.address)

    def down(self, c):
        """The phone's is part of what he bought."""
        return tuple(self.mbits(what, down(c)) + self.mbits(what, phone(c, "down"), access.PHONE_BYTES) for what in (SENT, RECEIVED))


def row(c, window):
    """A line of the table, and whether what was bought was there in both directions."""
    ways = [window.up(c), window.down(c)]
    kept = all(asked >= ASKED * c.mbits and delivered >= KEPT * min(asked, c.mbits) for asked, delivered in ways)
    kept = kept and ways[1][1] <= c.mbits / KEPT  # upstream he may have what others leave, too
    figures = "".join(f"{asked:>9.2f}{delivered:>11.2f}" for asked, delivered in ways)
    return f"{c.name:<9}{c.written_tags:<9}{c.behaviour or '-':<15}{c.mbits:>9.2f}{figures}  {'met' if kept else 'MISSED'}", kept


def table(customers, window):
    rows = [row(c, window) for c in customers]
    head = f"{'customer':<9}{'tags':<9}{'misbehaves':<15}{'committed':>9}" + f"{'offered':>9}{'delivered':>11}" * 2 + "  Mbit/s, up and down"
    return [head, *(text for text, _ in rows)], all(kept for _, kept in rows)


def part(delays):
    """What PHONE_PART of these packets took at most."""
    return sorted(delays)[int(PHONE_PART * len(delays))]


def phone_line(c, way, delays):
    """How long the packets of a phone were under way, and whether that was short enough: in most seconds, because a machine that stops
    all programs for some milliseconds now and then makes every program's packets late. Packets behind data are late in all of them."""
    seconds = [part(delays[i:i + PHONE_SECOND]) for i in range(0, len(delays) - PHONE_SECOND + 1, PHONE_SECOND)]
    if not seconds:
        return f"  {c.name} ({c.behaviour or 'behaves'}) {way}: {len(delays)} packets", False
    usual = statistics.median(seconds)
    return (f"  {c.name} ({c.behaviour or 'behaves'}) {way}: {PHONE_PART:.0%} of {len(delays)} packets within {part(delays):.1f} ms, "
            f"within {usual:.1f} ms in most seconds"), usual <= PHONE_WITHIN


def phones(t):
    lines = [phone_line(c, way, t.sink.tell("delays", phone(c, way))) for c in access.PHONES for way in ("up", "down")]
    return [text for text, _ in lines], all(kept for _, kept in lines)


def change(t, say, pause):
    """One more comes and goes while two others ping; whether nobody has lost anything for it."""
    watched = [access.CUSTOMERS[0], access.CUSTOMERS[1]]
    pings = Pings([(t.hosts[c.name], access.FAR) for c in watched], max(600, int((pause + 3) / PING_EVERY)), PING_EVERY)
    t.join(access.NEWCOMER)
    seconds = t.reload([*access.CUSTOMERS, access.NEWCOMER])
    say(f"SIGHUP: {access.NEWCOMER.name} is added; {seconds:.2f} s until the router says so")
    t.send(access.NEWCOMER)
    before = t.measure()
    time.sleep(pause)
    text, kept = row(access.NEWCOMER, Window(before, t.measure()))
    t.hang_up(access.NEWCOMER)
    time.sleep(0.1)
    t.reload(access.CUSTOMERS)
    say(f"SIGHUP: {access.NEWCOMER.name} is removed. Its rates:")
    print(f"  {text}", flush=True)
    with pings:
        answered = pings.results()
    for c, (sent, received) in zip(watched, answered):
        print(f"  {c.name} meanwhile: {received} of {sent} pings answered", flush=True)
    return kept and all(sent == received for sent, received in answered)


def report_drops(before, now):
    """Whose packets were dropped can be told from the reasons: nobody else gives cause for them."""
    drops = {reason: n - before[DROPS].get(reason, 0) for reason, n in now[DROPS].items() if n > before[DROPS].get(reason, 0)}
    (_, sent_before), (_, sent) = before[SENT], now[SENT]
    spoofed, elsewhere = (sum(n - sent_before.get(label, 0) for label, n in sent.items() if word in label) for word in (" as ", " elsewhere"))
    print(f"\nSent in others' names: {spoofed}, dropped as source_check: {drops.get('source_check', 0):.0f}. "
          f"On a VLAN without a customer: {elsewhere}, dropped as vlan_unknown: {drops.get('vlan_unknown', 0):.0f}.")
    print("All drops: " + (", ".join(f"{reason} {n:.0f}" for reason, n in sorted(drops.items())) or "none"), flush=True)


def run(t, seconds, say):
    say("namespaces, and twenty customers on VLANs behind one port")
    t.build()
    say("router: surety run")
    t.start_router()
    t.meet()
    say(f"all customers send, and the far side sends to each; {seconds} s")
    t.start_traffic()
    time.sleep(1)
    before = t.measure()
    phones(t)  # from now on
    unnoticed = change(t, say, max(2, seconds / 4))
    time.sleep(max(0.0, before[SENT][0] + seconds - time.monotonic()))
    now = t.measure()
    lines, kept = table(access.CUSTOMERS, Window(before, now))
    print("\n" + "\n".join(lines))
    report_drops(before, now)
    lines, heard = phones(t)
    print("\nPhones, beside all that:\n" + "\n".join(lines))
    print(f"\nCommitted rates: {'all met' if kept else 'MISSED'}. Adding and removing one: {'no loss' if unnoticed else 'LOSS'}. "
          f"Phones, at most {PHONE_WITHIN} ms in most seconds: {'all met' if heard else 'MISSED'}.", flush=True)
    return kept and unnoticed and heard
