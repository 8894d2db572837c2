# SPDX-License-Identifier: BSD-3-Clause
"""`surety setup`: what it takes, what it never takes, and that all of it is undone, whenever it was killed."""
import os
import pty
import random
import select
import subprocess
import time

import pytest

from harness import ROOT, SURETY, sh, wait_for
from machine import Machine, contents, tree

# Nothing of this machine beyond the namespace: its memory and cores are others'.
MODEST = ("--hugepages", "0", "--isolate", "none")


@pytest.fixture
def machine(tmp_path):
    with Machine(tmp_path) as made:
        yield made


def on_tree(root, *arguments, **options):
    return sh(SURETY, "setup", "--root", root, *arguments, **options)


def test_without_a_terminal_it_changes_nothing(machine):
    done = machine.surety("setup")
    assert done.returncode == 1 and "Nothing was changed" in done.stdout and "eth3" in done.stdout
    assert "af_xdp eth1, af_xdp eth2, af_xdp eth3" in machine.surety("setup", "--dry-run", check=True).stdout
    assert not machine.etc("surety").exists() and not any((machine.directory / "state").iterdir())


def test_it_never_takes_the_way_to_the_machine(machine):
    """Through a bridge, and for whoever is here by SSH. VLANs and bonds, which not every kernel has: nics_test.cc."""
    n = machine.namespace
    n.ip("link", "add", "br0", "type", "bridge")
    n.ip("link", "set", "eth1", "master", "br0")
    for device, address in (("br0", "10.9.0.1/24"), ("eth2", "10.7.0.1/24")):
        n.ip("link", "set", device, "up")
        n.ip("address", "add", address, "dev", device)
    n.ip("route", "add", "default", "via", "10.9.0.9", "table", "100")
    for ssh, nic in (("", "eth1"), ("10.7.0.7 40000 10.7.0.1 22", "eth2")):
        environment = {"SSH_CONNECTION": ssh} if ssh else {}
        done = machine.surety("setup", "--yes", *MODEST, "--ports", f"eth3,{nic}", **environment)
        assert done.returncode == 1 and f"{nic} carries the" in done.stderr, done.stderr
    # sudo takes the variable away: it is found where the shell before it has it
    hidden = machine.command("sh", "-c", f"env -u SSH_CONNECTION {SURETY} setup --yes --ports eth2; true")
    done = sh(*hidden, env={**os.environ, "SSH_CONNECTION": "10.7.0.7 40000 10.7.0.1 22"})
    assert "eth2 carries the SSH session from 10.7.0.7" in done.stderr
    taken = machine.surety("setup", "--yes", *MODEST, check=True).stdout
    assert "a first configuration with af_xdp eth3\n" in taken  # eth1 is kept, eth2 has an address


def test_a_router_starts_with_the_first_configuration_and_undo_removes_it(machine):
    machine.surety("setup", "--yes", *MODEST, check=True)
    path = "/etc/surety/surety.yaml"
    assert "ok: 3 ports" in machine.surety("check", path, check=True).stdout
    mac = machine.namespace.mac("eth2")
    assert f'name: "eth2", pci: "", mac: "{mac}"' in machine.etc("surety/machine.yaml").read_text()
    log = machine.directory / "log"
    with open(log, "w") as out:
        router = subprocess.Popen(machine.command(SURETY, "run", path), stdout=out, stderr=out)
    try:
        wait_for(lambda: router.poll() is not None or machine.surety("show", "ports", "--name", "surety").returncode == 0, 60)
        assert router.poll() is None, log.read_text()
        assert machine.surety("show", "ports", "--name", "surety").stdout.count("eth") >= 3
    finally:
        router.terminate()
        router.wait(120)
    machine.surety("setup", "--undo", check=True)
    left = [p for p in machine.etc("").rglob("*") if p.is_file()]
    assert not left and "nothing to undo" in machine.surety("setup", "--undo", check=True).stdout


def test_a_configuration_of_the_operator_stays(machine):
    machine.configure("ports: {p: {device: \"null\"}}\n")
    before = machine.etc("surety/surety.yaml").read_text()
    assert "since it is yours" in machine.surety("setup", "--yes", *MODEST, check=True).stdout
    assert machine.etc("surety/surety.yaml").read_text() == before


class Terminal:
    """`surety setup` that asks."""

    def __init__(self, machine, *arguments):
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(machine.command(SURETY, "setup", *arguments), stdin=theirs, stdout=theirs, stderr=theirs,
                                        env={**os.environ, "SURETY_STATE": str(machine.directory / "state")})
        os.close(theirs)

    def asked(self, question):
        said, until = "", time.monotonic() + 30
        while question not in said:
            assert select.select([self._ours], [], [], max(0, until - time.monotonic()))[0], said
            said += os.read(self._ours, 4096).decode()

    def answer(self, words):
        os.write(self._ours, words)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def test_at_a_terminal_it_asks(machine):
    with Terminal(machine, *MODEST) as terminal:
        terminal.asked("Which NICs shall the router use? [eth1, eth2, eth3]")
        terminal.answer(b"eth2\n")
        terminal.asked("Do this? [y/N]")
        terminal.answer(b"y\n")
        assert terminal.process.wait(120) == 0
    assert "device: af_xdp eth2" in machine.etc("surety/surety.yaml").read_text()
    assert "eth1" not in machine.etc("surety/surety.yaml").read_text()


def test_of_two_the_second_learns_who_the_first_is(machine):
    """While he is asked, nobody changes what his answer is about."""
    with Terminal(machine, *MODEST) as terminal:
        terminal.asked("Which NICs shall the router use?")
        for arguments in (["--yes", *MODEST], ["--undo"]):
            second = machine.surety("setup", *arguments)
            assert second.returncode == 1 and f"(setup, process {terminal.process.pid}) is changing this at the moment" in second.stderr
        assert "af_xdp eth1" in machine.surety("setup", "--dry-run", check=True).stdout
        terminal.answer(b"eth2\n")
        terminal.asked("Do this? [y/N]")
        terminal.answer(b"y\n")
        assert terminal.process.wait(120) == 0
    assert "device: af_xdp eth2" in machine.etc("surety/surety.yaml").read_text()


def test_the_boot_goes_on_with_what_is_there(machine):
    machine.surety("setup", "--yes", *MODEST, check=True)
    machine.peer.ip("link", "delete", "eth1")
    for change in (("down",), ("name", "eth9"), ("up",)):
        machine.namespace.ip("link", "set", "eth9" if change == ("up",) else "eth2", *change)
    done = machine.surety("setup", "--boot", check=True)
    assert "eth1 (PCI , MAC" in done.stderr and "is missing" in done.stderr and "eth2 is named eth9 now" in done.stderr


@pytest.mark.parametrize("then", ["undo", "again"])
def test_killed_at_any_instant_it_is_undone(tmp_path, then):
    """Also what was being undone: always the machine as it was, every file and mode."""
    root = tree(tmp_path)
    before = contents(root)
    began = time.monotonic()
    on_tree(root, "--yes")
    whole = time.monotonic() - began
    assert contents(root) != before
    on_tree(root, "--undo")
    assert contents(root) == before
    chance = random.Random(1)
    killed = 0
    for _ in range(40):
        for arguments in (["--yes"], ["--undo"]):
            process = subprocess.Popen([SURETY, "setup", "--root", root, *arguments], stdout=subprocess.DEVNULL)
            time.sleep(chance.random() * whole)
            process.kill()
            killed += process.wait() != 0
        if then == "again":
            on_tree(root, "--yes", "--ports", "eth2")
        on_tree(root, "--undo")
        assert contents(root) == before
    assert killed > 10


@pytest.mark.parametrize("did", [True, False])
def test_purge_keeps_what_undoes_setup(tmp_path, did):
    """The package's script alone; test_packages.py has it from dpkg."""
    state = tmp_path / "var-lib/surety"
    (state / "edge/generations").mkdir(parents=True)
    for name in ("lock", "edge/lock") + (("setup.json",) if did else ()):
        (state / name).write_text("x")
    script = "mount --bind $0 /var/lib && mount -t tmpfs tmpfs /run && mkdir /run/surety && sh $1 purge && test ! -e /run/surety"
    said = sh("unshare", "--mount", "--propagation", "private", "sh", "-c", script, tmp_path / "var-lib", ROOT / "deploy/debian/surety.postrm")
    assert [p.name for p in tmp_path.rglob("*")] == ["var-lib"] + ["surety", "setup.json"] * did
    assert ("surety setup --undo" in said.stderr) == did


def test_a_full_disk_changes_nothing_that_cannot_be_undone(tmp_path):
    root = tree(tmp_path)
    before = contents(root)
    state = root / "var/lib/surety"
    state.mkdir(parents=True)
    sh("mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=2", "tmpfs", state)
    try:
        (state / "lock").write_text("x" * 4096)
        done = on_tree(root, "--yes", check=False)
        assert done.returncode == 1 and "No space left on device" in done.stderr
        assert contents(root) == before
    finally:
        sh("umount", state)
