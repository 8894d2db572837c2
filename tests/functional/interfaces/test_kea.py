# SPDX-License-Identifier: BSD-3-Clause
"""Leases of Kea are subscribers: of a client on the link, and of one behind a DHCP relay that names its line. deploy/radius has the adapter."""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import types

import pytest
from scapy.layers.dhcp import BOOTP, DHCP

from dhcp import udhcpc
from edge import EdgeRouter
from harness import ROOT, SURETY, Namespace, UdpSink, UdpSource, wait_for
from pair import MBIT, Pair, ports

HOOK = next(iter(pathlib.Path("/usr/lib").glob("*/kea/hooks/libdhcp_run_script.so")), None)
MISSING = [p for p in ("kea-dhcp4", "dhcrelay", "udhcpc") if shutil.which(p) is None] + ([] if HOOK else ["libdhcp_run_script.so"])
pytestmark = [pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}"), pytest.mark.paced("measures rates")]

SHAPE = {"home": 2, "business": 4}  # Mbit/s
OFFERED = 6
YAML = ports() + """
include: subscribers/*.yaml
routes: [{to: 10.5.0.0/24, via: 10.1.0.1}]
services: {up: {conditioner: police, rate: 2 Mbit/s, bucket: 50 kB}}
queues: {down: [{name: all, dscp: [BE], limit: 50 packets}]}
plans:
  home: {service: up, shape: 2 Mbit/s, burst: 20 kB, queues: down}
  business: {service: up, shape: 4 Mbit/s, burst: 20 kB, queues: down}
dpdk: {hugepages: off, max_routes: 1024}
"""
SETTINGS = """
[router]
port = lan0
name = {name}
interval = 0.1
state = {top}/sessions.json
[users]
eth1 = business
[default]
plan = home
"""
BEHIND = "10.5.0.254"  # the relay, on the link of its clients


def kea_conf(script):
    def subnet(net, gateway):
        return {"subnet": f"{net}.0/24", "pools": [{"pool": f"{net}.100 - {net}.199"}], "option-data": [{"name": "routers", "data": gateway}]}
    return json.dumps({"Dhcp4": {
        "interfaces-config": {"interfaces": ["lan0"]}, "lease-database": {"type": "memfile", "persist": False}, "valid-lifetime": 120,
        "hooks-libraries": [{"library": str(HOOK), "parameters": {"name": str(script), "sync": False}}],
        "subnet4": [subnet("10.1.0", "10.1.0.254"), subnet("10.5.0", BEHIND)],
        "loggers": [{"name": "kea-dhcp4", "output_options": [{"output": "stdout"}], "severity": "INFO"}]}})


@contextlib.contextmanager
def started(namespace, log, *command, **environment):
    with open(log, "w") as file:
        process = subprocess.Popen(namespace.command(*map(str, command)), stdout=file, stderr=file, env={**os.environ, **environment})
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def lab():
    with Pair() as pair:
        pair.home = Namespace("home")  # behind host a, which relays
        pair.a.namespace.ip("link", "add", "eth1", "type", "veth", "peer", "name", "eth0", "netns", pair.home.name)
        pair.a.namespace.add_address("eth1", f"{BEHIND}/24")
        pair.a.namespace.ip("link", "set", "eth1", "up")
        pair.home.ip("link", "set", "eth0", "up")
        pair.a.namespace.sysctl("net.ipv4.ip_forward=1")
        try:
            yield pair
        finally:
            pair.home.remove()


@pytest.fixture
def router(lab):
    with EdgeRouter(lab.router, YAML) as running, tempfile.TemporaryDirectory(prefix="sf-") as directory, contextlib.ExitStack() as stack:
        top = pathlib.Path(directory)
        (top / "radius.ini").write_text(SETTINGS.format(name=running.name, top=top))
        (top / "kea.conf").write_text(kea_conf(ROOT / "deploy/radius/surety_kea.py"))
        stack.enter_context(started(lab.router, top / "adapter.log", "/usr/bin/python3", ROOT / "deploy/radius/surety_radius.py",
                                    "--settings", top / "radius.ini", "--surety", SURETY))
        stack.enter_context(started(lab.router, top / "kea.log", "kea-dhcp4", "-c", top / "kea.conf",
                                    KEA_PIDFILE_DIR=str(top), KEA_LOCKFILE_DIR="none", KEA_HOOK_SCRIPTS_PATH=str(ROOT / "deploy/radius")))
        wait_for(lambda: "DHCP4_STARTED" in (top / "kea.log").read_text())
        lab.meet()
        yield running


def subscribers(lab, router):
    rows = json.loads(lab.router.run(SURETY, "subscribers", "list", "--json", "--name", router.name).stdout)
    return {row["place"].removeprefix("lan0 "): (row["name"], row["plan"]) for row in rows}


def rate(lab, namespace, address):
    """Mbit/s that arrive of what host b sends to the address, in a usual second."""
    found = []
    with UdpSink(types.SimpleNamespace(namespace=namespace), address, 4100) as sink, UdpSource(lab.b, address, 4100) as source:
        for _ in range(3):
            before, began = sink.drain(), time.monotonic()
            while time.monotonic() < began + 1:
                source.pace(bytes(972), OFFERED * MBIT / 1000, 50)
            found.append((sink.drain() - before) * 1000 / MBIT / (time.monotonic() - began))
    return sorted(found)[1]


def addresses(namespace):
    links = json.loads(namespace.run("ip", "-j", "-4", "address", "show", "dev", "eth0").stdout)
    return {a["local"] for link in links for a in link["addr_info"]}


def release(namespace, address):
    """As a client says it; udhcpc -R does not send it."""
    mac = bytes.fromhex(namespace.mac("eth0").replace(":", ""))
    message = BOOTP(ciaddr=address, chaddr=mac, xid=7) / DHCP(options=[
        ("message-type", "release"), ("server_id", "10.1.0.254"), ("client_id", b"\x01" + mac), "end"])
    with namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind((address, 68))
        s.sendto(bytes(message), ("10.1.0.254", 67))


def test_leases_are_subscribers_until_they_end(lab, router):
    def becomes(*wanted):
        """the router has these subscribers: address, name, plan"""
        wait_for(lambda: subscribers(lab, router) == {address: tuple(rest) for address, *rest in wanted})

    link, before = lab.a.namespace, addresses(lab.a.namespace)
    claim = "82:0104" + b"eth1".hex()  # as if a relay said that it is the other one
    assert udhcpc(link, "eth0", "-x", claim, "-x", "hostname:eth1")
    [own] = addresses(link) - before
    near = (own, link.mac("eth0").replace(":", ""), "home")
    becomes(near)
    with started(link, os.devnull, "dhcrelay", "-4", "-d", "-a", "-m", "replace", "-iu", "eth0", "-id", "eth1", "10.1.0.254"):
        far = udhcpc(lab.home)
        assert far and far.startswith("10.5.0.")
        behind = (far, "eth1", "business")
        becomes(near, behind)
        assert rate(lab, link, own) == pytest.approx(SHAPE["home"], rel=0.1)
        assert rate(lab, lab.home, far) == pytest.approx(SHAPE["business"], rel=0.1)
        release(lab.home, far)
        becomes(near)
        assert udhcpc(lab.home, "eth0", "-r", far) == far
        becomes(near, behind)
