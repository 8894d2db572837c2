# SPDX-License-Identifier: BSD-3-Clause
"""A router whose configuration is changed while it runs: without ports that anybody is behind, and without privileges."""
import atexit
import functools
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from router import ROOT, START, STOP, SURETY, wait_for

_numbers = itertools.count()


def configuration(name, rate="20 Mbit/s", more=""):
    return f"""version: 1
router: {{name: {name}}}
ports:
  lan: {{device: "null", addresses: [10.1.0.254/24]}}
  wan: {{device: "null", addresses: [192.168.0.1/24]}}
services:
  gold: {{conditioner: police, rate: {rate}, bucket: 20 kB, mark: {{in: EF}}}}
classify:
  - {{match: {{source: 10.1.0.0/24}}, service: gold}}
metrics: {{listen: off, report: off}}
dpdk: {{hugepages: off, max_routes: 1024, mbufs: 4096}}
{more}"""


class Managed:
    """`etc/NAME.yaml`, `state/NAME/` and sockets of its own; start() is up to the test."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory(prefix="sf-")
        self.top = pathlib.Path(self._directory.name)
        self.name = f"ch{os.getpid()}-{next(_numbers)}"
        for below in ("etc", "run", "home"):
            (self.top / below).mkdir()
        self.file = self.top / "etc" / f"{self.name}.yaml"
        self.state = self.top / "state" / self.name
        self.environment = {**os.environ, "RUNTIME_DIRECTORY": str(self.top / "run"), "SURETY_STATE": str(self.top / "state")}
        self.environment.pop("SUDO_USER", None)
        self.process = None
        self.write(self.file)

    def write(self, file, **how):
        file.write_text(configuration(self.name, **how))
        return file

    def candidate(self, label, **how):
        return self.write(self.top / "home" / f"{label}.yaml", **how)

    def several(self, label, rate):
        """A candidate of two files."""
        top = self.top / "home" / label
        (top / "more").mkdir(parents=True)
        main, text = top / "edge.yaml", configuration(self.name, rate)
        services, rest = text[text.index("services:"):text.index("classify:")], text.index("services:")
        main.write_text(f"# {label}\ninclude: more/*.yaml\n" + text[:rest] + text[text.index("classify:"):])
        (top / "more/gold.yaml").write_text(services)
        return main

    def effective(self):
        """The texts that the router's file stands for."""
        main, text = self.file, self.file.read_text()
        if self.points():
            main = self.file.parent / text[text.index("[") + 1:text.index("]")]
        text = main.read_text()
        return [text, *(f.read_text() for f in sorted(main.parent.glob("more/*.yaml")) if "include: more/*.yaml" in text)]

    def points(self):
        """Whether the router's file is a pointer, since its files are not in their places yet."""
        return self.file.read_text().startswith("# Written by `surety apply`")

    def start(self, **environment):
        self._stderr = open(self.top / "router.stderr", "a+")
        self.process = subprocess.Popen([SURETY, "run", self.file], stderr=self._stderr, env={**self.environment, **environment})

        def answers():
            """the router answers"""
            assert self.process.poll() is None or "FAULT" in environment, self.log()
            return self.process.poll() is not None or self.run("show", "router", check=False).returncode == 0
        wait_for(answers, START)
        return self

    def log(self):
        self._stderr.seek(0)
        return self._stderr.read()

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(STOP)
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self._directory.cleanup()

    def popen(self, command, *arguments, **environment):
        words = [SURETY, command, *map(str, arguments)]
        words += [self.name] if command == "reload" else ["--name", self.name]
        return subprocess.Popen(words, env={**self.environment, **environment}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, command, *arguments, check=True, **environment):
        """`check`: it succeeds, and again where a busy machine has not ended the last change yet, as the sentence says."""
        def ask():
            process = self.popen(command, *arguments, **environment)
            out, err = process.communicate(timeout=120)
            return subprocess.CompletedProcess(process.args, process.returncode, out, err)

        done, until = ask(), time.monotonic() + 20
        while check and "still in progress: try again" in done.stderr and time.monotonic() < until:
            time.sleep(0.1)
            done = ask()
        out, err = done.stdout, done.stderr
        assert not check or done.returncode in ((0, 1) if command == "diff" else (0,)), f"{command}: {done.returncode}\n{out}{err}"
        return done

    def refused(self, command, *arguments, **environment):
        """The sentence."""
        done = self.run(command, *arguments, check=False, **environment)
        assert done.returncode == (2 if command == "diff" else 1), (done.returncode, done.stdout, done.stderr)
        assert "terminate" not in done.stderr and done.stderr.strip(), done.stderr
        return done.stderr

    @property
    def socket(self):
        return str(self.top / f"run/dpdk/surety-{self.name}/dpdk_telemetry.v2")

    def ask(self, command, arguments=""):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(120)
            s.connect(self.socket)
            s.recv(1 << 18)
            s.send(f"/surety/{command},{arguments}".encode())
            return json.loads(s.recv(1 << 18))

    def history(self):
        """Of a router in the midst of a reload, which says so, when that is done."""
        def said():
            """the reload is done"""
            done = self.run("history", "--json", check=False)
            return None if "the last reload is still in progress: try again" in done.stderr else done
        done = wait_for(said)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def uptime(self):
        return json.loads(self.run("show", "router", "--json").stdout)[0]["uptime_seconds"]

    def running(self):
        """What the router goes by."""
        return json.loads(self.run("show", "router", "--json").stdout)[0]["config_hash"]


class Pair:
    """Two configurations, of which there is always one, whole."""

    def __init__(self, managed):
        self.managed = managed
        self.files = [managed.candidate("a", rate="30 Mbit/s"), managed.candidate("b", rate="31 Mbit/s")]
        self.texts = [f.read_text() for f in self.files]
        self.to = [] if managed.process else ["--to", managed.file]
        managed.run("apply", self.files[0], *self.to)

    def now(self):
        text = self.managed.file.read_text()
        assert text in self.texts, f"neither of the two:\n{text}"
        return self.texts.index(text)

    def whole(self, checked=False):
        """Also the history, and nothing is left beside it."""
        at = self.now()
        history = self.managed.history()
        for g in history:
            assert (self.managed.state / f"generations/{g['generation']:06}/configuration" / g["main"]).read_text().endswith("}\n")
        if checked:
            assert subprocess.run([*map(str, self.managed.popen("check", self.managed.file).args[:3])], capture_output=True).returncode == 0
        return at

    def other(self, **environment):
        return self.managed.run("apply", self.files[1 - self.now()], *self.to, check=False, **environment)


@functools.cache
def fault():
    """fault.c, compiled."""
    library = pathlib.Path(tempfile.mkdtemp(prefix="sf-")) / "fault.so"
    atexit.register(shutil.rmtree, library.parent)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, ROOT / "tests/functional/appliance/fault.c"], check=True)
    return str(library)


CHANGES = {"open", "write", "rename", "mkdir", "unlinkat"}  # what is done to files, and each is a step


def call_of(step):
    """Of a line of the log."""
    return step.split()[2]


def steps(managed, kind, run):
    """run(environment) again and again, with the fault at each step, until none is reached any more; yields what it gave."""
    log = managed.top / "run/steps"
    for at in range(1, 400):
        log.write_text("")
        result = run({"LD_PRELOAD": fault(), "FAULT_UNDER": str(managed.top), "FAULT": kind, "FAULT_AT": str(at), "FAULT_LOG": str(log)})
        reached = [line for line in log.read_text().splitlines() if int(line.split()[0]) >= at and (kind == "kill" or " room " in line)]
        if not reached:
            return
        yield result, reached[0]
    raise AssertionError("does not end")
