# SPDX-License-Identifier: BSD-3-Clause
"""kill -9, and a disk that is full, at each step of apply, rollback, confirm and of what a router keeps: always one of the two."""
import errno
import itertools
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

from managed import CHANGES, Managed, Pair, call_of, fault, steps
from router import wait_for


@pytest.fixture
def off():
    with Managed() as managed:
        yield managed


@pytest.fixture
def router():
    with Managed() as managed:
        yield managed.start()


def test_kill_at_each_step_of_apply(off):
    pair = Pair(off)
    killed, seen, calls = 0, set(), set()
    for done, where in steps(off, "kill", lambda environment: pair.other(**environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        seen.add(pair.whole(checked=killed % 8 == 0))
        calls.add(call_of(where))
        killed += 1
        before = pair.now()
        assert pair.other().returncode == 0 and pair.now() != before  # the next one works
        assert off.history()[-1]["in_effect"]
    assert calls >= CHANGES and seen == {0, 1}
    print(f"apply: killed at {killed} steps")


def test_kill_at_each_step_of_apply_of_several_files(off):
    files = [off.several("a", "30 Mbit/s"), off.several("b", "31 Mbit/s")]
    texts = [[f.read_text(), (f.parent / "more/gold.yaml").read_text()] for f in files]
    off.run("apply", files[0], "--to", off.file)

    def other(**environment):
        return off.run("apply", files[1 - texts.index(off.effective())], check=False, **environment)
    seen = set()
    for done, where in steps(off, "kill", lambda environment: other(**environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        before = texts.index(off.effective())
        seen.add((before, off.points()))
        assert other().returncode == 0 and texts.index(off.effective()) != before and off.history()[-1]["in_effect"]
        assert not off.points() and not list(off.file.parent.glob("*.applied"))
    assert {now for now, _ in seen} == {0, 1} and {points for _, points in seen} == {False, True}


def test_kill_at_each_step_of_rollback(off):
    pair = Pair(off)
    pair.other()
    calls = set()
    for done, where in steps(off, "kill", lambda environment: off.run("rollback", check=False, **environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        pair.whole()
        calls.add(call_of(where))
        before = pair.now()
        off.run("rollback")
        assert off.history()[-1]["in_effect"] and pair.now() in (before, 1 - before)
    assert calls >= CHANGES


@pytest.mark.parametrize("error", [errno.ENOSPC, *(pytest.param(e, marks=pytest.mark.long("the same steps as ENOSPC"))
                                                   for e in (errno.EDQUOT, errno.EACCES))])
def test_a_full_disk_at_each_step_of_apply(off, error):
    pair = Pair(off)
    for done, where in steps(off, str(error), lambda environment: pair.other(**environment)):
        before = pair.whole()
        assert "cannot " in done.stderr and os.strerror(error) in done.stderr, (where, done)
        assert done.returncode in (0, 1) and "terminate" not in done.stderr
        assert pair.other().returncode == 0 and pair.now() != before
        assert off.history()[-1]["in_effect"]


def test_kill_at_each_step_beside_a_router(router):
    """It goes by what is in the file, at the latest ten seconds later; the next change need not wait for that."""
    pair = Pair(router)
    hashes = {pair.now(): router.running()}
    pair.other()
    hashes[pair.now()] = router.running()
    killed = 0
    for done, where in steps(router, "kill", lambda environment: pair.other(**environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        at = pair.whole()
        if killed % 8 == 0:  # nobody comes: the router goes back by itself, or stays
            wait_for(lambda: router.running() == hashes[at])
            assert pair.now() == at
        killed += 1
        assert pair.other().returncode == 0 and pair.now() != at and router.running() == hashes[pair.now()]


def test_kill_at_each_step_of_a_new_value(router):
    """The text stays the same, so that the file cannot say what the router goes by: the next apply does what is left of it."""
    rate, file, takes = router.file.parent / "rate", router.candidate("new", rate="!file rate"), itertools.count(30)

    def sell():
        rate.write_text(f"{next(takes)} Mbit/s\n")
        rate.chmod(0o600)

    def apply(**environment):
        sell()
        return router.run("apply", file, check=False, **environment)
    assert apply().returncode == 0
    number = router.history()[-1]["generation"]
    for done, where in steps(router, "kill", lambda environment: apply(**environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        assert router.run("apply", file).stdout.endswith(("in effect\n", "is the same already\n"))
        number += 1
        *_, before, last = router.history()
        assert (before["generation"], last["generation"], last["how"], last["in_effect"]) == (number - 1, number, "apply", True), where
    assert router.run("diff", file).stdout == "nothing differs\n"


def test_a_full_disk_beside_a_router(router):
    pair = Pair(router)
    for done, where in steps(router, str(errno.ENOSPC), lambda environment: pair.other(**environment)):
        assert "No space left on device" in done.stderr, (where, done)
        before = pair.whole()
        assert "on trial" not in router.run("history").stdout
        running = router.running()
        assert pair.other().returncode == 0 and pair.now() != before and router.running() != running


def test_a_router_is_killed_at_each_step_of_what_it_keeps(off):
    """SIGHUP of a file edited by hand."""
    log = off.top / "run/steps"
    off.start()
    off.stop()
    rates, calls = 0, set()
    for at in range(1, 100):
        log.write_text("")
        # The start itself makes some of the steps.
        off.start(LD_PRELOAD=fault(), FAULT_UNDER=str(off.state), FAULT="kill", FAULT_AT=str(at), FAULT_LOG=str(log))
        rates += 1
        off.write(off.file, rate=f"{rates + 30} Mbit/s")
        text = off.file.read_text()
        if off.process.poll() is None:
            off.process.send_signal(signal.SIGHUP)

        def over():
            """the router is dead, or has kept it"""
            if off.process.poll() is not None:
                return True
            shown = off.run("history", "--json", check=False)  # it may die while it answers
            return shown.returncode == 0 and json.loads(shown.stdout)[-1]["in_effect"]
        wait_for(over)
        died = off.process.poll() is not None
        off.stop()
        assert off.file.read_text() == text
        off.history()
        if not died:
            break
        calls.add(call_of([line for line in log.read_text().splitlines() if int(line.split()[0]) == at][0]))
    assert calls >= CHANGES - {"unlinkat"}


def unsafe(log, directories):
    """What a power cut could still undo, or leave half done, where a file gets its name: of the steps in `log`."""
    written, named = set(), set()  # files, and directories, with what is not on the disk yet
    for number, _, call, *names in (line.split() for line in log.read_text().splitlines()):
        path = pathlib.Path(names[0])
        if not any(d in (path, *path.parents) for d in directories) or path.name == "lock":
            continue
        if call == "fsync":
            written.discard(path)
            named.discard(path)
        elif call == "rename":
            to = pathlib.Path(names[1])
            yield from (f"{number}: {to} gets its name before {p} is on the disk" for p in written | named if p != path.parent)
            named.add(to.parent)
        elif call in ("open", "write", "mkdir"):
            written |= {path} if call != "mkdir" else set()
            named |= {path.parent} if call != "write" else set()
    yield from (f"at the end {p} is not on the disk" for p in written | named)


def test_what_gets_a_name_is_on_the_disk(router):
    """Before a rename all that was written and named before; after it the directory. Of commands, and of a router."""
    log = router.top / "run/steps"
    watched = {"LD_PRELOAD": fault(), "FAULT_UNDER": str(router.top), "FAULT_LOG": str(log)}
    router.stop()
    log.write_text("")
    router.start(**watched)
    new, several = router.candidate("new", rate="30 Mbit/s"), router.several("several", "31 Mbit/s")
    for command in (["apply", new], ["apply", several], ["rollback"], ["apply", several, "--confirm", "5 min"], ["confirm"]):
        router.run(*command, **watched)
    router.write(router.file, rate="25 Mbit/s")
    router.process.send_signal(signal.SIGHUP)
    wait_for(lambda: router.history()[-1]["how"] == "reload")
    renamed = {line.split()[-1] for line in log.read_text().splitlines() if call_of(line) == "rename"}
    assert {str(router.file), *(str(router.state / f"generations/{n:06}") for n in range(2, 7))} <= renamed
    assert not list(unsafe(log, [router.top / "etc", router.top / "state"]))


def race(managed, pair, count, seed):
    """kill -9 of a command at random instants; now and then of the router, too."""
    chance = random.Random(seed)
    lasts = 0.2
    for i in range(count):
        command = managed.popen("apply", pair.files[1 - pair.now()]) if i % 2 else managed.popen("rollback")
        began = time.monotonic()
        time.sleep(chance.uniform(0, lasts))
        alive = command.poll() is None
        router_dies = i % 20 == 19
        if router_dies:
            managed.process.kill()
            managed.process.wait()
        command.kill()
        command.communicate()
        if not alive:
            lasts = max(0.02, min(lasts, time.monotonic() - began))
        else:
            lasts = min(2, lasts * 1.02)
        pair.now()
        if router_dies:
            managed.start()
        if i % 10 == 9:
            pair.whole(checked=True)


@pytest.mark.long("the steps of the tests above, each by chance")
def test_200_random_instants(router):
    pair = Pair(router)
    pair.other()
    race(router, pair, 200, seed=19)
    router.run("rollback", check=False)  # ends what a killed one has left
    before = pair.whole(checked=True)
    assert pair.other().returncode == 0 and pair.now() != before and router.history()[-1]["in_effect"]


@pytest.mark.long("hundreds of instants: more than a minute")
def test_500_random_instants(router):
    pair = Pair(router)
    pair.other()
    race(router, pair, 500, seed=int(time.time()))
    router.run("rollback", check=False)
    assert pair.other().returncode == 0
