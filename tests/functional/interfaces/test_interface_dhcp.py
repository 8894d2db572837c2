# SPDX-License-Identifier: BSD-3-Clause
"""A DHCP server and router advertisements of this host give addresses to customers on the port, on an interface with tags and in a template."""
import time

import pytest
from scapy.layers.dhcp import BOOTP, DHCP
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6ND_RA, ICMPv6ND_RS, IPv6
from scapy.layers.l2 import Ether

from dhcp import LEASE, MISSING, PATIENCE, Dnsmasq, address_of, dhclient6, solicits, udhcpc
from harness import Router, wait_for
from vlan import TAGS, Access, bare, pings, qinq, tagged, tags_of, vlan_yaml

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}")
DEVICES = ["af_xdp", "af_packet", pytest.param("memif", marks=pytest.mark.long("the twin of an interface is the same; test_twin.py has a port's"))]
KINDS = ["port", "acme", "home"]
POOL = {"port": "10.1.0.100,10.1.0.199,255.255.255.0", "acme": "10.107.0.100,10.107.0.199,255.255.255.0",
        "home": "100.64.5.0,100.64.5.199,255.255.0.0"}
PREFIX6 = {"port": "2001:db8:1:", "acme": "2001:db8:107:", "home": "2001:db8:200:"}  # as addresses begin
TAGS_OF = {"port": [], "acme": TAGS["acme"]}


def server(lab, *more):
    device = {"port": "acc0", "acme": "acme", "home": "homes"}
    return Dnsmasq(lab.router, device.values(), [f"{POOL[k]},{LEASE}" for k in KINDS] +
                   [f"::5:1,::5:ff,constructor:{device[k]},slaac,64,{LEASE}" for k in KINDS], ["enable-ra", *more])


@pytest.fixture(scope="module", params=DEVICES)
def lab(request):
    with Access(request.param) as made, Router(made.router, vlan_yaml(made.device)) as made.running, \
            server(made, "ra-param=*,4,300"):
        yield made
        made.running.settle()


def customer(lab, kind, number=7):
    """A host without an address."""
    return lab.trunk.customer(f"{kind}{number}", TAGS_OF.get(kind, qinq(200, number)), [])


@pytest.fixture(params=KINDS)
def host(lab, request):
    made = customer(lab, request.param)
    made.kind = request.param
    yield made
    lab.trunk.leave(made)


@pytest.mark.parametrize("options", [[], ["-B"]], ids=["unicast", "broadcast"])
def test_a_lease(lab, host, options):
    """Requested and used: answers reach it as what it asks for, by its address or by broadcast."""
    address = udhcpc(host.namespace, "eth0", *options)
    assert address and address.startswith(POOL[host.kind].split(",")[0].rsplit(".", 1)[0])
    assert pings(host, lab.up.address(4)) == 5
    again = udhcpc(host.namespace, "eth0", "-r", address, *options)
    assert again == address


def test_an_address_and_a_route_by_advertisement(lab, host):
    solicits(host.namespace)

    def has_both():
        """the host has an address of the prefix, and a default route"""
        return (address_of(host.namespace, family=6) or "").startswith(PREFIX6[host.kind]) and "default via fe80" in host.namespace.ip("-6", "route").stdout
    wait_for(has_both, PATIENCE)
    assert pings(host, lab.up.address(6)) == 5


def test_dhcpv6(lab, host):
    address = dhclient6(host.namespace)
    assert address and address.startswith(PREFIX6[host.kind] + ":5:")


def test_periodic_advertisements_reach_homes_that_do_not_ask(lab):
    """A default route lives for as long as advertisements come; homes without a known station get none."""
    homes = [customer(lab, "home", n) for n in (21, 22)]
    for home in homes:
        home.namespace.sysctl("net.ipv6.conf.eth0.accept_ra=1")
    assert udhcpc(homes[0].namespace) and pings(homes[0], "100.64.0.1", 1) == 1  # the router knows a station there

    def has_route():
        """the home has a default route"""
        return "default via fe80" in homes[0].namespace.ip("-6", "route").stdout
    with lab.wire() as line:
        wait_for(has_route, PATIENCE)
        advertised = [tags_of(Ether(f))[0] for f in line.drain() if ICMPv6ND_RA in bare(Ether(f))]
    assert qinq(200, 21) in advertised and qinq(200, 22) not in advertised
    for home in homes:
        lab.trunk.leave(home)


def discover(lab, mac, transaction, tags):
    frame = Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / IP(src="0.0.0.0", dst="255.255.255.255", tos=0xb8) / UDP(sport=68, dport=67) / \
        BOOTP(chaddr=bytes.fromhex(mac.replace(":", "")), xid=transaction, flags=0x8000) / DHCP(options=[("message-type", "discover"), "end"])
    return tagged(tags, frame)


def test_an_answer_leaves_by_the_tag_of_its_request_alone(lab):
    """Of two homes with one MAC address, too: and with no DSCP, though the server sends it with one."""
    mac, transactions = "02:00:00:00:dd:01", {31: 0x1001, 32: 0x1002}
    with lab.wire() as line:
        for inner, transaction in transactions.items():
            line.send(discover(lab, mac, transaction, qinq(200, inner)))
        found = {}

        def both():
            """both homes have an offer"""
            for frame in map(Ether, line.drain()):
                packet = bare(frame)
                if BOOTP in packet and packet[BOOTP].op == 2:
                    found.setdefault(packet[BOOTP].xid, []).append((tags_of(frame)[0], packet[IP].tos))
            return len(found) == 2
        wait_for(both)
    assert found == {transaction: [(qinq(200, inner), 0)] for inner, transaction in transactions.items()}


def test_solicitations_of_one_home_do_not_load_others(lab):
    """An advertisement for all nodes leaves at once by the tag that asked, and by other tags each three seconds at most."""
    other = customer(lab, "home", 42)
    assert udhcpc(other.namespace) and pings(other, "100.64.0.1", 1) == 1
    solicitation = tagged(qinq(200, 41), Ether(src="02:00:00:00:dd:41", dst="33:33:00:00:00:02") / IPv6(src="::", dst="ff02::2", hlim=255) / ICMPv6ND_RS())
    with lab.wire() as line:
        counted, began = {41: 0, 42: 0}, time.monotonic()

        def advertised_again():
            """the other home has three advertisements"""
            line.send(solicitation)
            for frame in map(Ether, line.drain()):
                tags = tags_of(frame)[0]
                if ICMPv6ND_RA in bare(frame) and tags[-1:] and tags[-1][1] in counted:
                    counted[tags[-1][1]] += 1
            return counted[42] >= 3
        wait_for(advertised_again, PATIENCE, every=0.05)
        assert 3 * (counted[42] - 1) <= time.monotonic() - began + 0.5
    assert counted[41] > counted[42]
    lab.trunk.leave(other)
