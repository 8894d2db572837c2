# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces come, go and change while others are used; links flap; routers start again; and nobody takes what is another's."""
import re
import threading
import time

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether

from frr import Frr, installed, ospf
from harness import ROOT, SURETY, TcpTransfer, Wire, law, sh, udp_to, wait_for
from test_reload import Reloaded
from pings import Pings
from vlan import Access, bare, pings, q, qinq, tagged, tags_of, vlan_yaml

DEVICES = ["af_xdp", "af_packet", "memif"]
CONVERGE = 60


@pytest.fixture(scope="module", params=DEVICES)
def lab(request):
    with Access(request.param) as made:
        for name in ("acme", "globex", "cake"):
            setattr(made, name, made.named(name))
        made.homes = {n: made.home(n) for n in (1, 2, 300)}
        yield made


def everybody(lab):
    return (lab.acme, lab.globex, lab.cake, *lab.homes.values())


@pytest.fixture(scope="module")
def running(lab):
    with Reloaded(lab.router, vlan_yaml(lab.device)) as made:
        yield made


@pytest.fixture
def router(lab, running):
    """The lab's router with the lab's configuration; all customers know it, and it knows them."""
    running.reload(vlan_yaml(lab.device))
    meetings = [host.namespace.popen("ping", "-n", "-q", "-c", 1, "-i", 0.2, "-w", 20, lab.up.address(family))
                for host in everybody(lab) for family in (4, 6)]
    assert [p.communicate() and p.returncode for p in meetings] == [0] * len(meetings)
    yield running
    running.settle()


def unanswered(router, host, address, reason):
    """Pings are dropped by this name, and none is answered."""
    before = router.metrics().drops("acc0").get(reason, 0)
    assert host.namespace.run("ping", "-n", "-q", "-c", 2, "-i", 0.05, "-W", 0.2, address, check=False).returncode == 1
    router.until(lambda m: m.drops("acc0").get(reason, 0) > before)


def later(lab):
    """One more customer, whose interface is not there from the beginning."""
    return lab.trunk.customer("later", q(500), ["10.150.0.1/24"], ["10.150.0.254"])


LATER = "  later: {port: acc0, vlan: 500, addresses: [10.150.0.254/24]}\n"


@pytest.mark.paced("no ping may be late")
def test_others_notice_no_change(lab, router):
    """600 pings each of three customers, and a TCP connection of a fourth, while interfaces come, go and change their addresses."""
    more = later(lab)
    flows = [(lab.acme, lab.up.address(4)), (lab.globex, lab.up.address(6)), (lab.homes[300], lab.up.address(4))]
    texts = [vlan_yaml(lab.device, more=LATER), vlan_yaml(lab.device, cake=None, more=LATER),
             vlan_yaml(lab.device, cake="mtu: 1400", more=LATER.replace("254/24", "254/24, 10.151.0.254/24")), vlan_yaml(lab.device, cake=None),
             vlan_yaml(lab.device, more=LATER.replace("500", "501")), vlan_yaml(lab.device)]
    # A window that fits the ring of any device: AF_PACKET's has 512 frames, and what a whole window overflows is nobody's test.
    lab.up.namespace.ip("route", "replace", "default", "via", "10.2.0.254", "window", 30_000)
    try:
        with TcpTransfer(lab.homes[1], lab.up, 5001, congestion="reno") as tcp, Pings(flows) as running:
            turns, before = 0, tcp.received
            while not running.done():
                router.reload(texts[turns % len(texts)])
                turns += 1
                time.sleep(0.2)
            assert running.results() == [(600, 600)] * 3, router.metrics().drops()
            assert turns >= 6
            moved = tcp.received - before
            wait_for(lambda: tcp.received - before > moved, 5)
    finally:
        lab.up.namespace.ip("route", "replace", "default", "via", "10.2.0.254")
        lab.trunk.leave(more)
    router.reload(vlan_yaml(lab.device))
    assert pings(lab.cake, lab.up.address(4)) == 5


def test_a_new_interface_is_there_at_once_and_gone_at_once(lab, router):
    more = later(lab)
    try:
        unanswered(router, more, lab.up.address(4), "vlan_unknown")
        more.namespace.ip("neigh", "flush", "all")  # it has asked in vain, and would give up
        router.reload(vlan_yaml(lab.device, more=LATER))
        assert pings(more, lab.up.address(4)) == 5
        assert "later" in router.show("interfaces").stdout and "10.150.0.254" in lab.router.ip("address").stdout
        router.reload(vlan_yaml(lab.device))
        unanswered(router, more, lab.up.address(4), "vlan_unknown")
        assert "later" not in router.show("interfaces").stdout and "later" not in lab.router.ip("address").stdout
        assert not router.metrics().select("surety_interface_rx_packets_total", interface="later")
    finally:
        lab.trunk.leave(more)


def test_one_goes_with_packets_held_and_queued(lab, router):
    """Its queue is full, and somebody there who does not answer is waited for."""
    shaped = vlan_yaml(lab.device, port=", shape: 200 kbit/s, burst: 3 kB", more=LATER)
    plain = vlan_yaml(lab.device, more=LATER)
    more = later(lab)
    try:
        router.reload(plain)
        assert pings(more, lab.up.address(4)) == 5
        router.reload(shaped)
        with lab.up.namespace.socket(2, 2) as source:
            def full():
                """Packets are queued: they drain, so more come until one look finds them."""
                for i in range(100):
                    source.sendto(bytes(1200), ("10.150.0.1", 9))
                    source.sendto(bytes(100), (f"10.150.0.{100 + i % 50}", 9))
                return router.metrics().sum("surety_port_queued_packets", port="acc0") > 30
            wait_for(full, every=0.2)
        router.reload(vlan_yaml(lab.device, port=", shape: 200 kbit/s, burst: 3 kB"))
        law(router.metrics())
        router.reload(vlan_yaml(lab.device))
        router.settle()
        router.reload(plain)  # and comes back
        assert pings(more, lab.up.address(4)) == 5
        router.reload(vlan_yaml(lab.device))
    finally:
        lab.trunk.leave(more)
    assert pings(lab.acme, lab.up.address(4)) == 5


def test_addresses_of_an_interface_change(lab, router):
    acme = lab.acme.namespace
    second = vlan_yaml(lab.device, more="").replace("10.107.0.254/24,", "10.107.0.254/24, 10.157.0.254/24,")
    try:
        acme.add_address("eth0", "10.157.0.1/24")
        with Pings([(lab.acme, lab.up.address(4))], 200) as steady:
            router.reload(second)
            assert pings(lab.acme, "10.157.0.254") == 5
            assert pings(lab.up, "10.157.0.1") == 5
            router.reload(vlan_yaml(lab.device))
            unanswered(router, lab.acme, "10.157.0.254", "source_check")
            assert steady.results() == [(200, 200)]
        assert "10.157.0.254" not in lab.router.ip("address").stdout
    finally:
        acme.ip("address", "del", "10.157.0.1/24", "dev", "eth0")


def test_what_is_wrong_with_interfaces_changes_nothing(lab, router):
    router.refuse(vlan_yaml(lab.device, more=LATER.replace("500", "107")), "acme", "VLAN 107")
    router.refuse(vlan_yaml(lab.device, more=LATER.replace("port: acc0", "port: nowhere")), "nowhere")
    assert pings(lab.acme, lab.up.address(4)) == 5
    router.reload(vlan_yaml(lab.device))


# --- whose is an address? ---

def refused(lab, router, line, tags, source, mac, wire, count=5):
    """What is sent from that address behind these tags is dropped as `source_check`; what acme sends next arrives first."""
    before = router.metrics().drops("acc0").get("source_check", 0)
    wire.drain()
    for _ in range(count):
        line.send(tagged(tags, udp(lab, source, mac)))
    router.until(lambda m: m.drops("acc0").get("source_check", 0) >= before + count)
    line.send(tagged(lab.acme.tags, udp(lab, lab.acme.address(4), lab.acme.mac)))
    assert wire.find(udp_to(7010))[IP].src == lab.acme.address(4)
    law(router.metrics())


def udp(lab, source, mac):
    return Ether(src=mac, dst=lab.mac) / IP(src=source, dst="10.2.0.1") / UDP(dport=7010) / b"x"


def question(sender, mac):
    return Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=mac, psrc=sender, pdst="100.64.0.1")


def test_an_address_belongs_to_the_tag_that_had_it_first(lab, router):
    """Who claims it behind another tag gets nothing of it, be it by data, by a question or by an unasked reply."""
    owner, mac = lab.homes[1], "02:00:00:00:00:66"
    with lab.wire() as line, Wire(lab.up) as there, Pings([(lab.up, owner.address(4))], 200) as steady:
        for _ in range(3):
            line.send(tagged(qinq(200, 2), question(owner.address(4), mac)))
            line.send(tagged(qinq(200, 2), Ether(src=mac, dst=lab.mac) / ARP(op=2, hwsrc=mac, psrc=owner.address(4), hwdst=lab.mac, pdst="100.64.0.1")))
            line.send(tagged(qinq(200, 2), Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=mac, psrc=owner.address(4), pdst=owner.address(4))))
            refused(lab, router, line, qinq(200, 2), owner.address(4), mac, there)
        assert steady.results() == [(200, 200)]


@pytest.mark.parametrize("by, whose", [("acme", "globex"), ("globex", 2), (1, "acme"), (1, "10.2.0.77"), ("port", "acme"), ("port", 1), ("acme", "10.1.0.1"),
                                       ("acme", "10.107.0.254")])
def test_a_source_of_another_interface_is_refused(lab, router, by, whose):
    def found(who):
        return lab.homes[who] if isinstance(who, int) else getattr(lab, who)
    tags = [] if by == "port" else found(by).tags
    source = whose if "." in str(whose) else found(whose).address(4)
    with lab.wire() as line, Wire(lab.up) as there:
        refused(lab, router, line, tags, source, "02:00:00:00:00:67", there)


def test_a_home_has_so_many_hosts_and_no_more(lab, router):
    """Ten of them answer for themselves behind one tag; four are let through."""
    router.reload(vlan_yaml(lab.device, homes=", hosts: 4"))
    tags, ended = qinq(200, 77), threading.Event()
    hosts = {f"100.64.77.{i}": f"02:00:00:00:77:{i:02x}" for i in range(1, 11)}

    def answer():
        with lab.wire() as line:
            while not ended.is_set():
                p = line.find(lambda p: ARP in p and p[ARP].op == 1 and p[ARP].pdst in hosts and tags_of(p)[0] == tags, 0.1)
                if p is not None:
                    mac = hosts[p[ARP].pdst]
                    line.send(tagged(tags, Ether(src=mac, dst=lab.mac) / ARP(op=2, hwsrc=mac, psrc=p[ARP].pdst, hwdst=lab.mac, pdst=p[ARP].psrc)))
    thread = threading.Thread(target=answer)
    thread.start()
    try:
        with lab.wire() as line, Wire(lab.up) as there:
            for address, mac in hosts.items():
                line.send(tagged(tags, question(address, mac)))
            came = set()

            def four():
                """packets of four hosts have come"""
                for address, mac in hosts.items():
                    line.send(tagged(tags, udp(lab, address, mac)))
                came.update(p[IP].src for p in map(Ether, there.drain()) if udp_to(7010)(p))
                return len(came) >= 4
            wait_for(four, every=0.05)
            for _ in range(3):
                four()
            line.send(tagged(lab.acme.tags, udp(lab, lab.acme.address(4), lab.acme.mac)))
            while (source := there.find(udp_to(7010))[IP].src) != lab.acme.address(4):
                came.add(source)
        assert came == set(list(hosts)[:4])
        assert pings(lab.homes[1], lab.up.address(4)) == 5
    finally:
        ended.set()
        thread.join()
        router.reload(vlan_yaml(lab.device))


def test_homes_go_on_after_a_restart(lab, router):
    """They know the router's MAC address and ask for nothing; the router asks for them, each behind the tag of its packet only."""
    router.stop()
    for home in lab.homes.values():
        lladdr = home.namespace.ip("neigh", "show", "100.64.0.1").stdout.split("lladdr ")[1].split()[0]
        home.namespace.ip("neigh", "replace", "100.64.0.1", "lladdr", lladdr, "dev", "eth0", "nud", "permanent")
    try:
        with lab.wire() as line:
            router.start()
            wait_for(router._ready)
            for home in lab.homes.values():
                assert pings(home, lab.up.address(4), 20, 0.01) >= 18
            asked = {(p[ARP].pdst, tuple(tags_of(p)[0])) for p in map(Ether, line.drain()) if ARP in p and p[ARP].op == 1 and tags_of(p)[0][:1] == [(0x88a8, 200)]}
            assert asked == {(home.address(4), tuple(home.tags)) for home in lab.homes.values()}
    finally:
        for home in lab.homes.values():
            home.namespace.ip("neigh", "del", "100.64.0.1", "dev", "eth0")


# --- links ---

def test_a_link_that_flaps_ten_times_comes_back(lab, router):
    """Both families, customers of all kinds and the world behind: what the kernel forgets with a link is given back."""
    def set_link(namespace, device, state):
        namespace.ip("link", "set", device, state)
    for far in (lab.trunk.namespace, lab.up.namespace):
        for _ in range(10):
            set_link(far, "eth0", "down")
            time.sleep(0.05)
            set_link(far, "eth0", "up")
            time.sleep(0.05)
    for address in lab.up.addresses:  # a host's own route and its IPv6 address went, too
        if address not in lab.up.namespace.ip("address").stdout:
            lab.up.namespace.add_address("eth0", f"{address}/64")
    for gateway in ("10.2.0.254", "2001:db8:2::fe"):
        lab.up.namespace.ip("route", "replace", "default", "via", gateway)
    for host in everybody(lab):
        for family in (4, 6):
            def back():
                """the first ping since is answered"""
                return pings(host, lab.up.address(family), 1, 0.2, "-w", 2) == 1
            try:
                wait_for(back, 15)
            except AssertionError as e:
                m = router.metrics()
                raise AssertionError(f"{host.addresses}, IPv{family}: drops {m.drops()}, punts {m.punts()}\n{lab.up.namespace.ip('neigh').stdout}"
                                     f"{lab.up.namespace.ip('address').stdout}{lab.router.ip('-br', 'address').stdout}") from e
            assert pings(host, lab.up.address(family)) == 5
            gateway = {4: "100.64.0.1", 6: "2001:db8:200::1"} if host in lab.homes.values() else None
            if gateway:
                assert pings(host, gateway[family]) == 5
    kept = lab.router.ip("address").stdout
    for address in ("10.107.0.254/24", "2001:db8:107::fe/64", "10.2.0.254/24", "2001:db8:2::fe/64", "100.64.0.1/16", "2001:db8:200::1/64"):
        assert address in kept


@pytest.mark.skipif(not installed(), reason="needs frr")
def test_ospf_over_a_tagged_interface(lab, router):
    """The customer acme is a router of others: what it announces is forwarded there, with its tag."""
    announce = "ip route 198.51.100.0/24 Null0\n"
    middle = ospf("192.0.2.1", {"acme": "10.107.0.0/24", "globex": "10.108.0.0/24"})
    router.reload(vlan_yaml(lab.device, acme="trust: core", globex="trust: core"))
    with Frr(lab.router, ospfd=middle) as r, \
            Frr(lab.acme.namespace, ospfd=ospf("192.0.2.2", {"eth0": "10.107.0.0/24"}, " redistribute static\n"), staticd=announce), \
            Frr(lab.globex.namespace, ospfd=ospf("192.0.2.3", {"eth0": "10.108.0.0/24"})), lab.wire() as line:
        wait_for(lambda: len(re.findall(r"Full/", r.show("show ip ospf neighbor"))) == 2, CONVERGE)
        wait_for(lambda: "198.51.100.0/24" in lab.router.ip("route").stdout, CONVERGE)
        wait_for(lambda: "198.51.100.0/24" in lab.globex.namespace.ip("route").stdout, CONVERGE)

        def arrives():
            """a packet to what was announced leaves by the tag"""
            with lab.globex.namespace.socket(2, 2) as source:
                source.sendto(b"x", ("198.51.100.1", 7020))
            return line.find(lambda p: udp_to(7020)(p) and p[IP].dst == "198.51.100.1" and tags_of(p)[0] == lab.acme.tags, 0.5)
        came = wait_for(arrives, CONVERGE)
        assert bare(came).dst == lab.acme.mac


@pytest.mark.alone("a phone's 20 ms beside forty flows: with another measuring test beside it, they were 36 ms")
def test_deploy_try_access(root):
    """Twenty customers with contracts upstream and shapers downstream, three of whom misbehave and are flooded; one more comes and goes."""
    done = sh(ROOT / "deploy/try", "--access", "--seconds", 8, "--binary", SURETY, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("  met") == 21 and "one: no loss" in done.stdout and "600 of 600" in done.stdout
    assert len(re.findall(r"9\d+% of \d+ packets within", done.stdout)) == 4 and "Phones, at most 20 ms in most seconds: all met" in done.stdout
    assert "Committed rates: all met" in done.stdout
