# SPDX-License-Identifier: BSD-3-Clause
"""A service manager for one unit: what systemd does between `start` and `stop`, for tests where systemd is not process 1.

As root, in a mount namespace of its own:  manager.py ROOT UNIT LAYER [KEY=VALUE...]
ROOT: a directory with a whole system; with LAYER (else empty), that directory's files are laid over this machine's, and it is mounted on ROOT.
The unit's file is looked for in there; KEY=VALUE: of its service, as a drop-in has it. It tells what happens in lines of JSON, and does
what it is told in such lines: {"do": "reload"},
"restart", "stop", {"do": "run", "command": [...]} (beside the service, unconfined), {"do": "signal", "number": 19}.
"""
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

from sandbox import MS_BIND, MS_REC, Sandbox, call_sets, mount
NOT_STARTED = 203


def say(event, **more):
    print(json.dumps({"event": event, "time": time.monotonic(), **more}), flush=True)


def become_root(root, layer):
    os.makedirs(root, exist_ok=True)
    if layer:
        work = root + ".work"
        os.makedirs(work, exist_ok=True)
        mount("tmpfs", work, "tmpfs", 0)
        os.mkdir(f"{work}/work")
        subprocess.run(["cp", "-a", layer, f"{work}/upper"], check=True)
        mount("overlay", root, "overlay", 0, f"lowerdir=/,upperdir={work}/upper,workdir={work}/work")
        mount(f"{layer}/etc/surety", f"{root}/etc/surety", None, MS_BIND)  # tests change it
    else:
        mount(root, root, None, MS_BIND | MS_REC)
    for path in ("/proc", "/sys", "/dev"):
        mount(path, root + path, None, MS_BIND | MS_REC)
    for path in ("/run", "/tmp"):
        mount("tmpfs", root + path, "tmpfs", 0)
    os.chroot(root)
    os.chdir("/")


class Manager:
    def __init__(self, unit, sets, drop_in):
        name = unit.split("/")[-1].removesuffix(".service")
        file = unit.partition("@")[0] + "@.service" if "@" in unit else unit
        self.sandbox = Sandbox(file, sets)
        self.sandbox.service.update({key: [value] for key, _, value in (line.partition("=") for line in drop_in)})
        self.instance = name.partition("@")[2]
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        os.makedirs("/run/systemd", exist_ok=True)
        self.socket.bind("/run/systemd/notify")
        self.watchdog = float(self.sandbox.value("WatchdogSec", "0"))
        self.sandbox.enter()
        self.main, self.fed, self.stopping, self.restarting = None, None, False, False
        say("sandbox", left_out=self.sandbox.left_out)

    def command(self, key):
        return self.sandbox.value(key).replace("%i", self.instance).split()

    def spawn(self, command, more=None):
        environment = {**self.sandbox.environment(), "NOTIFY_SOCKET": "/run/systemd/notify", **(more or {})}
        pid = os.fork()
        if pid == 0:
            try:
                environment["WATCHDOG_PID"] = str(os.getpid())
                os.dup2(2, 1)
                self.sandbox.confine()
                os.execve(command[0], command, environment)
            except BaseException as e:  # noqa: B036: whatever it is, this process is not the manager
                print(f"manager: {e}", file=sys.stderr, flush=True)
            finally:
                os._exit(NOT_STARTED)
        return pid

    def start(self):
        more = {"WATCHDOG_USEC": str(int(self.watchdog * 1e6))} if self.watchdog else {}
        self.main, self.fed = self.spawn(self.command("ExecStart"), more), None
        say("started", pid=self.main)

    def hear(self):
        data, ancillary, _, _ = self.socket.recvmsg(4096, 1024)
        sender = next(struct.unpack("3i", d)[0] for level, kind, d in ancillary if kind == socket.SCM_CREDENTIALS)
        if sender != self.main:
            return say("ignored", sender=sender, text=data.decode())  # of the unit, but nobody that a test waits for
        for line in data.decode().splitlines():
            key, value = line.split("=", 1)
            if key == "READY" or key == "WATCHDOG":
                self.fed = time.monotonic()
            say(key, value=value)

    def obey(self, order):
        if order["do"] == "reload":
            pid = self.spawn(self.command("ExecReload"))
            say("reloaded", status=os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        elif order["do"] == "run":
            done = subprocess.run(order["command"], capture_output=True, text=True, check=False)
            say("ran", status=done.returncode, output=done.stdout, error=done.stderr)
        elif order["do"] == "signal":
            os.kill(self.main, order["number"])
        else:
            self.stopping, self.restarting = True, order["do"] == "restart"
            os.kill(self.main, signal.SIGTERM)

    def reap(self):
        pid, status = os.waitpid(self.main, os.WNOHANG)
        if pid == 0:
            return True
        say("ended", status=os.waitstatus_to_exitcode(status))
        if self.restarting:
            self.stopping = self.restarting = False
            self.start()
            return True
        if self.stopping or os.waitstatus_to_exitcode(status) in (0, NOT_STARTED) or self.sandbox.value("Restart") != "on-failure":
            return False
        time.sleep(float(self.sandbox.value("RestartSec", "0.1")))
        self.start()
        return True

    def run(self):
        self.start()
        while self.reap():
            ready, _, _ = select.select([self.socket] + ([] if self.stopping else [sys.stdin]), [], [], 0.05)
            if self.socket in ready:
                self.hear()
            if sys.stdin in ready:
                line = sys.stdin.readline()
                self.obey(json.loads(line) if line else {"do": "stop"})
            if self.watchdog and self.fed and not self.stopping and time.monotonic() - self.fed > self.watchdog:
                say("watchdog")
                self.fed = None
                os.kill(self.main, signal.SIGABRT)
                os.kill(self.main, signal.SIGCONT)


if __name__ == "__main__":
    known = call_sets()  # of this machine: ROOT may have no systemd-analyze
    become_root(sys.argv[1], sys.argv[3])
    Manager(sys.argv[2], known, sys.argv[4:]).run()
