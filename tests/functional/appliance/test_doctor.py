# SPDX-License-Identifier: BSD-3-Clause
"""`surety doctor` on real devices, sockets and settings; tests/unit/router/operate/machine breaks each condition in a tree."""
import json
import stat

import pytest

from harness import SURETY, Router, sh
from machine import Machine, tree

PORTS = "ports:\n  lan: {device: af_packet eth1, addresses: [10.1.0.1/24]}\n  wan: {device: af_packet eth2, addresses: [10.2.0.1/24]}\n"
QUIET = "dpdk: {hugepages: off, max_routes: 1024}\n"


@pytest.fixture
def machine(tmp_path):
    with Machine(tmp_path) as made:
        yield made


def findings(machine, *arguments):
    done = machine.surety("doctor", "--json", *arguments)
    said = json.loads(done.stdout)
    assert done.returncode == (1 if said["errors"] else 0), done.stderr
    assert list(said) == ["checks", "warnings", "errors"]
    assert all(list(c) == ["check", "verdict", "says", "mend", "safe"] for c in said["checks"])
    return said["checks"]


def worst(machine, check, *arguments):
    order = ["ok", "warning", "error"]
    return max((c for c in findings(machine, *arguments) if c["check"] == check), key=lambda c: order.index(c["verdict"]))


def test_without_a_configuration_it_looks_at_the_machine(machine):
    done = machine.surety("doctor")
    assert done.returncode == 0 and "does not exist: only the machine is checked" in done.stdout and "Linux " in done.stdout


def test_a_taken_port_of_metrics(machine):
    machine.configure(PORTS + QUIET)
    assert worst(machine, "metrics")["verdict"] == "ok"
    listener = machine.namespace.popen("/usr/bin/python3", "-uc", "import signal, socket; s = socket.create_server(('127.0.0.1', 9464)); print(); signal.pause()")
    try:
        listener.stdout.readline()
        found = worst(machine, "metrics")
        assert found["verdict"] == "error" and f"({listener.pid})" in found["says"]
        assert machine.namespace.run("sh", "-c", found["mend"]).stdout.count("9464") == 1
    finally:
        listener.kill()
        listener.wait()


def test_a_key_that_everybody_may_read_is_mended(machine):
    machine.configure(PORTS + QUIET + "router: {id: 192.0.2.1}\nsignalling: {mode: observe, key_file: signal.key}\n")
    key = machine.etc("surety/signal.key")
    key.write_text("keys: []\n")
    key.chmod(0o644)
    assert worst(machine, "secrets")["verdict"] == "error"
    machine.surety("doctor", "--fix")
    assert stat.S_IMODE(key.stat().st_mode) == 0o640
    assert worst(machine, "secrets")["verdict"] == "ok"


def test_a_device_that_is_gone_or_renamed(machine):
    machine.surety("setup", "--yes", "--hugepages", "0", "--isolate", "none", check=True)
    n = machine.namespace
    for change in (("down",), ("name", "eth9")):
        n.ip("link", "set", "eth2", *change)
    found = worst(machine, "devices")
    assert found["verdict"] == "error" and "is eth9 now" in found["says"] and not found["safe"]
    n.run("sh", "-c", found["mend"])
    assert worst(machine, "devices")["verdict"] == "ok"
    machine.peer.ip("link", "delete", "eth2")
    assert "there is no eth2" in worst(machine, "devices")["says"]


def test_settings_of_the_kernel_are_mended(machine):
    machine.configure(PORTS + QUIET)
    n = machine.namespace
    n.run("sysctl", "-q", "net.ipv4.conf.eth1.rp_filter=1", "net.ipv4.conf.all.rp_filter=0")
    n.ip("link", "set", "eth2", "down")
    assert worst(machine, "rp_filter")["verdict"] == "warning" and worst(machine, "link")["verdict"] == "warning"
    done = machine.surety("doctor", "--fix")
    assert "`ip link set eth2 up`" in done.stdout
    assert n.run("sysctl", "-n", "net.ipv4.conf.eth1.rp_filter").stdout == "2\n"
    assert worst(machine, "rp_filter")["verdict"] == "ok" and worst(machine, "link")["verdict"] == "ok"


def test_fix_leaves_forwarding_and_a_link_with_addresses_alone(machine):
    machine.configure(PORTS + QUIET)
    n = machine.namespace
    n.run("sysctl", "-q", "net.ipv4.ip_forward=1")
    n.ip("address", "add", "10.2.0.1/24", "dev", "eth2")
    n.ip("link", "set", "eth2", "down")
    machine.surety("doctor", "--fix")
    assert n.run("sysctl", "-n", "net.ipv4.ip_forward").stdout == "1\n"
    assert worst(machine, "forwarding")["verdict"] == "warning" and worst(machine, "link")["verdict"] == "warning"


def test_a_full_disk_for_the_state(machine):
    machine.configure(PORTS + QUIET)
    state = machine.directory / "state"
    sh("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", state)
    try:
        assert worst(machine, "state")["verdict"] == "error"
    finally:
        sh("umount", state)
    assert worst(machine, "state")["verdict"] != "error"


def test_a_router_that_runs(machine):
    yaml = PORTS + "routes:\n  - {to: 0.0.0.0/0, via: 10.2.0.9}\n"
    with Router(machine.namespace, yaml) as router:
        file = str(router.path)
        assert "metrics are served at" in worst(machine, "metrics", file)["says"]
        assert worst(machine, "version", file)["verdict"] == "ok"
        unresolved = worst(machine, "routes", file)
        assert unresolved["verdict"] == "warning" and "10.2.0.9" in unresolved["says"]
        assert worst(machine, "kernel-routes", file)["verdict"] == "ok"
        router.path.write_text(router.path.read_text().replace("routes:\n", "routes:\n  - {to: 10.9.0.0/16, via: 10.2.0.9}\n"))
        lacks = worst(machine, "kernel-routes", file)  # written, and not reloaded
        assert lacks["verdict"] == "warning" and "lacks the route 10.9.0.0/16" in lacks["says"]


def test_a_tree_is_all_that_it_reads(tmp_path):
    """Keys that a configuration of the tree names are the tree's, not this machine's."""
    root = tree(tmp_path)
    (root / "etc/surety/surety.yaml").write_text(
        "version: 1\nrouter: {id: 192.0.2.1}\nports: {lan: {device: af_packet eth1}}\nsignalling: {mode: observe, key_file: /etc/surety/of-tree.key}\n")
    (root / "etc/surety/of-tree.key").write_text("")
    (root / "etc/surety/of-tree.key").chmod(0o600)
    said = json.loads(sh(SURETY, "doctor", "--root", root, "--json", check=False).stdout)
    by_name = {c["check"]: c for c in said["checks"]}
    assert by_name["secrets"]["verdict"] == "ok" and by_name["configuration"]["says"] == "/etc/surety/surety.yaml is valid"
    assert by_name["programs"]["verdict"] == "error"  # this machine has them, the tree has not
    (root / "etc/surety/of-tree.key").chmod(0o604)
    done = sh(SURETY, "doctor", "--root", root, "--fix", check=False)
    assert "chmod o-rwx /etc/surety/of-tree.key" in (root / "commands/log").read_text()  # written down, not run
    assert done.returncode == 1 and (root / "etc/surety/of-tree.key").stat().st_mode & 0o777 == 0o604


def test_included_files_are_the_trees(tmp_path):
    """By a pattern beside the main file, and by a name that starts at the root: the tree's, not this machine's."""
    root = tree(tmp_path)
    (root / "etc/surety/surety.yaml").write_text("version: 1\ninclude: [more/*.yaml, /etc/surety/wan-of-tree.yaml]\nports: {lan: {device: af_packet eth1}}\n")
    (root / "etc/surety/more").mkdir()
    (root / "etc/surety/more/a.yaml").write_text("routes: [{to: 10.9.0.0/16, via: 10.2.0.9}]\n")
    wan = root / "etc/surety/wan-of-tree.yaml"
    wan.write_text("ports: {wan: {device: af_packet eth7, addresses: [10.2.0.1/24]}}\n")

    def said():
        return {c["check"]: c for c in json.loads(sh(SURETY, "doctor", "--root", root, "--json", check=False).stdout)["checks"]}
    found = said()
    assert found["configuration"]["says"] == "/etc/surety/surety.yaml is valid"
    assert found["devices"]["verdict"] == "error" and "port wan: there is no eth7" in found["devices"]["says"]
    (root / "etc/surety/more/a.yaml").write_text("routes: [{to: 10.9.0.0/99}]\n")
    found = said()["configuration"]
    assert found["verdict"] == "error" and "/etc/surety/more/a.yaml:1:" in found["says"]
    wan.unlink()
    assert "wan-of-tree.yaml" in said()["configuration"]["says"]
