# SPDX-License-Identifier: BSD-3-Clause
"""A DHCP server and router advertisements beside the router, and clients as homes have them: dnsmasq, udhcpc, dhclient."""
import contextlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile

from harness import wait_for

PROGRAMS = ("dnsmasq", "udhcpc", "dhclient")
MISSING = [p for p in PROGRAMS if shutil.which(p) is None]
LEASE = "2m"  # the shortest that dnsmasq gives
PATIENCE = 60

# udhcpc's and dhclient's: they configure eth0 and write nothing else of this machine.
SCRIPT4 = """#!/bin/sh
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip address replace "$ip/$mask" dev "$interface"
[ -z "$router" ] || ip route replace default via "$router"
"""
SCRIPT6 = """#!/bin/sh
[ "$reason" = BOUND6 ] || exit 0
ip -6 address replace "$new_ip6_address/128" dev "$interface" nodad
"""


class Dnsmasq:
    """`ranges`: lines of `dhcp-range`; `more`: further lines of its configuration."""

    def __init__(self, namespace, interfaces, ranges, more=()):
        self._directory = tempfile.TemporaryDirectory(prefix="sf-")
        base = pathlib.Path(self._directory.name)
        self.log = base / "log"
        lines = ["port=0", "bind-dynamic", "no-ping", "dhcp-authoritative", "log-dhcp", "user=root", "no-resolv", "no-hosts",
                 f"pid-file={base}/pid", f"dhcp-leasefile={base}/leases", *(f"interface={i}" for i in interfaces),
                 *(f"dhcp-range={r}" for r in ranges), *more]
        (base / "conf").write_text("".join(f"{line}\n" for line in lines))
        self._process = namespace.start(["dnsmasq", "--keep-in-foreground", "--log-facility=-", f"--conf-file={base}/conf"], self.log)

        def serves():
            """dnsmasq serves"""
            assert self._process.poll() is None, self.log.read_text()
            return (base / "pid").exists()
        wait_for(serves)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._directory.cleanup()


@contextlib.contextmanager
def _script(text):
    with tempfile.TemporaryDirectory(prefix="sf-") as directory:
        path = pathlib.Path(directory) / "script"
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        yield path


def address_of(namespace, interface="eth0", family=4, scope="global"):
    """The first address of that scope; None: there is none."""
    for link in json.loads(namespace.run("ip", "-j", f"-{family}", "address", "show", "dev", interface).stdout):
        for a in link["addr_info"]:
            if a["scope"] == scope:
                return a["local"]
    return None


def udhcpc(namespace, interface="eth0", *options):
    """The address that its kernel has afterwards; None: no lease."""
    with _script(SCRIPT4) as script:
        done = namespace.run("udhcpc", "-f", "-q", "-n", "-t", 8, "-T", 1, "-i", interface, "-s", script, *options, check=False)
    return address_of(namespace, interface) if done.returncode == 0 else None


def dhclient6(namespace, interface="eth0"):
    """The same of DHCPv6."""
    def can_ask():
        """the client has a link-local address that is no longer tentative, without which dhclient gives up at once"""
        return "fe80" in namespace.ip("-6", "address", "show", "dev", interface, "scope", "link", "-tentative").stdout
    wait_for(can_ask)
    with _script(SCRIPT6) as script:
        base = script.parent
        command = ["dhclient", "-6", "-1", "-d", "-sf", script, "-lf", base / "leases", "-pf", base / "pid", "-cf", os.devnull, interface]
        with open(base / "log", "wb") as log, subprocess.Popen(namespace.command(*command), stdout=log, stderr=log) as client:
            def has_address():
                """the client has an address by DHCPv6"""
                return address_of(namespace, interface, 6)
            try:
                return wait_for(has_address, PATIENCE)
            except AssertionError:
                return None
            finally:
                client.kill()


def solicits(namespace, interface="eth0"):
    """The host takes router advertisements, and asks for one as its link comes up."""
    namespace.sysctl(f"net.ipv6.conf.{interface}.accept_ra=1", f"net.ipv6.conf.{interface}.router_solicitations=3",
                     f"net.ipv6.conf.{interface}.router_solicitation_delay=0", f"net.ipv6.conf.{interface}.router_solicitation_interval=1")
    namespace.ip("link", "set", interface, "down")
    namespace.ip("link", "set", interface, "up")
