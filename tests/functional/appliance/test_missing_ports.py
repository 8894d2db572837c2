# SPDX-License-Identifier: BSD-3-Clause
"""A NIC that is gone, renamed or without link when the router starts: it comes up with what there is, says so, and takes the rest when it comes."""
import json

import pytest

from harness import Lab, Namespace, Router, law, sh, wait_for
from namespaces import connect
from pair import LAN, WAN, Pair, ports

MORE = '  dmz0: {device: af_xdp dmz7, addresses: ["10.3.0.254/24"]}\n'


def states(router):
    return {row["name"]: "missing" if row["missing"] else row["up"] for row in json.loads(router.show("ports", "--json").stdout)}


def test_comes_up_with_what_there_is_and_takes_the_rest_when_it_comes():
    with Pair() as lab, Router(lab.router, ports() + MORE) as router:
        assert "port dmz0: there is no interface `dmz7` here; there are: lan0, wan0" in router.stderr() or "did you mean" in router.stderr()
        assert states(router) == {"lan0": True, "wan0": True, "dmz0": "missing"}
        assert "missing" in router.show("ports").stdout
        assert router.metrics().value("surety_port_missing", port="dmz0") == 1
        lab.meet()
        # What is for it is refused as behind a link that is down.
        assert "Unreachable" in lab.a.namespace.run("ping", "-n", "-c", "2", "-w", "2", "10.3.0.1", check=False).stdout
        assert router.metrics().drops().get("no_route", 0) > 0
        c = Namespace("c")
        try:
            connect(lab.router, "dmz7", c, "eth0")
            c.add_address("eth0", "10.3.0.1/24")
            c.ip("route", "add", "default", "via", "10.3.0.254")
            router.until(lambda m: m.value("surety_port_missing", port="dmz0") == 0 and m.value("surety_port_up", port="dmz0") == 1)
            wait_for(lambda: lab.a.namespace.run("ping", "-n", "-c", "1", "-W", "1", "10.3.0.1", check=False).returncode == 0)
            assert states(router)["dmz0"] is True
            law(router.metrics())
        finally:
            c.remove()


def test_a_reload_goes_on_without_it_and_may_give_the_port_up():
    with Pair() as lab, Router(lab.router, ports() + MORE) as router:
        def reload(text):
            before = router.metrics().value("surety_config_reloads_total")
            router.path.write_text(text)
            router.process.send_signal(1)
            router.until(lambda m: m.value("surety_config_reloads_total") == before + 1)
        text = router.path.read_text()
        reload(text + "log: {level: debug}\n")
        assert states(router)["dmz0"] == "missing"
        reload(text.replace(MORE, ""))
        assert set(states(router)) == {"lan0", "wan0"}
        lab.meet()


@pytest.mark.parametrize("device", ["af_xdp", "af_packet"])
def test_all_are_missing_and_all_come(device):
    with Lab() as lab, Router(lab.router, ports(device)) as router:
        assert states(router) == {"lan0": "missing", "wan0": "missing"}
        a = lab.host("a", "lan0", ["10.1.0.1/24"], [LAN[0].split("/")[0]])
        b = lab.host("b", "wan0", ["10.2.0.1/24"], [WAN[0].split("/")[0]])
        wait_for(lambda: a.namespace.run("ping", "-n", "-c", "1", "-W", "1", b.address(4), check=False).returncode == 0)
        assert states(router) == {"lan0": True, "wan0": True}


def test_a_typo_is_told_with_what_was_meant_and_nobody_elses_device_is_touched():
    with Pair() as lab:
        before = sh("ip", "-n", lab.router.name, "-details", "link", "show", "wan0").stdout
        with Router(lab.router, ports().replace("af_xdp wan0", "af_xdp wan")) as router:
            assert "there is no interface `wan` here; did you mean `wan0`?" in router.stderr()
            assert sh("ip", "-n", lab.router.name, "-details", "link", "show", "wan0").stdout == before


def test_without_new_ports_it_stays_missing_until_the_next_start():
    with Pair() as lab:
        lab.router.ip("link", "set", "wan0", "down")
        lab.router.ip("link", "set", "wan0", "name", "other0")
        router = Router(lab.router, ports())
        router.path.write_text(router.path.read_text().replace("router: {", "router: {new_ports: off, "))
        with router:
            assert "forwards without it until it is restarted" in router.stderr()
            lab.router.ip("link", "set", "other0", "name", "wan0")
            lab.router.ip("link", "set", "wan0", "up")
            lab.a.namespace.run("ping", "-n", "-c", "3", "-i", "0.5", "10.2.0.1", check=False)
            assert states(router)["wan0"] == "missing"


def test_without_link_at_start():
    with Pair() as lab:
        lab.b.namespace.ip("link", "set", "eth0", "down")
        with Router(lab.router, ports()) as router:
            assert states(router) == {"lan0": True, "wan0": False}
            lab.b.namespace.ip("link", "set", "eth0", "up")
            lab.b.namespace.ip("route", "replace", "default", "via", "10.2.0.254")
            wait_for(lambda: lab.a.namespace.run("ping", "-n", "-c", "1", "-W", "1", "10.2.0.1", check=False).returncode == 0)
