# SPDX-License-Identifier: BSD-3-Clause
"""kill -9, and a disk that is full, at each step of apply, rollback, confirm and of what a router keeps: always one of the two."""
import errno
import json
import os
import random
import signal
import subprocess
import time

import pytest

from managed import Managed
from router import ROOT, wait_for


@pytest.fixture(scope="module")
def fault(tmp_path_factory):
    library = tmp_path_factory.mktemp("fault") / "fault.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, ROOT / "tests/functional/appliance/fault.c"], check=True)
    return library


@pytest.fixture
def off():
    with Managed() as managed:
        yield managed


@pytest.fixture
def router():
    with Managed() as managed:
        yield managed.start()


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


def steps(fault, managed, kind, run):
    """run(environment) again and again, with the fault at each step, until none is reached any more; yields what it gave."""
    log = managed.top / "run/steps"
    for at in range(1, 400):
        log.write_text("")
        result = run({"LD_PRELOAD": str(fault), "FAULT_UNDER": str(managed.top), "FAULT": kind, "FAULT_AT": str(at), "FAULT_LOG": str(log)})
        reached = [line for line in log.read_text().splitlines() if int(line.split()[0]) >= at and (kind == "kill" or " room " in line)]
        if not reached:
            return
        yield result, reached[0]
    raise AssertionError("does not end")


def test_kill_at_each_step_of_apply(off, fault):
    pair = Pair(off)
    killed, seen = 0, set()
    for done, where in steps(fault, off, "kill", lambda environment: pair.other(**environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        seen.add(pair.whole(checked=killed % 8 == 0))
        killed += 1
        before = pair.now()
        assert pair.other().returncode == 0 and pair.now() != before  # the next one works
        assert off.history()[-1]["in_effect"]
    assert killed > 20 and seen == {0, 1}
    print(f"apply: killed at {killed} steps")


def test_kill_at_each_step_of_apply_of_several_files(off, fault):
    files = [off.several("a", "30 Mbit/s"), off.several("b", "31 Mbit/s")]
    texts = [[f.read_text(), (f.parent / "more/gold.yaml").read_text()] for f in files]
    off.run("apply", files[0], "--to", off.file)

    def other(**environment):
        return off.run("apply", files[1 - texts.index(off.effective())], check=False, **environment)
    seen = set()
    for done, where in steps(fault, off, "kill", lambda environment: other(**environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        before = texts.index(off.effective())
        seen.add(before)
        assert other().returncode == 0 and texts.index(off.effective()) != before and off.history()[-1]["in_effect"]
    assert seen == {0, 1}


def test_kill_at_each_step_of_rollback(off, fault):
    pair = Pair(off)
    pair.other()
    killed = 0
    for done, where in steps(fault, off, "kill", lambda environment: off.run("rollback", check=False, **environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        pair.whole()
        killed += 1
        before = pair.now()
        off.run("rollback")
        assert off.history()[-1]["in_effect"] and pair.now() in (before, 1 - before)
    assert killed > 20


@pytest.mark.parametrize("error", [errno.ENOSPC, *(pytest.param(e, marks=pytest.mark.long("the same steps as ENOSPC"))
                                                   for e in (errno.EDQUOT, errno.EACCES))])
def test_a_full_disk_at_each_step_of_apply(off, fault, error):
    pair = Pair(off)
    for done, where in steps(fault, off, str(error), lambda environment: pair.other(**environment)):
        before = pair.whole()
        assert "cannot " in done.stderr and os.strerror(error) in done.stderr, (where, done)
        assert done.returncode in (0, 1) and "terminate" not in done.stderr
        assert pair.other().returncode == 0 and pair.now() != before
        assert off.history()[-1]["in_effect"]


def test_kill_at_each_step_beside_a_router(router, fault):
    """It goes by what is in the file, at the latest ten seconds later; the next change need not wait for that."""
    pair = Pair(router)
    hashes = {pair.now(): router.running()}
    pair.other()
    hashes[pair.now()] = router.running()
    killed = 0
    for done, where in steps(fault, router, "kill", lambda environment: pair.other(**environment)):
        assert done.returncode == -signal.SIGKILL, (where, done)
        at = pair.whole()
        if killed % 8 == 0:  # nobody comes: the router goes back by itself, or stays
            wait_for(lambda: router.running() == hashes[at])
            assert pair.now() == at
        killed += 1
        assert pair.other().returncode == 0 and pair.now() != at and router.running() == hashes[pair.now()]


def test_a_full_disk_beside_a_router(router, fault):
    pair = Pair(router)
    for done, where in steps(fault, router, str(errno.ENOSPC), lambda environment: pair.other(**environment)):
        assert "No space left on device" in done.stderr, (where, done)
        before = pair.whole()
        assert "on trial" not in router.run("history").stdout
        running = router.running()
        assert pair.other().returncode == 0 and pair.now() != before and router.running() != running


def test_kill_of_who_confirms(router, fault):
    pair = Pair(router)
    def confirm(environment):
        router.run("rollback", check=False) if "on trial" in router.run("history").stdout else None
        router.run("apply", pair.files[1 - pair.now()], "--confirm", "10 min")
        return router.run("confirm", check=False, **environment)
    kept = set()
    for done, where in steps(fault, router, "kill", confirm):
        assert done.returncode == -signal.SIGKILL, (where, done)
        before = pair.whole()
        kept.add("on trial" in router.run("history").stdout)
        assert pair.now() == before
    assert kept


def test_a_router_is_killed_at_each_step_of_what_it_keeps(off, fault):
    """SIGHUP of a file edited by hand."""
    log = off.top / "run/steps"
    off.start()
    off.stop()
    rates = 0
    for at in range(1, 100):
        log.write_text("")
        # The start itself makes some of the steps.
        off.start(LD_PRELOAD=str(fault), FAULT_UNDER=str(off.state), FAULT="kill", FAULT_AT=str(at), FAULT_LOG=str(log))
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
    assert at > 20


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


def test_200_random_instants(router):
    pair = Pair(router)
    pair.other()
    race(router, pair, 200, seed=19)
    router.run("rollback", check=False)  # ends what a killed one has left
    before = pair.whole(checked=True)
    assert pair.other().returncode == 0 and pair.now() != before and router.history()[-1]["in_effect"]


@pytest.mark.long("thousands of instants: five minutes")
def test_2000_random_instants(router):
    pair = Pair(router)
    pair.other()
    race(router, pair, 2000, seed=int(time.time()))
    router.run("rollback", check=False)
    assert pair.other().returncode == 0
