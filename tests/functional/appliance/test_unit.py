# SPDX-License-Identifier: BSD-3-Clause
"""surety.service as it is installed: read by systemd's own tools, and its command run in the sandbox that it asks for.

No systemd is process 1 here; manager.py stands in for it. What it cannot do is LEFT_OUT, and was not run.
"""
import ctypes
import json
import os
import pathlib
import re
import signal

import pytest

from harness import ROOT, Lab, sh, wait_for
from pair import Pair, ports
from service import Service

EXPOSURE = 4.2  # of 10, `systemd-analyze security`; half of it is what a router is: root, of this network, with raw sockets
LEFT_OUT = ["CPUWeight", "ProtectHostname", "ProtectProc", "RestrictSUIDSGID"]
UNITS = "/usr/local/lib/systemd/system"
UNIT = f"{UNITS}/surety.service"
PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000
WATCHDOG = 4  # seconds, instead of the unit's 10, where a test waits for it


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What `cmake --install` gives, in a directory that is laid over this machine's."""
    layer = tmp_path_factory.mktemp("installed")
    for component in ("router", "console", "system"):
        sh("cmake", "--install", ROOT / "build/release", "--component", component, env={"PATH": "/usr/bin:/bin", "DESTDIR": str(layer)})
    return layer


@pytest.fixture
def lab():
    with Lab() as lab:
        yield lab


def configure(layer, yaml, name="surety"):
    more = "dpdk: {hugepages: off, max_routes: 1024}\nmetrics: {listen: off}\n"
    (layer / f"etc/surety/{name}.yaml").write_text(f"version: 1\nrouter: {{name: {name}}}\n{yaml}{more}")


@pytest.fixture
def configured(installed):
    """Writes a configuration; afterwards there is the installed one again."""
    first = (installed / "etc/surety/surety.yaml").read_text()
    yield lambda yaml, name="surety": configure(installed, yaml, name)
    (installed / "etc/surety/surety.yaml").write_text(first)


def test_everything_is_where_the_fhs_has_it(installed):
    files = {str(p.relative_to(installed)) for p in installed.rglob("*") if p.is_file()}
    assert {"usr/local/sbin/surety", "usr/local/lib/surety/bpf/steer.bpf.o", "usr/local/share/surety/console/index.html",
            "usr/local/share/doc/surety/examples/minimal.yaml", "etc/surety/surety.yaml", UNIT[1:]} <= files
    assert {f.split("/")[0] for f in files} == {"usr", "etc"}


def test_systemd_can_read_the_units(installed, tmp_path):
    """`verify` says nothing of them: every key is known to this systemd, and the programs are there. It reads those of other packages, too."""
    names = ("surety.service", "surety@.service", "surety-boot.service")
    units = " ".join([*(str(installed / UNITS[1:] / name) for name in names), str(ROOT / "deploy/radius/surety-radius.service")])
    done = sh("unshare", "--mount", "sh", "-c",
              f"mount --bind {installed}/usr/local/sbin /usr/local/sbin && systemd-analyze verify --man=no {units}", check=False)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith(("/lib/systemd/system/", "/usr/lib/systemd/system/"))]
    assert (done.returncode, ours) == (0, [])


@pytest.mark.parametrize("unit", ["surety.service", "surety@.service"])
def test_little_is_exposed(installed, tmp_path, unit):
    """systemd-analyze knows PrivateTmp alone: that /tmp and /var/tmp are file systems of the service's own hides as much."""
    text = (installed / UNITS[1:] / unit).read_text()
    assert "\nTemporaryFileSystem=/tmp:mode=1777 /var/tmp:mode=1777\n" in text
    (tmp_path / unit).write_text(text.replace("\nTemporaryFileSystem=", "\nPrivateTmp=yes\nTemporaryFileSystem="))
    said = sh("systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE * 10:.0f}", tmp_path / unit, check=False)
    overall = re.search(r"Overall exposure level for \S+: (\S+)", said.stdout)
    assert overall and said.returncode == 0, f"{overall and overall[0]}, allowed {EXPOSURE}"


def test_a_router_that_nobody_configured_touches_nothing_and_says_what_to_do(installed, lab):
    lab.host("a", "lan0", ["10.1.0.1/24"])

    def links():
        found = json.loads(lab.router.ip("-j", "-d", "addr").stdout)
        return [{k: v for k, v in link.items() if k not in ("stats64", "stats")} for link in found]

    # Nor does the kernel, once its addresses are there.
    wait_for(lambda: all("fe80" in str(link) and "tentative" not in str(link) for link in links() if link["ifname"] != "lo"))
    before = links()
    with Service(lab.router, UNIT, layer=str(installed), drop_in=[f"WatchdogSec={WATCHDOG}"]) as service:
        assert service.wait("sandbox")["left_out"] == LEFT_OUT
        main = service.wait("started")["pid"]
        service.wait("READY")
        assert "no ports, nothing is forwarded: `surety setup`" in service.wait("STATUS")["value"]
        assert "no ports, nothing is forwarded: `surety setup`" in service.log()
        status, output, error = service.run("/usr/local/sbin/surety", "show", "ports")
        assert status == 0, error
        assert links() == before
        used, fed = cpu(main), [service.wait("WATCHDOG")["time"] for _ in range(3)]
        assert fed[2] - fed[0] > WATCHDOG / 4, "twice a quarter of its patience, but for delays of this machine"
        share, rss = (cpu(main) - used) / (fed[2] - fed[0]), memory(main)
        print(f"idle: {share:.1%} of a core, {rss} MB resident")
        assert share < 0.1
        assert service.stop() == 0
        assert [e["event"] for e in service.events if e["event"] in ("READY", "STOPPING")] == ["READY", "STOPPING"]
    assert links() == before


def cpu(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory(pid):
    return int(re.search(r"VmRSS:\s*(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) // 1024


def test_it_forwards_in_its_sandbox_and_reloads(installed, configured):
    with Pair() as pair:
        configured(ports())
        with Service(pair.router, UNIT, layer=str(installed)) as service:
            service.wait("READY")
            pair.meet()
            wait_for(lambda: "2 of 2 ports up" in service.wait("STATUS")["value"])
            assert " capabilities, no new privileges, " in service.log()
            configured(ports().replace("addresses", "mtu: 1400, addresses", 1))
            service.do("reload")
            assert service.wait("reloaded")["status"] == 0
            service.wait("RELOADING")
            service.wait("READY")
            configured("porst: {}\n")
            service.do("reload")
            assert service.wait("reloaded")["status"] == 1, "systemctl reload fails"
            assert "unknown key `porst`" in service.log()
            wait_for(lambda: "2 of 2 ports up, 0 contracts; the last reload was refused" in service.wait("STATUS")["value"])
            pair.meet()
            assert service.stop() == 0
            assert "Operation not permitted" not in service.log()


def test_an_instance_has_its_name(installed, configured, lab):
    configured("ports: {}\n", "edge-1")
    with Service(lab.router, f"{UNITS}/surety@edge-1.service", layer=str(installed)) as service:
        service.wait("READY")
        assert "edge-1 forwards between 0 ports" in service.log()
        assert service.stop() == 0


def test_one_that_is_stopped_from_outside_is_started_anew(installed, lab):
    """Its own watchdog stands with it."""
    with Service(lab.router, UNIT, layer=str(installed), drop_in=[f"WatchdogSec={WATCHDOG}"]) as service:
        service.wait("READY")
        service.wait("WATCHDOG")
        service.do("signal", number=int(signal.SIGSTOP))
        stopped = len(service.events)
        ended = service.wait("watchdog")["time"]
        fed = [e["time"] for e in service.events if e["event"] == "WATCHDOG"]
        assert ended - fed[-1] > 0.9 * WATCHDOG
        assert sum(e["event"] == "WATCHDOG" for e in service.events[stopped:]) <= 1, "what it had sent before"
        assert service.wait("ended")["status"] == -signal.SIGABRT
        service.wait("READY")


def reaped(thread):
    """the thread that we trace has ended; until we know, its process stays"""
    found, status = os.waitpid(thread, os.WNOHANG | WALL)
    return found == thread and not os.WIFSTOPPED(status)


def test_a_worker_that_stands_still_feeds_nothing(installed, lab):
    libc = ctypes.CDLL(None, use_errno=True)
    with Service(lab.router, UNIT, layer=str(installed)) as service:
        main = service.wait("started")["pid"]
        service.wait("READY")
        service.wait("WATCHDOG")
        thread = next(int(t.name) for t in pathlib.Path(f"/proc/{main}/task").iterdir()
                      if "-worker" in (t / "comm").read_text())  # rte-worker-1, or dpdk-worker1
        assert libc.ptrace(PTRACE_SEIZE, thread, None, None) == 0 and libc.ptrace(PTRACE_INTERRUPT, thread, None, None) == 0
        fed = len([e for e in service.events if e["event"] == "WATCHDOG"])
        wait_for(lambda: reaped(thread), 60)
        assert service.wait("ended")["status"] == 2, "its own watchdog's"
        assert len([e for e in service.events if e["event"] == "WATCHDOG"]) <= fed + 1
        service.wait("READY")
