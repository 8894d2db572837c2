# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, driven by its DevTools protocol over two pipes: no driver, and no port of its own."""
import base64
import contextlib
import json
import os
import subprocess
import tempfile

from harness import wait_for

START = 60  # seconds
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe"]


class Browser:
    """One page of a browser, inside `namespace` if there is one. `complaints`: what its console has said of mistakes."""

    def __init__(self, namespace=None):
        self._profile = tempfile.TemporaryDirectory(prefix="sf-chromium-", ignore_cleanup_errors=True)
        their_in, self._to = os.pipe()
        self._from, their_out = os.pipe()
        # It reads descriptor 3 and writes 4.
        command = ["bash", "-c", f'exec 3<&{their_in} 4>&{their_out} && exec chromium "$@"', "chromium", *OPTIONS,
                   f"--user-data-dir={self._profile.name}", "about:blank"]
        self.process = subprocess.Popen(namespace.command(*command) if namespace else command, pass_fds=(their_in, their_out),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(their_in)
        os.close(their_out)
        self._number, self._read, self._session, self.complaints = 0, b"", None, []
        target = wait_for(self._page, START)
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _page(self):
        """Chromium has a page"""
        found = self.call("Target.getTargets")["targetInfos"]
        return next((target["targetId"] for target in found if target["type"] == "page"), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, EOFError):
            self._session = None
            self.call("Browser.close")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._listen(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _next(self):
        while b"\0" not in self._read:
            part = os.read(self._from, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self._read += part
        message, _, self._read = self._read.partition(b"\0")
        return json.loads(message)

    def _listen(self, event):
        said = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(said["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif event.get("method") == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.complaints.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")

    def open(self, url):
        self.call("Page.navigate", url=str(url))

    def evaluate(self, script):
        """The value of an expression, as JSON has it."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"].get("exception", {}).get("description", done)
        return done["result"].get("value")

    def until(self, script):
        """When an expression is true."""
        def holds():
            return self.evaluate(f"Boolean({script})")
        holds.__doc__ = script
        return wait_for(holds, every=0.1)

    def window(self, width, height, dark=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self):
        """A PNG of what the window shows."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
