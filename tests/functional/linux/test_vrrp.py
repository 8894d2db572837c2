# SPDX-License-Identifier: BSD-3-Clause
"""A virtual router of two Surety routers fails over, by keepalived and by FRR's vrrpd, without a word in the routers' configuration: pings go on
within a second of the new master's announcement, and a TCP connection survives. One router has af_xdp ports, the other af_packet."""
import contextlib
import shutil
import statistics
import threading
import time

import pytest
from scapy.layers.inet import IP

from frr import installed
from harness import Router, TcpTransfer, UdpSource, Wire, dscp, law, wait_for
from vlan import Access, pings, vlan_yaml
from vrrp_daemons import PATIENCE, Keepalived, PingStream, Site, Vrrpd, own, virtual

pytestmark = [pytest.mark.skipif(not installed() or not shutil.which("keepalived"), reason="needs frr and keepalived"),
              pytest.mark.paced("a backup waits a third of a second for advertisements")]
KINDS = ["af_xdp", "af_packet"]
DAEMONS = {"keepalived": lambda namespace, number: Keepalived(namespace, number, vmac=False),
           "keepalived with use_vmac": lambda namespace, number: Keepalived(namespace, number, vmac=True), "vrrpd": Vrrpd}
VRRP, CS6 = 112, 48
LIMIT = 1  # second, from the announcement on; a median, since the kernel may keep a daemon waiting where others have the cores


@pytest.fixture
def site():
    made = Site()
    yield made
    made.remove()


class Pair:
    """Both routers and their daemons; what goes on between the hosts meanwhile."""

    def __init__(self, site, daemon, classes):
        self.site, self._stack, self.late = site, contextlib.ExitStack(), []
        with contextlib.ExitStack() as stack:
            self.daemons = [DAEMONS[daemon](namespace, number) for number, namespace in enumerate(site.routers)]
            self.routers = [stack.enter_context(site.router(number, kind, classes)) for number, kind in enumerate(KINDS)]
            for d in self.daemons:
                d.start()
                stack.callback(d.end)
            for family in (4, 6):
                wait_for(lambda: site.a.reaches(site.b.address(family)))
            self.wire = stack.enter_context(Wire(site.a))
            self.pings = [PingStream(site.a, site.b.address(family)) for family in (4, 6)]
            for p in self.pings:
                stack.callback(p.stop)
            self.tcp = TcpTransfer(site.a, site.b, 5001, congestion="cubic")
            stack.callback(self.tcp.abort)
            self._stack = stack.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def carries(self, number):
        """The TCP connection goes on, by that router."""
        def sent():
            return self.routers[number].metrics().value("surety_port_tx_bytes_total", port="wan0")
        before, received = sent(), self.tcp.received
        wait_for(lambda: self.tcp.received > received + 200_000 and sent() > before + 200_000)

    def fails_over(self, what, to):
        """what() makes that router the master, which announces it by its first advertisement."""
        self.wire.drain()
        began, action = time.time(), threading.Thread(target=what, daemon=True)
        action.start()
        announcement = self.wire.find(lambda p: IP in p and p[IP].proto == VRRP and p[IP].src == own(to), PATIENCE)
        announced = time.time()
        assert announcement, "\n".join(d.log() for d in self.daemons)
        assert dscp(announcement) == CS6
        wait_for(lambda: all(p.since(announced) for p in self.pings))
        self.late.append(time.time() - announced)
        self.carries(to)
        action.join()
        print(f"announced after {announced - began:.3f} s; gaps {[round(p.longest_gap(began), 3) for p in self.pings]} s")


def advertisements_pass_a_flood(pair):
    """The master's line to host a is offered twice what it carries."""
    def count(name, queue):
        return pair.routers[0].metrics().sum(f"surety_queue_{name}_total", port="lan0", queue=queue)
    before = count("departures", "control")
    with UdpSource(pair.site.b, pair.site.a.address(4), 9) as flood:
        flood.pace(bytes(1400), 3600, 3600)
    assert count("overflow_drops", "rest") > 100
    assert count("departures", "control") > before and count("overflow_drops", "control") == 0


@pytest.mark.parametrize("daemon", DAEMONS)
def test_the_backup_takes_over_and_the_master_comes_back(site, daemon):
    with Pair(site, daemon, classes=daemon == "keepalived with use_vmac") as pair:
        first = pair.daemons[0]
        pair.carries(0)
        pair.fails_over(first.stop, to=1)
        pair.fails_over(first.start, to=0)
        pair.fails_over(lambda: site.links(0, "down"), to=1)
        pair.fails_over(lambda: site.links(0, "up"), to=0)
        if daemon == "keepalived":
            def killed():
                pair.routers[0].process.kill()
                first.kill()
                pair.routers[0].process.wait()
            pair.fails_over(killed, to=1)
            pair.routers[0].start()  # waits itself for the AF_XDP queues of the killed process
            wait_for(pair.routers[0]._ready, PATIENCE)
            pair.fails_over(first.start, to=0)
        assert statistics.median(pair.late) < LIMIT
        if daemon == "keepalived with use_vmac":
            advertisements_pass_a_flood(pair)
        for address in virtual("lan")[:2]:
            assert site.a.reaches(address), "the virtual router answers pings itself"
        for router in pair.routers:
            law(router.metrics())


@pytest.mark.parametrize("device", ["af_xdp", "memif"])
def test_behind_a_tag_the_mirror_has_the_virtual_router(device):
    """The macvlan device is above the TAP mirror of an interface; of a memif port, above the mirror of the port as well."""
    with Access(device) as lab, Router(lab.router, vlan_yaml(lab.device, homes=None, globex=None, cake=None)):
        lab.router.sysctl("net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.rp_filter=0")
        for host, mirror, net in ((lab.named("acme"), "acme", "10.107.0"), *([(lab.untagged(), "acc0", "10.1.0")] if device == "memif" else [])):
            wait_for(lambda: pings(host, lab.up.address(4)) == 5)
            lab.router.batch(f"link add vrrp-{mirror} link {mirror} address 00:00:5e:00:01:0a type macvlan mode bridge", f"link set vrrp-{mirror} up",
                             f"address add {net}.253/24 dev vrrp-{mirror}")
            host.namespace.ip("route", "replace", "default", "via", f"{net}.253")
            wait_for(lambda: pings(host, f"{net}.253") == 5)
            wait_for(lambda: pings(host, lab.up.address(4)) == 5)
            assert "00:00:5e:00:01:0a" in host.namespace.ip("neigh", "show", f"{net}.253").stdout
