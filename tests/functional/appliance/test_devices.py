# SPDX-License-Identifier: BSD-3-Clause
"""Other programs change the devices of ports while the router runs: it follows within a second, or says what it cannot do."""
import json
import re

import pytest
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.l2 import Ether

from harness import SURETY, Router, Wire, connect, law, sh, wait_for
from pair import LAN, WAN, Pair, ports

KINDS = ["af_xdp", "af_packet"]


@pytest.fixture(params=KINDS)
def lab(request):
    with Pair() as pair:
        pair.device = request.param
        yield pair


def events(router):
    return [row["text"] for row in json.loads(router.show("events", "--json").stdout)]


def said(router, text):
    """the event"""
    return wait_for(lambda: any(text in event for event in events(router)))


def reaches(lab, size=56, *options):
    """Pings of that many bytes that are answered, of five."""
    text = lab.a.namespace.run("ping", "-n", "-c", "5", "-i", "0.05", "-W", "1", "-s", str(size), *options, lab.b.address(4), check=False).stdout
    return int(re.search(r"(\d+) received", text)[1])


@pytest.mark.parametrize("when", ["before", "while"])
def test_the_lower_mtu_of_device_and_configuration_holds(lab, when):
    lab.b.namespace.ip("link", "set", "eth0", "mtu", "1400")  # a veth device receives no more than its own MTU
    if when == "before":
        lab.router.ip("link", "set", "wan0", "mtu", "1400")
    with Router(lab.router, ports(lab.device)) as router:
        if when == "while":
            lab.meet()
            lab.router.ip("link", "set", "wan0", "mtu", "1400")
        said(router, "port wan0: wan0 has an MTU of 1400, below the configured 1500")
        lab.meet()
        with Wire(lab.a) as wire:
            wire.send(Ether(src=lab.a.mac, dst=lab.router.mac("lan0")) / IP(src="10.1.0.1", dst="10.2.0.1", flags="DF") / UDP(sport=1001, dport=9) / bytes(1472))
            error = wire.find(lambda p: ICMP in p and p[ICMP].type == 3)
        assert (error[ICMP].code, error[ICMP].nexthopmtu) == (4, 1400)
        assert reaches(lab, 1372, "-M", "do") == 5
        assert reaches(lab, 1472, "-M", "dont") == 5, "in fragments"
        law(router.metrics())
        lab.router.ip("link", "set", "wan0", "mtu", "1500")
        lab.b.namespace.ip("link", "set", "eth0", "mtu", "1500")
        said(router, "the MTU of wan0 is no longer below the configured 1500")
        lab.a.namespace.ip("route", "flush", "cache")
        wait_for(lambda: reaches(lab, 1472) == 5)
        router.settle()
    assert "mtu 1500" in lab.router.ip("link", "show", "wan0").stdout


def test_the_mirror_of_an_interface_follows_the_device_of_its_port(lab):
    tagged = "interfaces:\n  acme: {port: wan0, vlan: 107, addresses: [10.7.0.254/24]}\n"
    def mirror():
        return lab.router.ip("link", "show", "acme").stdout
    with Router(lab.router, ports(lab.device) + tagged) as router:
        lab.meet()
        assert "mtu 1500" in mirror()
        lab.router.ip("link", "set", "wan0", "mtu", "1400")
        wait_for(lambda: "mtu 1400" in mirror())
        lab.router.ip("link", "set", "wan0", "address", "02:00:00:00:00:99", "mtu", "1500")
        wait_for(lambda: "mtu 1500" in mirror() and "02:00:00:00:00:99" in mirror())
        law(router.metrics())


def test_another_mac_address_is_the_ports(lab):
    """Both ports get another one, as by a bond's fail-over: hosts learn it at once, and no packet leaves with the previous one."""
    with Router(lab.router, ports(lab.device)) as router:
        lab.meet()
        macs = {"lan0": "02:00:00:00:00:88", "wan0": "02:00:00:00:00:99"}
        for name, mac in macs.items():
            lab.router.ip("link", "set", name, "address", mac)
        for name, mac in macs.items():
            said(router, f"port {name}: the MAC address of {name} is {mac} now")
        wait_for(lambda: reaches(lab) == 5)
        with Wire(lab.a) as near, Wire(lab.b) as far:
            near.send(Ether(src=lab.a.mac, dst=macs["lan0"]) / IP(src="10.1.0.1", dst="10.2.0.1") / UDP(sport=1000, dport=4001) / b"payload")
            assert far.find(lambda p: UDP in p and p[UDP].dport == 4001)[Ether].src == macs["wan0"]
        assert lab.a.namespace.ip("neigh", "show", "10.1.0.254").stdout.split("lladdr ")[1].split()[0] == macs["lan0"]
        assert lab.b.namespace.ip("neigh", "show", "10.2.0.254").stdout.split("lladdr ")[1].split()[0] == macs["wan0"]
        for family in (4, 6):
            wait_for(lambda: lab.a.reaches(lab.b.address(family)))
        for address in LAN:
            assert lab.a.namespace.run("ping", "-n", "-c", "1", "-w", "5", address.split("/")[0], check=False).returncode == 0
        law(router.metrics())


def missing(router, port):
    m = router.metrics()
    return m.value("surety_port_missing", port=port) == 1 and m.value("surety_port_up", port=port) == 0


def doctor(lab, router):
    """{check: what it says} without what is well"""
    done = sh(*lab.router.command(SURETY, "doctor", "--json", router.path), check=False)
    return {c["check"]: c["says"] for c in json.loads(done.stdout)["checks"] if c["verdict"] != "ok"}


def comes_back(lab, router):
    router.until(lambda m: m.value("surety_port_missing", port="wan0") == 0 and m.value("surety_port_up", port="wan0") == 1)
    said(router, "port wan0: its device has appeared")
    wait_for(lambda: reaches(lab) == 5)
    assert "ports" not in doctor(lab, router)
    law(router.metrics())


def test_a_device_that_is_deleted_and_made_again(lab):
    with Router(lab.router, ports(lab.device)) as router:
        for _ in range(2):
            lab.meet()
            lab.router.ip("link", "del", "wan0")
            said(router, "port wan0: its device wan0 was deleted or renamed; the router forwards without it")
            wait_for(lambda: missing(router, "wan0"))
            # A router that has not answered in 200 ms is asked again.
            found = wait_for(lambda: next((d for d in [doctor(lab, router)] if "ports" in d), None))
            assert "there is no wan0" in found["devices"]
            assert "port wan0 is missing" in found["ports"]
            assert reaches(lab) == 0
            assert router.metrics().drops("lan0").get("no_route", 0) > 0, "as behind a link that is down"
            connect(lab.router, "wan0", lab.b.namespace, "eth0")
            lab.b.namespace.configure("eth0", ["10.2.0.1/24", "2001:db8:2::1/64"], ["10.2.0.254", "2001:db8:2::fe"])
            comes_back(lab, router)


def test_a_device_that_is_replaced_within_a_moment(lab):
    """The router never sees the name without a device."""
    with Router(lab.router, ports(lab.device)) as router:
        lab.meet()
        connect(lab.router, "next", lab.b.namespace, "eth1")
        lab.b.namespace.ip("link", "del", "eth0")
        lab.b.namespace.configure("eth1", ["10.2.0.1/24", "2001:db8:2::1/64"], ["10.2.0.254", "2001:db8:2::fe"])
        lab.router.batch("link set next down", "link set next name wan0", "link set wan0 up")
        comes_back(lab, router)


def test_a_renamed_device_is_not_the_ports_and_is_left_as_it_was(lab):
    with Router(lab.router, ports(lab.device)) as router:
        lab.meet()
        lab.router.batch("link set wan0 down", "link set wan0 name other0", "link set other0 up")
        said(router, "port wan0: its device wan0 was deleted or renamed")
        wait_for(lambda: missing(router, "wan0"))
        def shown():
            return lab.router.ip("-details", "address", "show", "other0").stdout
        wait_for(lambda: "10.2.0.254" not in shown() and "prog/xdp" not in shown())
        lab.router.batch("link set other0 down", "link set other0 name wan0", "link set wan0 up")
        comes_back(lab, router)
        assert "10.2.0.254/24" in lab.router.ip("address", "show", "wan0").stdout


def test_without_new_ports_a_lost_device_is_said_to_stay_missing(lab):
    router = Router(lab.router, ports(lab.device))
    router.path.write_text(router.path.read_text().replace("router: {", "router: {new_ports: off, "))
    with router:
        lab.meet()
        lab.router.ip("link", "del", "wan0")
        said(router, "the router forwards without it until it is restarted")
        wait_for(lambda: missing(router, "wan0"))
        connect(lab.router, "wan0", lab.b.namespace, "eth0")
        assert "port wan0 is missing" in doctor(lab, router)["ports"]


def test_addresses_that_another_manager_removes_are_set_again(lab):
    """systemd-networkd and others remove what they have not set: `ip address flush`, `ip route flush`."""
    with Router(lab.router, ports(lab.device) + "routes: [{to: 198.51.100.0/24, via: 10.2.0.1}]\n") as router:
        lab.b.namespace.add_address("lo", "198.51.100.1/32")
        lab.meet()
        for _ in range(2):
            for name, addresses in (("wan0", WAN), ("lan0", LAN)):
                lab.router.ip("address", "flush", "dev", name, "scope", "global")
                wait_for(lambda: all(a in lab.router.ip("address", "show", name).stdout for a in addresses))
                said(router, f"port {name}: another program has removed ")
                wait_for(lambda: "198.51.100.0/24" in lab.router.ip("route").stdout)  # gone with wan0's address
            lab.router.ip("route", "flush", "proto", "83", check=False)
            wait_for(lambda: "198.51.100.0/24" in lab.router.ip("route").stdout)
            for host, address in ((lab.a, "198.51.100.1"), (lab.a, LAN[0].split("/")[0]), (lab.b, LAN[0].split("/")[0])):
                wait_for(lambda: host.namespace.run("ping", "-n", "-c", "1", "-W", "1", address, check=False).returncode == 0)
            wait_for(lambda: lab.router.run("ping", "-n", "-c", "1", "-W", "1", "198.51.100.1", check=False).returncode == 0)
            for family in (4, 6):
                wait_for(lambda: lab.a.reaches(lab.b.address(family)))


def test_addresses_of_a_link_that_goes_down_are_no_fight(lab):
    with Router(lab.router, ports(lab.device)) as router:
        lab.meet()
        for _ in range(3):
            lab.router.batch("link set wan0 down", "link set wan0 up")
            lab.b.namespace.ip("route", "replace", "default", "via", "10.2.0.254")
            wait_for(lambda: reaches(lab) == 5)
        assert not [e for e in events(router) if "another program has removed" in e]


def test_a_virtual_routers_mac_address_is_the_ports(lab):
    """RFC 5798 7.3: as keepalived (use_vmac) and FRR make it; `protodown`, or a device that is down, is a backup's."""
    virtual = "00:00:5e:00:01:0a"
    with Router(lab.router, ports(lab.device)) as router:
        lab.meet()
        lab.router.sysctl("net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.rp_filter=0")
        lab.router.batch(f"link add vrrp4-10 link lan0 address {virtual} type macvlan mode bridge", "link set vrrp4-10 up",
                         "address add 10.1.0.253/32 dev vrrp4-10")
        lab.a.namespace.batch(f"neigh replace 10.1.0.253 lladdr {virtual} dev eth0", "route replace default via 10.1.0.253")
        wait_for(lambda: lab.a.namespace.run("ping", "-n", "-c", "1", "-W", "1", "10.1.0.253", check=False).returncode == 0)
        wait_for(lambda: reaches(lab) == 5)
        before = router.metrics().drops("lan0").get("foreign_mac", 0)
        assert reaches(lab) == 5
        assert router.metrics().drops("lan0").get("foreign_mac", 0) == before
        lab.router.ip("link", "set", "vrrp4-10", "down")
        wait_for(lambda: reaches(lab) == 0)
        assert router.metrics().drops("lan0")["foreign_mac"] > before, "another router's"
        lab.router.ip("link", "set", "vrrp4-10", "up")
        wait_for(lambda: reaches(lab) == 5)
        lab.router.ip("link", "del", "vrrp4-10")
        wait_for(lambda: reaches(lab) == 0)
        law(router.metrics())
