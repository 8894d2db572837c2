# SPDX-License-Identifier: BSD-3-Clause
"""FRR's daemons (Debian's package) in a namespace, with sockets and process ids of their own."""
import pathlib
import shutil
import subprocess
import tempfile

from harness import sh, wait_for

DAEMONS = pathlib.Path("/usr/lib/frr")
MANAGER = "mgmtd"  # since FRR 10 it tells staticd what to do, and reads no file
START = 60
# Without them an announcement waits for up to 5 s, and a computation of routes for 10.
AREA = ("router ospf\n ospf router-id {id}\n timers throttle lsa all 0\n timers lsa min-arrival 0\n timers throttle spf 0 50 50\n"
        "{networks}")
FAST = ("interface {interface}\n ip ospf network point-to-point\n ip ospf hello-interval 1\n"
        " ip ospf dead-interval 4\n!\n")


def ospf(router_id, interfaces, more=""):
    """`interfaces`: their subnets by name."""
    networks = "".join(f" network {net} area 0\n" for net in interfaces.values())
    return "".join(FAST.format(interface=i) for i in interfaces) + AREA.format(id=router_id, networks=networks) + more


def installed():
    return (DAEMONS / "zebra").exists() and shutil.which("vtysh") is not None


class Frr:
    """zebra and more of them, each configured by its text; leaving ends those that this has started."""

    def __init__(self, namespace, **configs):
        self.namespace = namespace
        self._configs = {"zebra": "", **configs}
        self._directory = tempfile.TemporaryDirectory(prefix="sf-frr-")
        self.path = pathlib.Path(self._directory.name)
        shutil.chown(self.path, "frr", "frr")  # the daemons' own user, whom they become
        self._processes = {}

    def __enter__(self):
        try:
            for daemon, text in self._configs.items():
                if daemon != "staticd" or not (DAEMONS / MANAGER).exists():
                    self._start(daemon, text)
                    continue
                self._start(MANAGER, None)
                self._start(daemon, None)
                if text:
                    self.configure(*text.splitlines())
        except BaseException:
            self._end()
            raise
        return self

    def _start(self, daemon, text):
        """`text` None: it reads no file."""
        file = self.path / f"{daemon}.conf"
        file.write_text(f"hostname {self.namespace.name[:32]}\n{text}")
        log = open(self.path / f"{daemon}.log", "w")
        command = [DAEMONS / daemon, *([] if text is None else ["-f", file]), "-i", self.path / f"{daemon}.pid", "-z", self.path / "zserv.api",
                   "--vty_socket", self.path, "-P", "0", "--log", "stdout"]
        self._processes[daemon] = subprocess.Popen(self.namespace.command(*command), stdout=log, stderr=log)
        wait_for(lambda: self._answers(daemon), START)

    def _answers(self, daemon):
        """the daemon answers"""
        assert self._processes[daemon].poll() is None, self.log(daemon)
        return self.vtysh("show version", daemon=daemon, check=False).returncode == 0

    def log(self, daemon):
        return (self.path / f"{daemon}.log").read_text()

    def vtysh(self, *commands, daemon=None, check=True):
        words = ["vtysh", "--vty_socket", self.path, *(["-d", daemon] if daemon else [])]
        for command in commands:
            words += ["-c", command]
        def done():
            """the datastore of FRR 10's mgmtd is not locked"""
            try:
                return sh(*self.namespace.command(*words), check=check, timeout=120)
            except RuntimeError as e:
                if "could not lock" in str(e):
                    return None
                raise
        return wait_for(done)

    def configure(self, *lines):
        self.vtysh("configure terminal", *lines)

    def show(self, *words):
        return self.vtysh(" ".join(words)).stdout

    def __exit__(self, *_):
        self._end()

    def _end(self):
        for process in reversed(list(self._processes.values())):
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._directory.cleanup()
