# SPDX-License-Identifier: BSD-3-Clause
"""A unit that runs under manager.py, and what it has been seen to do."""
import contextlib
import json
import os
import pathlib
import queue
import signal
import subprocess
import tempfile
import threading
import time

MANAGER = pathlib.Path(__file__).with_name("manager.py")


class Service:
    """`with Service(namespace, "/lib/.../surety.service", layer=DIR) as service:` or `root=DIR`; started, not yet ready. `drop_in`: as KEY=VALUE."""

    def __init__(self, namespace, unit, root=None, layer=None, drop_in=()):
        self._directory = tempfile.TemporaryDirectory(prefix="sf-")
        self.stderr = pathlib.Path(self._directory.name) / "stderr"
        words = [root or self._directory.name + "/root", unit, layer or "", *drop_in]
        command = ["unshare", "--mount", "--propagation", "private", "/usr/bin/python3", "-B", MANAGER, *words]
        with open(self.stderr, "w") as log:
            self.process = subprocess.Popen(namespace.command(*command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.events, self._queue = [], queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._queue.put(json.loads(line))
        self._queue.put(None)

    def wait(self, event, patience=60):
        """The next one of that name; those before it are in `events`."""
        until = time.monotonic() + patience
        while True:
            try:
                found = self._queue.get(timeout=max(0, until - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {event} within {patience} s; there was {self.events[-5:]}\n{self.log()}") from None
            assert found, f"the manager has ended; there was {self.events[-5:]}\n{self.log()}"
            self.events.append(found)
            if found["event"] == event:
                return found

    def seen(self, event, seconds):
        """How many of that name come in so long."""
        before, until = len(self.events), time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                self.events.append(self._queue.get(timeout=left) or {"event": "over"})
            except queue.Empty:
                break
        return sum(e["event"] == event for e in self.events[before:])

    def do(self, what, **more):
        self.process.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self.process.stdin.flush()

    def run(self, *command):
        """Beside it, as an operator would; (exit status, output, errors)."""
        self.do("run", command=[str(c) for c in command])
        done = self.wait("ran")
        return done["status"], done["output"], done["error"]

    def stop(self):
        self.do("stop")
        return self.wait("ended")["status"]

    def log(self):
        return self.stderr.read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.stdin.close()  # which stops it
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                raise AssertionError(f"it does not stop: {self._stuck()}\n{self.log()}") from None
        self._directory.cleanup()

    def _stuck(self):
        """Where its threads are; they end."""
        self.seen("over", 0.1)
        main = [e["pid"] for e in self.events if e["event"] == "started"][-1]
        where = [f"{(t / 'comm').read_text().strip()}: {(t / 'wchan').read_text()}, {(t / 'stat').read_text()}"
                 for t in pathlib.Path(f"/proc/{main}/task").iterdir()] if pathlib.Path(f"/proc/{main}").exists() else ["the manager's"]
        self.process.kill()
        with contextlib.suppress(ProcessLookupError):
            os.kill(main, signal.SIGKILL)
        return [*where, self.events[-5:]]
