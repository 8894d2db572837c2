# SPDX-License-Identifier: BSD-3-Clause
"""surety.service of the package under a systemd that is process 1: started, reloaded, followed, killed, stopped and upgraded."""
import json
import pathlib
import re

import pytest

from booted import Booted
from chroot import APT, NEW, OLD, Chroot, packages
from harness import wait_for
from pair import Pair, ports
from test_packages import router

pytestmark = pytest.mark.paced("`surety upgrade` gives up after five seconds without an answer, which a busy machine may take")
UNIT = "surety.service"
RESTART = 90  # s: since systemd 254 the unit waits for up to a minute (RestartMaxDelaySec)
# What the unit leaves (CapabilityBoundingSet=).
CAPABILITIES = {"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_BPF", "CAP_PERFMON", "CAP_IPC_LOCK", "CAP_SYS_ADMIN", "CAP_SYS_RAWIO", "CAP_DAC_READ_SEARCH"}
MORE = "dpdk: {hugepages: off, max_routes: 1024}\nmetrics: {listen: off}\n"


class Edge:
    """A machine with surety.service between the two hosts of a Pair."""

    def __init__(self, pair, machine, file):
        self.pair, self.machine, self.file = pair, machine, file

    def configure(self, yaml):
        self.file.write_text(f"version: 1\n{yaml}{MORE}")

    def systemctl(self, *words, **more):
        return self.machine.run("systemctl", *words, UNIT, **more)

    def show(self, name):
        return self.machine.show(UNIT, name)

    @property
    def main(self):
        return int(self.show("MainPID"))

    def status(self, pid):
        """/proc/PID/status, and which files it sees and where it belongs."""
        lines = self.machine.run("cat", f"/proc/{pid}/status").stdout.splitlines()
        found = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        kept = {name: found[name] for name in ("CapPrm", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Umask", "PPid")}
        mounts = self.machine.run("cat", f"/proc/{pid}/mountinfo").stdout.splitlines()
        kept["mounts"] = sorted({tuple(line.split()[3:6]) for line in mounts})
        kept["group"] = self.machine.run("grep", "^0:", f"/proc/{pid}/cgroup").stdout.strip()
        kept["limits"] = self.machine.run("cat", f"/proc/{pid}/limits").stdout
        return kept

    def forwards(self):
        """a packet of host a arrives at host b"""
        return self.pair.a.namespace.run("ping", "-n", "-c", "1", "-W", "1", self.pair.b.address(4), check=False).returncode == 0

    def is_up(self):
        """the unit is active, and a packet passes"""
        return self.show("ActiveState") == "active" and "2 of 2 ports up" in self.show("StatusText") and self.forwards()

    def is_another_than(self, pid):
        """the unit has another main process, and is up"""
        return self.main not in (0, pid) and self.is_up()

    def is_followed_after(self, number):
        """How often systemd has started it since; by itself, after this signal to the main process."""
        before, restarts = self.main, int(self.show("NRestarts"))
        self.systemctl("kill", "--kill-who=main", "--signal", number)
        wait_for(lambda: self.is_another_than(before), RESTART)
        return int(self.show("NRestarts")) - restarts


@pytest.fixture(scope="module")
def booted(tmp_path_factory):
    debs = {version: router(files) for version, files in packages().items()}
    with Chroot(tmp_path_factory.mktemp("debian")) as debian, Pair() as pair:
        debian.run(*APT, "install", "systemd", *debian.put(debs[OLD]))
        new = debian.put(debs[NEW])
        pair.router.run("sysctl", "-q", "net.ipv4.ip_forward=0")
        file = debian.root / "etc/surety/surety.yaml"
        file.write_text(f"version: 1\n{ports()}{MORE}")
        drop_ins = debian.root / f"etc/systemd/system/{UNIT}.d"
        drop_ins.mkdir()
        (drop_ins / "watchdog.conf").write_text("[Service]\nWatchdogSec=4\n")  # the unit's own ten seconds: test_unit.py
        with Booted(pair.router, debian.root) as machine:
            edge = Edge(pair, machine, file)
            edge.new_packages = new
            yield edge


@pytest.fixture
def edge(booted):
    booted.configure(ports())
    booted.systemctl("start")
    booted.systemctl("reload")
    wait_for(booted.is_up)
    return booted


def test_it_is_started_with_the_machine_as_its_unit_says(booted):
    """Nobody has started it: the package has it enabled."""
    wait_for(booted.is_up)
    assert booted.show("NRestarts") == "0"
    status = booted.status(booted.main)
    names = booted.machine.run("systemctl", "show", "--value", "-p", "CapabilityBoundingSet", UNIT).stdout.upper().split()
    assert set(names) == CAPABILITIES and status["NoNewPrivs"] == "1" and status["PPid"] == "1"
    assert int(status["Seccomp_filters"]) > 1, "systemd's, and its own"
    assert status["group"] == f"0::/system.slice/{UNIT}"
    assert any(point == "/" and "ro" in how.split(",") for _, point, how in status["mounts"])


def addresses(edge, port):
    """Which the router has given it."""
    links = json.loads(edge.machine.run("ip", "-json", "-4", "address", "show", port).stdout)
    return {a["local"] for link in links for a in link.get("addr_info", [])}


@pytest.mark.parametrize("how", ["reload", "SIGHUP"])
def test_it_reads_its_configuration_again(edge, how):
    main = edge.main
    edge.configure(ports().replace("10.1.0.254/24", "10.9.0.254/24"))
    if how == "reload":
        edge.systemctl("reload")
    else:
        edge.systemctl("kill", "--kill-who=main", "--signal", "SIGHUP")
    wait_for(lambda: addresses(edge, "lan0") == {"10.9.0.254"})
    edge.configure(ports())
    edge.systemctl("reload")
    edge.file.write_text(f"version: 1\nwrong-{how.lower()}: {{}}\n")
    done = edge.systemctl("reload", check=False)
    assert done.returncode == 1 and f"unknown key `wrong-{how.lower()}`" in edge.machine.log(UNIT)
    wait_for(edge.is_up)
    assert edge.main == main


def test_one_that_is_killed_is_started_again(edge):
    assert edge.is_followed_after("SIGKILL") == 1


def test_one_that_stands_still_is_started_again(edge):
    """All of it, its own watchdog, too: systemd is the one that hears nothing."""
    assert edge.is_followed_after("SIGSTOP") == 1
    assert "Watchdog timeout" in edge.machine.log(UNIT)


def test_its_successor_is_the_same_service(edge):
    """By `surety upgrade` from a shell, the program's file being another one than the router has been started from."""
    edge.machine.run("sh", "-c", "cp /usr/sbin/surety /usr/sbin/surety.new && mv /usr/sbin/surety.new /usr/sbin/surety")
    old, restarts = edge.main, edge.show("NRestarts")
    before = edge.status(old)
    since = edge.show("ActiveEnterTimestampMonotonic")
    said = edge.machine.run("surety", "upgrade").stdout
    assert re.fullmatch(rf"process {edge.main} has taken over from process {old}\n", said) and edge.main != old
    wait_for(edge.is_up)
    assert edge.status(edge.main) == before
    assert edge.machine.run("readlink", f"/proc/{edge.main}/exe").stdout == "/usr/sbin/surety\n"
    assert (edge.show("NRestarts"), edge.show("ActiveEnterTimestampMonotonic")) == (restarts, since), "it was active all the while"
    assert "not our child" not in edge.machine.log(UNIT)
    wait_for(lambda: edge.machine.run("cat", f"/sys/fs/cgroup/system.slice/{UNIT}/cgroup.procs").stdout == f"{edge.main}\n")
    edge.systemctl("reload")
    assert edge.is_followed_after("SIGSTOP") == 1
    assert edge.machine.run("surety", "upgrade").returncode == 0
    assert edge.is_followed_after("SIGKILL") == 1, "systemd sees a successor's end, too"


def test_a_successor_that_cannot_start_changes_nothing(edge):
    main = edge.main
    edge.file.write_text("version: 1\nsuccessor: {}\n")
    done = edge.machine.run("surety", "upgrade", check=False)
    assert done.returncode == 1 and f"`journalctl -u {UNIT}` says why" in done.stderr
    assert "unknown key `successor`" in edge.machine.log(UNIT)
    wait_for(edge.is_up)
    edge.configure(ports())
    edge.systemctl("reload")
    assert edge.main == main, "what was asked for is not asked for any more"


def test_nobody_but_who_waits_for_it_makes_a_reload_an_upgrade(edge):
    """A request of a `surety upgrade` that was killed, and one where a router itself could have made it."""
    main = edge.main
    edge.machine.run("sh", "-c", f"mkdir -p /run/surety-upgrade && touch /run/surety-upgrade/{main} /run/surety/upgrade-{main}")
    edge.systemctl("reload")
    wait_for(edge.is_up)
    assert edge.main == main
    edge.machine.run("rm", f"/run/surety/upgrade-{main}")
    assert edge.machine.run("surety", "upgrade").returncode == 0 and edge.main != main, "what was left is in nobody's way"


def test_a_unit_with_another_reload_has_a_successor_that_is_less_confined(edge):
    """An operator's own: it is told so."""
    drop_in = edge.machine.root / f"etc/systemd/system/{UNIT}.d/reload.conf"
    drop_in.write_text("[Service]\nExecReload=\nExecReload=/bin/true\n")
    edge.machine.run("systemctl", "daemon-reload")
    try:
        before = edge.status(edge.main)
        done = edge.machine.run("surety", "upgrade")
        assert f"{UNIT} has no `ExecReload=surety reload`" in done.stderr
        assert f"process {edge.main} has taken over" in done.stdout and edge.is_up()
        now = edge.status(edge.main)
        assert (now["group"], now["CapBnd"]) == (before["group"], before["CapBnd"])
        assert edge.is_followed_after("SIGKILL") == 1
    finally:
        drop_in.unlink()
        edge.machine.run("systemctl", "daemon-reload")


def test_the_package_of_another_version_restarts_it(edge):
    old = edge.main
    edge.machine.run("dpkg", "--force-confold", "-i", *edge.new_packages)
    wait_for(lambda: edge.is_another_than(old))
    assert NEW in edge.machine.run("dpkg-query", "-W", "surety").stdout


def test_what_is_stopped_leaves_nothing(edge):
    edge.systemctl("stop")
    assert (edge.show("ActiveState"), edge.show("Result"), edge.show("MainPID")) == ("inactive", "success", "0")
    assert not (pathlib.Path(f"{edge.machine.group}/system.slice/{UNIT}")).exists()
    assert edge.machine.run("sh", "-c", "find /run/surety /run/dpdk ! -type d").stdout == ""
    links = edge.machine.run("ip", "-d", "link").stdout
    assert "xdp" not in links and "surety" not in links
    assert addresses(edge, "lan0") == addresses(edge, "wan0") == set()
