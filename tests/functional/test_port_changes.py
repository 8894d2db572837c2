# SPDX-License-Identifier: BSD-3-Clause
"""Ports come, go and change by SIGHUP while others are used: nobody else loses a packet, and nothing of a port is left behind."""
import contextlib
import os
import pathlib
import subprocess
import time

import pytest

from harness import Namespace, TcpTransfer, law, transfer, wait_for
from pair import LAN, WAN, Pair
from test_reload import Reloaded
from pings import Pings
from vlan import WIRE, pings

DMZ = ["10.3.0.254/24", "2001:db8:3::fe/64"]
MAC = "02:00:00:00:0d:01"  # of the port where it has no device of the kernel's


def port(name, device, addresses, more=""):
    listed = ", ".join(f'"{a}"' for a in addresses)
    return f"  {name}: {{device: {device}, addresses: [{listed}]{', ' + more if more else ''}}}\n"


class Three(Pair):
    """Hosts a and b behind lan0 and wan0, which stay; c behind dmz0, which comes and goes."""

    def __init__(self, kind):
        super().__init__()
        self._stack = contextlib.ExitStack()
        self.kind, self.base = kind, "af_packet" if kind == "af_packet" else "af_xdp"
        self.device, near = f"{kind} dmz0", self.router
        if kind == "memif":
            directory = "/run/surety"  # where a router that runs may make sockets
            os.makedirs(directory, exist_ok=True)
            near = Namespace("wire")
            self._stack.callback(near.remove)
            self._socket = f"{directory}/sf-{os.getpid()}.sock"
            self.device = f"memif {self._socket} server"
        self.near = near
        whole, self.router = self.router, near
        self.c = self.host("c", "dmz0", ["10.3.0.1/24", "2001:db8:3::1/64"], [a.split("/")[0] for a in DMZ])
        self.router = whole
        if kind == "memif":
            near.sysctl("net.ipv6.conf.dmz0.disable_ipv6=1")
            wire = subprocess.Popen(["/usr/bin/python3", WIRE, self._socket, near.name, "dmz0"])
            self._stack.callback(wire.wait)
            self._stack.callback(wire.kill)

    def __exit__(self, *details):
        self._stack.close()
        super().__exit__(*details)

    def dmz(self, more="", name="dmz0", device=None):
        mac = f'mac: "{MAC}"' if self.kind == "memif" and "mac" not in more else ""
        return port(name, device or self.device, DMZ, ", ".join(filter(None, [mac, more])))

    def yaml(self, dmz="", lan="", first="", rest=""):
        """`dmz`, `first`: lines of further ports, behind the others and before them; the memif socket's directory is a place from the start."""
        return ("ports:\n" + first + port("lan0", f"{self.base} lan0", LAN, lan) + port("wan0", f"{self.base} wan0", WAN, "trust: core") + dmz + rest)


@pytest.fixture(scope="module", params=["af_xdp", "af_packet", "memif"])
def lab(request):
    with Three(request.param) as made:
        yield made


@pytest.fixture
def router(lab):
    with Reloaded(lab.router, lab.yaml()) as running:
        lab.meet()
        yield running
        running.reload(lab.yaml())
        running.settle()


def meet(lab):
    """Host c answers, and is asked from both sides."""
    lab.c.namespace.ip("neigh", "flush", "all")
    wait_for(lambda: pings(lab.c, lab.b.address(4), 1, 0.1, "-W", 1, "-w", 1) == 1)


def kernel_device(lab):
    """What the kernel shows of dmz0: programs, settings and addresses."""
    if lab.kind == "memif":
        return None
    shown = lab.router.ip("-details", "link", "show", "dmz0").stdout + lab.router.ip("address", "show", "dmz0").stdout
    # The empty hook for programs (`clsact`) stays, as it does where a router ends: somebody else may have one there.
    filters = [lab.router.run("tc", "filter", "show", "dev", "dmz0", way, check=False).stdout for way in ("ingress", "egress")]
    settings = [lab.router.run("sysctl", "-n", f"net.{f}.conf.dmz0.{s}").stdout
                for f, s in (("ipv6", "accept_ra"), ("ipv6", "accept_redirects"), ("ipv4", "accept_redirects"))]
    words = ("promiscuity", "xdp", "prog/xdp", "mtu", "10.3.0.254", "2001:db8:3::fe")
    return [f"{w} {l.split(w)[1].split()[0]}" for l in shown.splitlines() for w in words if w in l and l.split(w)[1].split()], filters, settings


def test_others_notice_no_change(lab, router):
    """No ping of two neighbours is lost while the third one's port comes, changes in every way that it can, and goes."""
    other = {"af_xdp": "af_packet dmz0", "af_packet": "af_xdp dmz0", "memif": None}[lab.kind]
    if lab.kind == "af_packet":
        other = None  # its packet buffers are not those of af_xdp
    queues = "queues: {q: [{name: af, dscp: {in: [AF11], out: [BE]}}]}\n"
    texts = [lab.yaml(), lab.yaml(lab.dmz()), lab.yaml(lab.dmz("mtu: 1400")), lab.yaml(lab.dmz("trust: core")), lab.yaml(first=lab.dmz("trust: core")),
             lab.yaml(lab.dmz("queues: q"), rest=queues), lab.yaml(lab.dmz()), lab.yaml(lab.dmz("promiscuous: on")), lab.yaml(lab.dmz(name="other")),
             lab.yaml(lab.dmz('mac: "02:00:00:00:0d:02"')), lab.yaml(lab.dmz() + "  nil: {device: null}\n"),
             lab.yaml(lab.dmz(device=other) if other else lab.dmz(), lan="queues: q", rest=queues)]
    flows = [(lab.a, lab.b.address(4)), (lab.b, lab.a.address(6))]
    while texts:
        with Pings(flows, 300) as running:
            while not running.done():
                if texts:
                    router.reload(texts.pop(0))
                time.sleep(0.01)
            assert running.results() == [(300, 300)] * 2, (router.metrics().drops(), router.stderr())
    assert "refused" not in router.stderr() and "surety: error" not in router.stderr(), router.stderr()
    law(router.metrics())


def test_a_new_port_forwards_at_once_and_leaves_nothing_behind(lab, router):
    before = kernel_device(lab)
    for _ in range(2):
        router.reload(lab.yaml(lab.dmz()))
        began = time.monotonic()
        lab.c.namespace.ip("neigh", "flush", "all")
        if lab.kind == "memif":  # its peer comes when it likes, and the kernel says a second later that the TAP twin has a carrier
            router.until(lambda m: m.value("surety_port_up", port="dmz0") == 1)
            meet(lab)
            began = time.monotonic()
        assert pings(lab.c, lab.b.address(4), 1, 0.1, "-W", 1, "-w", 1) == 1, router.stderr()
        assert pings(lab.c, DMZ[0].split("/")[0], 1, 0.1, "-W", 1, "-w", 1) == 1, "the router itself"
        assert time.monotonic() - began < 1.5
        assert transfer(lab.c, lab.a, 5001, 20, 3_000_000) >= 3_000_000
        assert transfer(lab.a, lab.c, 5002, 20, 3_000_000) >= 3_000_000
        assert "dmz0" in router.show("ports").stdout
        law(router.metrics())
        router.reload(lab.yaml(lab.dmz("mtu: 1400")))
        router.reload(lab.yaml())
        m = router.metrics()
        law(m)
        assert "dmz0" not in router.show("ports").stdout
        assert m.value("surety_port_tx_packets_total", port="(gone)") > 0
        assert not m.select("surety_port_tx_packets_total", port="dmz0") and not m.select("surety_port_up", port="(gone)")
        assert kernel_device(lab) == before
        assert pings(lab.c, lab.b.address(4), 1, 0.1, "-W", 1, "-w", 1) == 0


def test_a_device_that_is_not_there_changes_nothing(lab, router):
    with Pings([(lab.a, lab.b.address(4))], 200) as running:
        router.refuse(lab.yaml(lab.dmz() + port("more", "af_packet nope0", ["10.4.0.254/24"])),
                      "router.yaml:7:", "port more: there is no interface `nope0` here; there are: ",
                      "the configuration is unchanged")
        assert [p for p in router.metrics().ports() if p != "(gone)"] == ["lan0", "wan0"]
        router.reload(lab.yaml(lab.dmz()))
        router.refuse(lab.yaml(lab.dmz(device="af_packet nope0")), "there is no interface `nope0` here")
        router.refuse(lab.yaml(lab.dmz() + port("more", "memif /root/more.sock server", [])), "create sockets only in /run/surety and where it had some")
        meet(lab)
        router.refuse(lab.yaml(lab.dmz("mtu: 9000")), "port dmz0: its packet buffers have room for an mtu of")
        assert pings(lab.c, lab.b.address(4)) == 5
        assert running.results() == [(200, 200)]


def test_one_goes_with_packets_held_and_queued(lab, router):
    shaped = lab.yaml(lab.dmz("shape: 200 kbit/s, burst: 3 kB"), rest="""services:
  csa: {conditioner: csa, rate: 100 kbit/s, in_bucket: 2 packets, out_bucket: 1 packets, buffer: 100 packets, mark: {in: AF11, out: BE}, alpha: {min: 0.1, max: 0.1}}
classify:
  - {match: {port: lan0, protocol: udp, destination_port: 9}, service: csa, per: flow}
""")
    router.reload(shaped)
    meet(lab)
    with lab.a.namespace.socket(2, 2) as held, lab.b.namespace.socket(2, 2) as queued:
        def full():
            """Packets are held by the conditioner and queued at the port: both drain, so more come until one look finds them."""
            for i in range(60):
                held.sendto(bytes(1200), ("10.3.0.1", 9))
                queued.sendto(bytes(1200), ("10.3.0.1", 9))
                queued.sendto(bytes(100), (f"10.3.0.{100 + i % 50}", 9))
            m = router.metrics()
            return m.sum("surety_port_queued_packets", port="dmz0") > 10 and m.sum("surety_port_held_packets") > 5
        wait_for(full, every=0.2)
    with Pings([(lab.a, lab.b.address(4))], 100) as running:
        router.reload(lab.yaml())
        law(router.metrics())
        assert running.results() == [(100, 100)]
    m = router.settle()
    assert m.value("surety_drops_total", port="(gone)", reason="port_gone") > 10
    law(m)


def test_what_goes_on_keeps_its_tokens_and_its_counts(lab, router):
    """A contract beside it does not begin anew."""
    text = lab.yaml(rest="""services:
  police: {conditioner: police, rate: 8 kbit/s, bucket: 20 kB, mark: {in: AF11}}
classify:
  - {match: {port: lan0, protocol: udp}, service: police, per: source}
""")
    router.reload(text)

    def passed(m):
        return m.sum("surety_service_packets_total", service="police")
    with lab.a.namespace.socket(2, 2) as source:
        def send(count):
            """So many more; what the policer has let go by then, and when."""
            for _ in range(count):
                source.sendto(bytes(1000), (lab.b.address(4), 9))
            m = router.until(lambda m: passed(m) + m.sum("surety_drops_total", reason="police") == send.sent + count)
            send.sent += count
            return passed(m), m.value("surety_uptime_seconds")
        send.sent = 0
        at_first, began = send(40)
        assert at_first < 25
        for change in (lab.yaml(lab.dmz()), lab.yaml(first=lab.dmz()), lab.yaml()):
            router.reload(change + text[text.index("services:"):])
            in_all, now = send(10)
        assert in_all <= at_first + 1 + (now - began)  # a packet is 8.2 kbit


def test_many_times_leak_nothing(lab, router):
    def used():
        status = pathlib.Path(f"/proc/{router.process.pid}/status").read_text()
        return (len(os.listdir(f"/proc/{router.process.pid}/fd")), len(os.listdir(f"/proc/{router.process.pid}/task")),
                int(status.split("VmRSS:")[1].split()[0]))
    for _ in range(4):  # whatever is made once
        router.reload(lab.yaml(lab.dmz()))
        meet(lab)
        router.reload(lab.yaml())
    fds, tasks, memory = used()
    for n in range(25):
        router.reload(lab.yaml(lab.dmz(name=f"dmz{n % 3}")))
        if n % 5 == 0:
            meet(lab)
        router.reload(lab.yaml())
    router.settle()

    def given_back():
        """no more descriptors and threads than before"""  # who has just asked for numbers may still be connected
        now = used()
        return now[0] <= fds and now[1] == tasks
    wait_for(given_back)
    after = used()
    assert after[2] < memory + 4_000, "kB"


def test_where_no_ports_may_be_opened(lab):
    with Reloaded(lab.router, lab.yaml()) as router:
        router.path.write_text(router.path.read_text().replace("router: {", "router: {new_ports: off, "))
        router.stop()
        router.start()
        wait_for(router._ready, 60)
        router.refuse(lab.yaml(lab.dmz()), "`router: {new_ports: off}` forbids opening one; restart the router")
        router.reload(lab.yaml(lan="mtu: 1400"))
        lab.meet()


@pytest.mark.parametrize("workers", ["[0, 1]"])
def test_with_two_workers(lab, workers):
    """The port's packets go by both, and nobody else's are lost."""
    with Reloaded(lab.router, lab.yaml(rest=f"workers: {{cores: {workers}}}\n")) as router:
        lab.meet()
        tail = f"workers: {{cores: {workers}}}\n"
        # A window that fits the ring of any device: what a whole window overflows is nobody's test.
        lab.b.namespace.ip("route", "replace", "default", "via", "10.2.0.254", "window", 30_000)
        with Pings([(lab.a, lab.b.address(4)), (lab.b, lab.a.address(6))], 200) as running:
            while not running.done():
                router.reload(lab.yaml(lab.dmz(), rest=tail))
                meet(lab)
                with TcpTransfer(lab.c, lab.b, 5003, congestion="reno") as tcp:
                    wait_for(lambda: tcp.received > 200_000, 10)
                router.reload(lab.yaml(rest=tail))
            assert running.results() == [(200, 200)] * 2, router.metrics().drops()
        lab.b.namespace.ip("route", "replace", "default", "via", "10.2.0.254")
        router.settle()
