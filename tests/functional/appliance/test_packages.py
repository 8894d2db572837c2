# SPDX-License-Identifier: BSD-3-Clause
"""The packages, in a Debian that debootstrap has just made: in, up, back, out, and what a power cut or a full disk makes of that."""
import json
import os
import pathlib
import re
import shutil
import signal
import tempfile
import time

import pytest

import customers
import verdict
from chroot import APT, NAMES, NEW, OLD, Chroot, build, packages
from harness import ROOT, Lab, sh, wait_for
from service import Service
from trial import Trial

UNIT = "/lib/systemd/system/surety.service"
# libc6 of Debian 13 recommends or suggests what came with us.
NOT_FOR_OTHERS = [word for weak in ("Recommends", "Suggests") for word in ("-o", f"APT::AutoRemove::{weak}Important=false")]


@pytest.fixture(scope="module")
def debs():
    """{version: [file, ...]}"""
    return packages()


@pytest.fixture(scope="module")
def chroot(tmp_path_factory):
    with Chroot(tmp_path_factory.mktemp("debian")) as made:
        yield made


def router(debs):
    return [d for d in debs if d.name.startswith(("surety_", "surety-common_"))]


def test_the_same_commit_gives_the_same_packages(debs, tmp_path):
    """From one build, at another time: the compiler's part is under --long, below."""
    again = build(tmp_path, NEW)
    assert [d.name for d in again] == [d.name for d in debs[NEW]] and len(again) == len(NAMES)
    for one, other in zip(debs[NEW], again):
        assert one.read_bytes() == other.read_bytes(), one.name


@pytest.mark.alone("compiles everything again")
@pytest.mark.long("minutes of two cores")
def test_the_same_commit_gives_the_same_programs_elsewhere(tmp_path):
    """This tree's build beside one in a directory of another name and length, without ccache."""
    tree = tmp_path / "a-longer-name/surety"
    sh("git", "-c", "safe.directory=*", "clone", "-q", ROOT, tree)
    sh("sh", "-c", 'tar -C "$0" --exclude=./build --exclude=./.git -cf - . | tar -C "$1" -xf -', ROOT, tree)
    env = {**os.environ, "CCACHE_DISABLE": "1"}
    sh("cmake", "--preset", "release", cwd=tree, env=env)
    sh("cmake", "--build", "--preset", "release", "--target", "surety", "surety-endpoint", "surety-gtcp", "surety-lab", "steer_bpf",
       "guard_bpf", "divert_bpf", "take_all_bpf", "pages", cwd=tree, env=env, timeout=3600)
    builds = []
    for name, made in (("here", ROOT / "build/release"), ("there", tree / "build/release")):
        sh(tree / "deploy/package", "--from", made, "--to", tmp_path / name, timeout=300)
        builds.append(sorted((tmp_path / name).glob("*.deb")))
    assert builds[0] and [d.name for d in builds[0]] == [d.name for d in builds[1]]
    for one, other in zip(*builds):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_lintian_finds_nothing(debs):
    pages = [] if (ROOT / "deploy/man").exists() else ["--suppress-tags", "no-manual-page"]
    done = sh("lintian", "--fail-on", "error,warning", *pages, *debs[NEW], check=False, timeout=300)
    assert done.returncode == 0, done.stdout
    for file in (ROOT / "deploy/debian").glob("*.lintian-overrides"):
        lines = file.read_text().splitlines()
        assert all(lines[i - 1].startswith("# ") for i, line in enumerate(lines) if i and not line.startswith("#")), "a reason for each"


class PackagedTrial(Trial):
    """`with PackagedTrial(root) as trial:`: the trial of deploy/try through surety.service of a chroot."""

    def __init__(self, root):
        super().__init__(f"sp-{os.getpid()}", pathlib.Path(tempfile.mkdtemp(prefix="sf-")), None, True)
        self.root, self.service = root, None

    def __enter__(self):
        try:
            self.build()
            (self.root / "etc/surety/surety.yaml").write_text(re.sub(r"\n\nmetrics: .*", "", customers.router_yaml("surety", True)))
            self.service = Service(self.namespaces["router"], UNIT, root=str(self.root))
            self.service.wait("READY")
            self.start_customers()
            self.start_flood()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            if self.service:
                self.service.__exit__()
        finally:
            self.remove()

    def restart(self):
        """As the package's script has systemd do. How long nothing was ready."""
        self.service.do("restart")
        stops = self.service.wait("STOPPING")["time"]
        return self.service.wait("READY")["time"] - stops

    def goes_on(self):
        """Every customer's connection delivers, from now on, what he buys in two seconds."""
        first = self.goodput()

        def served():
            """every customer's connection goes on"""
            now = self.goodput()
            return all(now[c.name] - first[c.name] > 2 * c.mbits * 1e6 / 8 for c in customers.CUSTOMERS)
        wait_for(served, 60, 0.2)

    def lost_while(self, change):
        """Pings of a customer, 100 a second, that got no answer from `change` until all go on; of how many, and what it gave."""
        ping = self.namespaces["gold"].popen("ping", "-n", "-i", "0.01", customers.FAR)
        given = change()
        self.goes_on()
        ping.send_signal(signal.SIGINT)
        sent, got = map(int, re.search(r"(\d+) packets transmitted, (\d+) received", ping.communicate(timeout=120)[0]).groups())
        return sent - got, sent, given

    def rates(self, seconds=8):
        first = self.measure()[0]
        time.sleep(seconds)
        last = self.measure()[0]
        return [verdict.judge(c, first, last) for c in customers.CUSTOMERS]


JOURNAL = "var/lib/surety/setup.json"


def put_a_step_of_setup(root):
    """As `surety setup` writes it down: a file that was not there before. Its name."""
    name, text = "etc/default/isolated-cores", "isolcpus=2\n"
    (root / name).write_text(text)
    (root / JOURNAL).parent.mkdir(exist_ok=True)
    (root / JOURNAL).write_text(json.dumps([{"kind": "file", "path": f"/{name}", "before": None, "after": text, "mode": 0o644, "undo": []}]))
    return name


def test_a_life_of_a_router(chroot, debs):
    """In, customers, upgrade, rollback, out, purge."""
    before = chroot.files()
    chroot.install(debs[OLD])
    assert {n: chroot.version(n) for n in NAMES} == dict.fromkeys(NAMES, OLD)
    for command in (["surety", "check", "/etc/surety/surety.yaml"], ["surety-endpoint", "--help"], ["surety-gtcp", "--help"],
                    ["surety-lab", "papers", "--help"]):
        chroot.run(*command)
    with Lab() as lab:
        lab.host("a", "lan0", ["10.1.0.1/24"])
        with Service(lab.router, UNIT, root=str(chroot.root)) as service:
            service.wait("READY")
            assert "`surety setup`" in service.wait("STATUS")["value"]
            assert service.stop() == 0
    with PackagedTrial(chroot.root) as trial:
        kept = (chroot.root / "etc/surety/surety.yaml").read_text()
        trial.goes_on()
        for version in (NEW, OLD):
            chroot.install(debs[version])
            trial.restart()
            assert chroot.version("surety") == version
            assert (chroot.root / "etc/surety/surety.yaml").read_text() == kept
            trial.goes_on()
        assert trial.service.stop() == 0
    chroot.run(*APT, "remove", *NAMES)
    chroot.run(*APT, *NOT_FOR_OTHERS, "autoremove", "--purge")
    left = chroot.files() - before
    assert {f for f in left if not f.startswith(("etc/surety", "etc/iproute2", "etc/systemd/system/", "var/lib/surety"))} == set()
    assert "etc/surety/surety.yaml" in left
    step = put_a_step_of_setup(chroot.root)
    purged = chroot.run(*APT, "purge", *NAMES)
    assert "`surety setup --undo`" in purged.stderr + purged.stdout
    assert chroot.files() - before == {"var/lib/surety", JOURNAL, step}
    chroot.install(router(debs[NEW]))
    assert "removed" in chroot.run("surety", "setup", "--undo").stdout
    chroot.run(*APT, "purge", *NAMES)
    chroot.run(*APT, *NOT_FOR_OTHERS, "autoremove", "--purge")
    assert chroot.files() - before == set()
    assert before - chroot.files() == set()


@pytest.mark.alone("measures rates")
@pytest.mark.long("half a minute of rates; test_a_life_of_a_router has the customers go on, test_trial_contracts.py has their rates")
def test_customers_have_their_rates_over_an_upgrade(chroot, debs, capsys):
    chroot.install(debs[OLD])
    with PackagedTrial(chroot.root) as trial:
        trial.goes_on()
        results, lines = {"at first": trial.rates()}, []
        for what, version in (("upgrade", NEW), ("rollback", OLD)):
            def change():
                chroot.install(debs[version])
                return trial.restart()
            lost, sent, took = trial.lost_while(change)
            lines.append(f"{what}: {lost} of {sent} pings (100/s) lost, {took:.2f} s from STOPPING to READY")
            results[f"after the {what}"] = trial.rates()
    for when, judged in results.items():
        lines.append(f"{when}: " + ", ".join(f"{r.name} {r.got:.2f} of {r.committed} Mbit/s" for r in judged))
    with capsys.disabled():
        print("", *lines, sep="\n")
    assert all(r.share > 0.8 for judged in results.values() for r in judged), lines


KILLER = """#!/bin/sh
# Once: the power goes while a package's script runs.
if [ -e /armed ]; then
  rm /armed
  kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID
fi
"""


@pytest.fixture
def killer(chroot):
    """What the scripts call in there kills dpkg and them, if a test has armed it; else it does nothing."""
    names = ["deb-systemd-helper", "deb-systemd-invoke", "systemctl"]
    for name in names:
        file = chroot.root / "usr/local/bin" / name
        file.write_text(KILLER)
        file.chmod(0o755)
    yield chroot.root / "armed"
    for name in names:
        (chroot.root / "usr/local/bin" / name).unlink()


SYSTEMD = "mkdir -p $R/run/systemd/system"  # the scripts believe that it is there


def test_a_script_that_is_killed(chroot, debs, killer):
    chroot.install(router(debs[OLD]))
    for version, what in ((NEW, "postinst of an upgrade"), (OLD, "postinst of a downgrade")):
        killer.touch()
        chroot.unpack(router(debs[version]), check=False, before=SYSTEMD)
        assert not killer.exists() and chroot.version("surety") is None, what
        chroot.run("dpkg", "--configure", "-a", before=SYSTEMD)
        assert chroot.version("surety") == version
    killer.touch()
    chroot.run("dpkg", "--remove", "surety", check=False, before=SYSTEMD)
    assert not killer.exists() and (chroot.root / "usr/sbin/surety").exists(), "prerm"
    chroot.run("dpkg", "--configure", "-a", before=SYSTEMD)
    chroot.run(*APT, "-f", "install", before=SYSTEMD)
    chroot.run(*APT, "remove", "surety", before=SYSTEMD)
    assert chroot.version("surety") is None
    assert (chroot.root / "etc/surety/surety.yaml").exists()


def test_the_power_goes_at_any_moment_of_an_upgrade(chroot, debs):
    chroot.install(router(debs[OLD]))
    file = chroot.root / "etc/surety/surety.yaml"
    kept = file.read_text() + "# by the operator\n"
    file.write_text(kept)
    for n in range(10):
        version = (NEW, OLD)[n % 2]
        chroot.unpack(router(debs[version]), "timeout", "-s", "KILL", f"{0.05 + 0.07 * n:.2f}", check=False)
        # What has been unpacked as a whole; where the power went in the midst of it, dpkg wants the archives once more.
        chroot.run("dpkg", "--configure", "-a", check=False)
        assert file.read_text() == kept
        chroot.unpack(router(debs[version]))
        assert chroot.version("surety") == version and chroot.run("dpkg", "--audit").stdout == ""
        chroot.run("surety", "check", "/etc/surety/surety.yaml")


def test_a_disk_that_is_full(chroot, debs):
    chroot.install(router(debs[OLD]))
    full = "mount -t tmpfs -o size=16k,nr_inodes=8 tmpfs $R/usr/share/doc/surety"
    done = chroot.unpack(router(debs[NEW]), check=False, before=full)
    assert done.returncode != 0 and "No space left on device" in done.stdout + done.stderr
    chroot.run("surety", "check", "/etc/surety/surety.yaml")
    chroot.unpack(router(debs[NEW]))
    assert chroot.version("surety") == NEW
    chroot.run("surety", "check", "/etc/surety/surety.yaml")


def test_the_container_file(debs, tmp_path):
    """No podman here: its lines are followed by hand, in what debian:DEBIAN-slim is made of, with the capabilities that it names."""
    text = (ROOT / "deploy/container/Containerfile").read_text()
    lines = dict(line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    assert list(lines) == ["ARG", "FROM", "COPY", "RUN", "HEALTHCHECK", "ENTRYPOINT", "CMD"]
    assert (lines["ARG"], lines["FROM"]) == ("DEBIAN=12", "debian:$DEBIAN-slim")
    *patterns, to = lines["COPY"].split()
    kept = re.search(r"--cap-add (\S+)", text)[1].lower().split(",")
    bounds = "-all," + ",".join(f"+{c}" for c in kept)
    command = json.loads(lines["ENTRYPOINT"]) + json.loads(lines["CMD"])
    healthy = json.loads(lines["HEALTHCHECK"].removeprefix("CMD "))
    with Chroot(tmp_path) as image:
        for deb in (d for d in debs[NEW] if any(d.match(p) for p in patterns)):
            (image.root / to.strip("/")).mkdir(exist_ok=True)
            shutil.copy(deb, image.root / to.strip("/"))
        image.run("sh", "-c", lines["RUN"])
        done = image.run("setpriv", "--bounding-set", bounds, "--inh-caps", bounds, "sh", "-c", """
            "$@" & router=$!
            for i in $(seq 100); do sleep 0.2; HEALTH && echo healthy && break; done
            kill $router; wait $router; echo ended $?""".replace("HEALTH", " ".join(healthy)), "sh", *command)
    assert "healthy" in done.stdout and "ended 0" in done.stdout and "no ports, nothing is forwarded" in done.stderr
