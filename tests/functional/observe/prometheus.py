# SPDX-License-Identifier: BSD-3-Clause
"""Debian's Prometheus in a namespace, with deploy/prometheus in a hurry: every second, and what is said of hours within seconds."""
import contextlib
import http.client
import json
import tempfile
import pathlib
import urllib.parse

import yaml

from harness import wait_for
from rules_text import FILES, PROMETHEUS, hurried

ADDRESS = ("127.0.0.1", 9090)
FACTOR, WINDOW = 200, 4  # of hurried()


class Prometheus:
    def __init__(self, namespace, targets):
        self._namespace = namespace
        self._directory = tempfile.TemporaryDirectory(prefix="sf-")
        self.path = pathlib.Path(self._directory.name)
        for file in FILES:
            (self.path / file).write_text(hurried((PROMETHEUS / file).read_text(), FACTOR, WINDOW))
        config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
        config["scrape_configs"][0]["static_configs"] = [{"targets": targets}]
        (self.path / "prometheus.yml").write_text(yaml.safe_dump(config))
        self._process = None

    def __enter__(self):
        self._process = self._namespace.start(
            ["prometheus", f"--config.file={self.path}/prometheus.yml", f"--storage.tsdb.path={self.path}/tsdb",
             "--storage.tsdb.retention.size=256MB", f"--web.listen-address={ADDRESS[0]}:{ADDRESS[1]}"], self.path / "log")
        wait_for(self._ready, 60)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(120)
        self._directory.cleanup()

    def _ready(self):
        """Prometheus answers"""
        assert self._process.poll() is None, (self.path / "log").read_text()
        with contextlib.suppress(OSError):
            return self.query("vector(1)")

    def get(self, path, **parameters):
        with contextlib.closing(http.client.HTTPConnection(*ADDRESS, timeout=120)) as connection:
            with self._namespace.entered():
                connection.connect()
            connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
            answer = connection.getresponse()
            text = answer.read().decode()
        if answer.status == 503:
            raise ConnectionError(text)
        done = json.loads(text)
        assert done["status"] == "success", f"{parameters}: {done}"
        return done["data"]

    def query(self, expression):
        """[(labels, value)]"""
        return [(found["metric"], float(found["value"][1])) for found in self.get("query", query=expression)["result"]]

    def alerts(self):
        """Those that fire, with their texts."""
        return [alert for alert in self.get("alerts")["alerts"] if alert["state"] == "firing"]

    def ever_fired(self):
        return {labels["alertname"] for labels, _ in self.query('max_over_time(ALERTS{alertstate="firing"}[10m])')}
