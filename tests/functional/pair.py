# SPDX-License-Identifier: BSD-3-Clause
"""The usual lab: host a behind port lan0, host b behind port wan0, both with IPv4 and IPv6."""
from harness import Lab, wait_for

MBIT = 125_000  # bytes per second
LAN = ["10.1.0.254/24", "2001:db8:1::fe/64"]
WAN = ["10.2.0.254/24", "2001:db8:2::fe/64"]


class Pair(Lab):
    def __init__(self):
        super().__init__()
        self.a = self.host("a", "lan0", ["10.1.0.1/24", "2001:db8:1::1/64"], ["10.1.0.254", "2001:db8:1::fe"])
        self.b = self.host("b", "wan0", ["10.2.0.1/24", "2001:db8:2::1/64"], ["10.2.0.254", "2001:db8:2::fe"])

    def add_source(self, address):
        """One more address of host a."""
        self.a.namespace.add_address("eth0", address)

    def meet(self):
        """The router knows the MAC addresses of both hosts afterwards; until then the kernel forwards, unconditioned."""
        for family in (4, 6):
            wait_for(lambda: self.a.reaches(self.b.address(family)))


def ports(device="af_xdp", lan="", wan=""):
    """The `ports` section for a Pair; `lan` and `wan` are further keys of a port."""
    def port(name, addresses, more):
        listed = ", ".join(f'"{a}"' for a in addresses)
        return f"  {name}: {{device: {device} {name}, addresses: [{listed}]{', ' + more if more else ''}}}\n"
    return "ports:\n" + port("lan0", LAN, lan) + port("wan0", WAN, f"trust: core{', ' + wan if wan else ''}")
