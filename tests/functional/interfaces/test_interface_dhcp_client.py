# SPDX-License-Identifier: BSD-3-Clause
"""A port, or an interface with tags, that gets its address by DHCP: the kernel's client beside the router sees the answers, and packets
take the way that it has found. And a relay beside the router, whose server is behind another port."""
import pytest

from dhcp import LEASE, MISSING, Dnsmasq, udhcpc
from harness import Lab, Router, wait_for
from vlan import Access, pings, qinq, vlan_yaml

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}")
RANGE = "10.77.0.100,10.77.0.199,255.255.255.0"
OPTIONS = pytest.mark.parametrize("options", [[], ["-B"]], ids=["unicast", "broadcast"])
AWAY = "198.51.100.1"


def goes_by_its_lease(router, port, device, options, isp, host):
    """The device gets an address from `isp`, and the host reaches what lies behind the server, its gateway."""
    address = udhcpc(router.namespace, device, *options)
    assert address and address.startswith("10.77.0.")
    isp.namespace.ip("route", "replace", "10.1.0.0/24", "via", address)

    def reaches():
        """the host reaches what lies beyond the leased address"""
        return pings(host, AWAY) == 5
    wait_for(reaches)
    assert udhcpc(router.namespace, device, "-r", address) == address, "again, with the address in place"
    assert "no_route" not in {reason for reason, n in router.metrics().drops(port).items() if n}
    router.settle()


@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
@OPTIONS
def test_a_port(device, options):
    with Lab() as lab:
        lan = lab.host("lan", "lan0", ["10.1.0.1/24"], ["10.1.0.254"])
        isp = lab.host("isp", "wan0", ["10.77.0.1/24", f"{AWAY}/32"])
        with Router(lab.router, f"ports:\n  lan0: {{device: {device} lan0, addresses: [10.1.0.254/24]}}\n  wan0: {{device: {device} wan0, trust: core}}\n") as router, \
                Dnsmasq(isp.namespace, ["eth0"], [f"{RANGE},{LEASE}"]):
            goes_by_its_lease(router, "wan0", "wan0", options, isp, lan)


@OPTIONS
def test_an_interface_with_tags(options):
    """Its twin is what a port without a device of the kernel's has."""
    with Access("af_xdp") as lab:
        lan = lab.untagged()
        isp = lab.named("acme")
        isp.namespace.ip("address", "add", "10.77.0.1/24", "dev", "eth0")
        isp.namespace.ip("address", "add", f"{AWAY}/32", "dev", "lo")
        with Router(lab.router, "ports:\n  acc0: {device: af_xdp acc0, addresses: [10.1.0.254/24]}\n"
                    "interfaces:\n  acme: {port: acc0, vlan: 107, trust: core}\n") as router, \
                Dnsmasq(isp.namespace, ["eth0"], [f"{RANGE},{LEASE}"]):
            goes_by_its_lease(router, "acc0", "acme", options, isp, lan)


@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
@OPTIONS
def test_a_relay(device, options):
    """Of a template: the server's answers come up by the core port, and leave by the tag of the request."""
    with Access(device) as lab, Router(lab.router, vlan_yaml(lab.device)) as router, \
            Dnsmasq(lab.up.namespace, ["eth0"], [f"100.64.6.0,100.64.6.99,255.255.0.0,{LEASE}"]), \
            Dnsmasq(lab.router, ["homes"], [], ["dhcp-relay=100.64.0.1,10.2.0.1"]):
        home = lab.trunk.customer("home7", qinq(200, 7), [])
        address = udhcpc(home.namespace, "eth0", *options)
        assert address and address.startswith("100.64.6.")
        assert pings(home, lab.up.address(4)) == 5
        router.settle()
