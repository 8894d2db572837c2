# SPDX-License-Identifier: BSD-3-Clause
"""A Debian whose process 1 is systemd: in namespaces of its own (processes, mounts, control groups, host name) and a network namespace
of the test's, so that nothing of it reaches this machine."""
import contextlib
import os
import pathlib
import signal
import subprocess

import pytest

from harness import sh, wait_for

# What would set this machine's kernel, or wait for devices and people that are not there.
MASKED = ["systemd-sysctl.service", "systemd-udevd.service", "systemd-udev-trigger.service", "systemd-modules-load.service",
          "modprobe@.service", "kmod-static-nodes.service", "systemd-remount-fs.service", "e2scrub_reap.service", "timers.target", "getty.target", "systemd-logind.service"]
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
SHELL = "/sys/fs/cgroup/user.slice"
JOIN = 'mkdir -p "$0" && echo $$ >"$0/cgroup.procs" && exec "$@"'  # of a shell: what it becomes is in that control group
BOOT = """set -e
    exec unshare --mount --propagation private --pid --fork --kill-child --uts --ipc --cgroup sh -c '
    mount --bind $ROOT $ROOT
    mount -t proc proc $ROOT/proc
    mount -t sysfs sysfs $ROOT/sys
    mount -t cgroup2 cgroup2 $ROOT/sys/fs/cgroup
    for d in run tmp dev; do mount -t tmpfs tmpfs $ROOT/$d; done
    for d in null zero full random urandom tty; do touch $ROOT/dev/$d; mount --bind /dev/$d $ROOT/dev/$d; done
    cd $ROOT
    pivot_root . mnt
    umount -l /mnt
    exec env -i container=other /lib/systemd/systemd'
    """


def unified():
    """Where cgroup2 is mounted; with the older hierarchies beside it, that is not /sys/fs/cgroup."""
    mounts = (line.split() for line in pathlib.Path("/proc/self/mounts").read_text().splitlines())
    found = next((words[1] for words in mounts if words[2] == "cgroup2"), None)
    return found or pytest.skip("cgroup2 is not mounted")


class Booted:
    """`with Booted(namespace, root) as machine:`; `root` has systemd, and is up to multi-user.target then."""

    def __init__(self, namespace, root):
        self.root = pathlib.Path(root)
        self.group = pathlib.Path(unified()) / namespace.name
        units = self.root / "etc/systemd/system"
        for name in MASKED:
            with contextlib.suppress(FileExistsError):
                (units / name).symlink_to("/dev/null")
        self.group.mkdir()
        self.process = subprocess.Popen(["sh", "-c", JOIN, self.group, *namespace.command("sh", "-c", BOOT)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, env={**ENVIRONMENT, "ROOT": str(self.root)})
        try:
            self.first = wait_for(self._its_systemd)
            wait_for(pathlib.Path(f"/proc/{self.first}/root/run/systemd/private").exists)
            wait_for(lambda: self.run("systemctl", "is-system-running", check=False).stdout.strip() in ("running", "degraded"))
        except BaseException:
            self.__exit__()
            raise

    def _its_systemd(self):
        """the child that has become systemd: the shells before it have children, too"""
        for child in pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{child}/comm").read_text() == "systemd\n":
                    return int(child)
        return None

    def run(self, *command, check=True, timeout=120):
        """Beside systemd, as from a shell of that machine."""
        return sh("nsenter", "-t", self.first, "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "sh", "-c", JOIN, SHELL, *command,
                  check=check, timeout=timeout, stdin=subprocess.DEVNULL, env=ENVIRONMENT)

    def show(self, unit, name):
        """A property, as `systemctl show` has it."""
        return self.run("systemctl", "show", "--value", "-p", name, unit).stdout.strip()

    def log(self, unit):
        return self.run("journalctl", "-q", "-o", "cat", "-u", unit).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGKILL)  # its process 1 with it, and all of that one's
        self.process.wait(120)
        wait_for(self._has_gone)

    def _has_gone(self):
        with contextlib.suppress(OSError):
            for directory, _, _ in os.walk(self.group, topdown=False):
                os.rmdir(directory)
        return not self.group.exists()
