# SPDX-License-Identifier: BSD-3-Clause
"""What happens to a running router is told once, in its log and by `surety show events`: links, gateways, reloads, full tables."""
import json
import re
import signal

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from harness import Wire, wait_for
from pair import Pair, ports
from test_reload import Reloaded

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z surety: (error|warning|notice|info|debug): .+")
GATEWAY = "routes: [{to: 10.9.0.0/16, via: 10.2.0.9}]\n"
SERVICES = "services: {gold: {conditioner: police, rate: 1 Mbit/s, bucket: 20 kB}}\nclassify: [{match: {port: lan0}, service: gold, per: flow}]\n"


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        yield pair


def events(router, kind=None):
    return [e for e in json.loads(router.show("events", "--json").stdout) if kind in (None, e["kind"])]


def event(router, kind, *words, after=0):
    """The first event of a kind, after the one of that number, whose sentence has these words."""
    def there():
        return next((e for e in events(router, kind) if e["number"] > after and all(w in e["text"] for w in words)), None)
    there.__doc__ = f"{kind} {words}"
    return wait_for(there)


def test_start_and_stop_say_why(lab):
    with Reloaded(lab.router, ports("af_packet")) as router:
        start = event(router, "start", router.name, "forwards between 2 ports")
        assert start["level"] == "notice" and start["fields"]["config_hash"]
        router.stop()
        lines = router.stderr().splitlines()
        assert all(LINE.fullmatch(line) for line in lines), lines
        assert lines[-1].endswith("surety: notice: stopped by SIGTERM")


def test_json_in_the_log(lab):
    with Reloaded(lab.router, ports("af_packet") + "log: {format: json, level: notice}\n") as router:
        event(router, "start")
        router.process.send_signal(signal.SIGINT)
        router.process.wait(120)
        lines = [json.loads(line) for line in router.stderr().splitlines()]
    kinds = [line["kind"] for line in lines]
    assert kinds[-1] == "stop" and "start" in kinds and lines[-1]["fields"] == {"reason": "SIGINT"}
    assert all(line["level"] in ("error", "warning", "notice") for line in lines)


@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
def test_links_and_gateways(lab, device):
    with Reloaded(lab.router, ports(device) + GATEWAY) as router:
        lost = event(router, "neighbor", "gateway 10.2.0.9 by wan0 does not answer")
        assert lost["fields"] == {"address": "10.2.0.9", "interface": "wan0", "state": "lost"}
        lab.b.namespace.add_address("eth0", "10.2.0.9/24")
        try:
            event(router, "neighbor", "10.2.0.9 by wan0 answers again", after=lost["number"])
        finally:
            lab.b.namespace.ip("address", "del", "10.2.0.9/24", "dev", "eth0")
        lab.a.namespace.ip("link", "set", "eth0", "down")
        try:
            down = event(router, "link", "port lan0: link down")
            assert down["level"] == "warning" and down["fields"] == {"port": "lan0", "state": "down"}
        finally:
            lab.a.namespace.ip("link", "set", "eth0", "up")
        event(router, "link", "port lan0: link up", after=down["number"])
        assert [e["fields"]["state"] for e in events(router, "link")] == ["down", "up"]
        assert router.stderr().count("port lan0: link down") == 1
    lab.a.namespace.ip("address", "replace", "2001:db8:1::1/64", "dev", "eth0", "nodad")  # a link that is down forgets those
    lab.a.namespace.ip("route", "replace", "default", "via", "10.1.0.254")
    lab.a.namespace.ip("-6", "route", "replace", "default", "via", "2001:db8:1::fe")


def test_reloads_say_what_has_changed(lab):
    text = ports("af_packet")
    with Reloaded(lab.router, text) as router:
        router.reload(text + GATEWAY + SERVICES)
        told = event(router, "reload", "rule 1: new (match: {port: lan0}, per: flow, service: gold)",
                     "route 10.9.0.0/16: new (via: 10.2.0.9)", "service gold: new")
        assert told["level"] == "notice" and told["fields"]["changes"] == 3
        assert "port lan0:" not in told["text"]
        router.reload(text + GATEWAY.replace("10.2.0.9", "10.2.0.1") + SERVICES.replace("1 Mbit", "2 Mbit"))
        told = event(router, "reload", "route 10.9.0.0/16: via 10.2.0.9 -> 10.2.0.1; service gold: rate 1 Mbit/s -> 2 Mbit/s", after=told["number"])
        router.reload()
        told = event(router, "reload", "nothing has changed", after=told["number"])
        router.refuse(text + "services: {gold: {conditioner: nope}}\n")
        refused = event(router, "reload", "reload refused, the configuration is unchanged", "nope", after=told["number"])
        assert refused["level"] == "error" and refused["fields"]["successful"] is False
        assert all(LINE.fullmatch(line) for line in router.stderr().splitlines()), router.stderr()
        router.reload(text + "log: {format: json}\n")
        event(router, "reload", "log: format not set -> json", "service gold: removed", after=refused["number"])
        assert json.loads(router.stderr().splitlines()[-1])["kind"] in ("reload", "log")


def test_full_tables_and_limits_are_told_once(lab):
    yaml = ports("af_packet") + SERVICES + "flow_table: {capacity: 64, creation_rate: 0}\n"
    with Reloaded(lab.router, yaml) as router, Wire(lab.a) as wire:
        to = Ether(src=lab.a.mac, dst=lab.router.mac("lan0"))
        for number in range(512):
            wire.send(to / IP(src="10.1.0.1", dst="10.2.0.1") / UDP(sport=1000 + number, dport=9))
        told = [e for e in events(router) if e["kind"] in ("table_full", "attack_limited")] or [event(router, "attack_limited", "lan0")]
        assert told[0]["fields"]["port"] == "lan0" and told[0]["fields"]["count"] > 0
        reasons = [e["fields"]["reason"] for e in events(router) if e["kind"] in ("table_full", "attack_limited")]
        assert len(reasons) == len(set(reasons)), "once"
