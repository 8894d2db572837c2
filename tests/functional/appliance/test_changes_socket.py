# SPDX-License-Identifier: BSD-3-Clause
"""What a router answers about its configuration is as its schema says, and a program can change it."""
import json
import socket
import subprocess

import jsonschema
import pytest

from managed import Managed
from router import ROOT, wait_for

SCHEMA = json.loads((ROOT / "router/operate/generations/changes_schema.json").read_text())


@pytest.fixture
def router():
    with Managed() as managed:
        yield managed.start()


def ask(router, command, arguments=""):
    answer = router.ask(command, arguments)
    jsonschema.Draft202012Validator(SCHEMA).validate(answer)
    return answer[f"/surety/{command}"]


def test_answers_are_as_the_schema_says(router):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    first = ask(router, "changes")
    assert first["file"] == str(router.file) and first["state"] == str(router.state)
    good, bad = router.state / "good.yaml", router.state / "bad.yaml"
    router.write(good, rate="30 Mbit/s")
    router.write(bad, rate="30 Mbit")
    assert ask(router, "diff", good)["changes"] and ask(router, "diff", bad)["errors"]
    assert not ask(router, "try", json.dumps({"file": str(bad), "who": "a", "seconds": 60}))["in_effect"]
    assert ask(router, "changes") == first
    assert ask(router, "try", json.dumps({"file": str(good), "who": "a", "seconds": 60}))["in_effect"]
    assert ask(router, "changes")["trial"]["before"] == first["hash"]
    assert not ask(router, "back")["kept"]
    assert ask(router, "changes")["went_back"]["who"] == "a" and ask(router, "changes")["hash"] == first["hash"]
    assert ask(router, "reload", "a")["in_effect"]
    for wrong in ("{", "[]", '{"file": 1, "who": 2}', json.dumps({"file": str(good), "who": "a", "seconds": 0})):
        assert "error" in ask(router, "try", wrong)
    for command in ("confirm", "back"):
        assert "error" in ask(router, command)
    rows = router.history()
    jsonschema.Draft202012Validator({"$ref": "#/$defs/generation", "$defs": SCHEMA["$defs"]}).validate(rows[0])
    shown = json.loads(router.run("diff", good, "--json").stdout)
    jsonschema.Draft202012Validator({"$ref": "#/$defs/diff", "$defs": SCHEMA["$defs"]}).validate(shown)


def test_while_another_process_takes_it_over_nothing_changes(router):
    new = router.candidate("new", rate="30 Mbit/s")
    before, first = router.file.read_text(), router.running()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(120)
        s.connect(router.socket)
        s.recv(1 << 18)
        s.send(b"/surety/hand-over,1")
        assert "config_hash" in json.loads(s.recv(1 << 18))["/surety/hand-over"]
        assert "another process is taking over" in router.refused("apply", new)
        assert router.file.read_text() == before and router.running() == first
    router.run("apply", new)  # the other one has gone
    assert router.running() != first


def test_a_program_changes_it(router):
    def change(*words):
        done = subprocess.run([ROOT / "deploy/examples/change.py", router.socket, *map(str, words)], capture_output=True, text=True)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr
    first, new = router.running(), router.candidate("new", rate="30 Mbit/s")
    assert change("diff", new)[1]["changes"] and router.running() == first
    assert change("try", new, 60)[0] == 0 and router.running() != first
    assert change("back")[0] == 0 and router.running() == first
    assert change("try", new, 60)[0] == 0 and change("confirm")[0] == 0
    assert router.file.read_text() == new.read_text() and router.running() != first

    def kept():
        """the router has kept the generation"""
        return router.history()[-1]["who"] == "change.py"
    wait_for(kept)
    assert change("confirm") == (1, "no configuration is on trial: the trial is over\n")
