# SPDX-License-Identifier: BSD-3-Clause
"""A configuration in several files, with values from elsewhere; and what differs between two."""
import contextlib
import json
import os
import pathlib
import re
import socket
import sys
import threading

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from harness import SURETY, sh  # noqa: E402
from observe.test_events import event, events  # noqa: E402
from pair import Pair, ports  # noqa: E402
from test_reload import Reloaded  # noqa: E402

SECRET, OTHER = "203.0.113.77/32", "203.0.113.78/32"
GOLD = "services: {gold: {conditioner: police, rate: RATE, bucket: 20 kB}}\nclassify: [{match: {port: lan0}, service: gold}]\n"


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        yield pair


def secret_in(path, text):
    path.write_text(text + "\n")
    path.chmod(0o600)


def test_a_router_in_several_files(lab, directory, monkeypatch):
    """They lie elsewhere than the main one: a router that runs may read there, and see what is new."""
    monkeypatch.setenv("SURETY_TEST_RATE", "1 Mbit/s")
    secret_in(directory / "secret", SECRET)
    customer = directory / "a.yaml"
    customer.write_text(GOLD.replace("RATE", "!env SURETY_TEST_RATE"))
    text = ports("af_packet") + f"include: {directory}/*.yaml\nfilters: {{f: [{{permit: {{source: !file {directory}/secret}}}}]}}\n"
    with Reloaded(lab.router, text) as router:
        start = event(router, "start")
        customer.write_text(GOLD.replace("RATE", "2 Mbit/s"))
        router.reload()
        told = event(router, "reload", "service gold: rate changed")
        assert told["fields"]["config_hash"] != start["fields"]["config_hash"]
        (directory / "b.yaml").write_text("routes: [{to: 10.9.0.0/16, via: 10.2.0.9}]\n")
        router.reload()
        told = event(router, "reload", "route 10.9.0.0/16: new (via: 10.2.0.9)", after=told["number"])

        customer.write_text(GOLD.replace("RATE", "2 Gallons"))
        router.refuse(None, f"{customer}:1:", "Gallons")
        (directory / "b.yaml").write_text("routes: [")
        router.refuse(None, f"{directory}/*.yaml", "the last line has no line break")
        assert "10.9.0.0/16" in router.show("routes").stdout
        (directory / "b.yaml").unlink()
        customer.write_text(GOLD.replace("RATE", "3 Mbit/s"))
        router.reload()
        event(router, "reload", "route 10.9.0.0/16: removed; service gold: rate 2 Mbit/s -> 3 Mbit/s", after=told["number"])

        secret_in(directory / "secret", OTHER)
        router.reload()
        event(router, "reload", "entry 1 of filter f: permit.source changed")
        (directory / "secret").chmod(0o644)
        router.refuse(None, f"!file {directory}/secret", "every user of this machine may read")
        secret_in(directory / "secret", "203.0.113.77/320")
        router.refuse(None, "router.yaml:", "`!file")
        said = router.stderr() + json.dumps(events(router)) + router.show("router", "--json").stdout
        assert "203.0.113" not in said


def test_an_included_file_that_nobody_may_read_then(lab, directory):
    """What a router needs is settled at its start."""
    with Reloaded(lab.router, ports("af_packet")) as router:
        if not re.search(r"files (and TCP )?by Landlock", router.stderr()):
            pytest.skip("this kernel has no Landlock")
        (directory / "a.yaml").write_text("routes: []\n")
        router.refuse(ports("af_packet") + f"include: {directory}/a.yaml\n", "cannot be read: Permission denied")


def two(directory, before, after):
    for name, text in (("old.yaml", before), ("new.yaml", after)):
        (directory / name).write_text("version: 1\nports: {p0: {device: null}}\n" + text)
    return sh(SURETY, "diff", directory / "old.yaml", directory / "new.yaml", check=False)


def test_diff_of_two_files(directory, monkeypatch):
    same = two(directory, "log: {level: debug}\n", "# the same\nlog:\n  level: debug\n")
    assert (same.returncode, same.stdout, same.stderr) == (0, "", "")
    differ = two(directory, "log: {level: debug}\n", "log: {level: info}\nmetrics: {listen: off}\n")
    assert differ.returncode == 1 and differ.stdout == (
        "log: level debug -> info; affects readers of the log\n"
        "metrics: listen not set -> off; takes a restart; affects readers of the metrics\n")
    monkeypatch.setenv("SURETY_TEST_NAME", "s3cret")
    hidden = two(directory, "router: {name: !env SURETY_TEST_NAME}\n", "router: {name: open}\n")
    assert hidden.stdout == "router: name changed; takes a restart; affects all traffic of the router\n"
    broken = two(directory, "", "log: {level: loud}\n")
    assert broken.returncode == 2 and not broken.stdout and f"{directory}/new.yaml:3:14: error:" in broken.stderr
    assert sh(SURETY, "diff", directory / "old.yaml", directory / "none.yaml", check=False).returncode == 2


class Answers:
    """In the place of a router called r1: says where its files are, and one answer to all else."""

    def __init__(self, directory, answer):
        self._about = {"router": "r1", "state": str(directory / "state"), "file": str(directory / "etc/r1.yaml"), "hash": "0123456789abcdef"}
        home = directory / "dpdk" / "surety-r1"
        home.mkdir(parents=True)
        self.asked = []
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.bind(str(home / "dpdk_telemetry.v2"))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            client, _ = self._socket.accept()
            with client, contextlib.suppress(OSError):  # who only looks whether it runs does not stay
                client.send(json.dumps({"version": "1", "pid": os.getpid(), "max_output_len": 65536}).encode())
                while command := client.recv(4096).decode():
                    self.asked.append(command)
                    about = command.split(",")[0] == "/surety/changes"
                    client.send(json.dumps({command.split(",")[0]: self._about if about else self._answer}).encode())


@pytest.mark.parametrize("answer, status, words", [
    ({"changes": [], "errors": []}, 0, "x.yaml: changes nothing in the running router"),
    ({"changes": [{"what": "log: level a -> b", "takes": "at_once", "whom": "readers of the log"}], "errors": []}, 0,
     "log: level a -> b; affects readers of the log\n"),
    ({"changes": [{"what": "dpdk: mbufs 1 -> 2", "takes": "restart", "whom": "all"}], "errors": []}, 1,
     "dpdk: mbufs 1 -> 2; takes a restart; affects all\n"),
    ({"changes": [], "errors": ["DIRECTORY/etc/r1.yaml:1:1: error: `!env X`: not in the environment of this program\n"]}, 1,
     "\nx.yaml:1:1: error: `!env X`"),
])
def test_check_against_a_router_that_runs(directory, monkeypatch, answer, status, words):
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(directory))
    (directory / "x.yaml").write_text("version: 1\nports: {p0: {device: null}}\n")
    errors = [e.replace("DIRECTORY", str(directory)) for e in answer["errors"]]
    router = Answers(directory, {**answer, "errors": errors, "warnings": ["not again\n"]})
    monkeypatch.chdir(directory)
    said = sh(SURETY, "check", "--against-running", "--name", "r1", "x.yaml", check=False)
    assert said.returncode == status and words in said.stdout, said
    assert "x.yaml: ok: 1 port" in said.stdout
    assert [c.rstrip(",") for c in router.asked] == ["/surety/changes", f"/surety/diff,{directory}/state/generations/asked/configuration/r1.yaml"]
    assert "not again" not in said.stdout


def test_check_against_none_that_runs(directory, monkeypatch):
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(directory))
    (directory / "x.yaml").write_text("version: 1\nports: {p0: {device: null}}\n")
    said = sh(SURETY, "check", "--against-running", "--name", "nobody", directory / "x.yaml", check=False)
    assert said.returncode == 1 and "nobody" in said.stderr
    broken = directory / "broken.yaml"
    broken.write_text("version: 2\n")
    said = sh(SURETY, "check", "--against-running", "--name", "nobody", broken, check=False)
    assert said.returncode == 1 and not said.stderr, "a file with errors is nobody's business"
