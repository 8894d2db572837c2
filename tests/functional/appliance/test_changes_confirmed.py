# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 of who confirms: it is confirmed, or on trial and back by itself; in the file, in the router and in the history alike."""
import random
import signal
import time

import pytest

from managed import Managed, Pair, steps
from router import wait_for


@pytest.fixture
def router():
    with Managed() as managed:
        yield managed.start()


class Confirming:
    """A trial, and who confirms it and is killed at that."""

    def __init__(self, router):
        self.router, self.pair = router, Pair(router)
        self.hashes = {self.pair.now(): router.running()}
        self.pair.other()
        self.hashes[self.pair.now()] = router.running()

    def trial(self):
        return self.router.ask("changes")["/surety/changes"].get("trial")

    def begin(self, time="10 min"):
        if self.trial():
            self.router.run("rollback")  # what the last one has left
        self.before = self.pair.now()
        self.router.run("apply", self.pair.files[1 - self.before], "--confirm", time)

    def killed(self):
        """What is in the file now, and whether the router waits for that: what was tried is in effect, confirmed or still on trial."""
        confirmed, trial = self.pair.whole() != self.before, self.trial()
        assert self.router.running() == self.hashes[1 - self.before] and (confirmed or trial)
        return confirmed, bool(trial and trial["installing"])

    def ends_by_itself(self, confirmed):
        wait_for(lambda: self.trial() is None)
        assert (self.pair.now() != self.before) == confirmed and self.router.running() == self.hashes[self.pair.now()]
        wait_for(lambda: self.router.history()[-1]["in_effect"])  # the router keeps what nobody else has
        assert "nothing to confirm" in self.router.refused("confirm") if confirmed else "too late" in self.router.refused("confirm")


def test_kill_of_who_confirms(router):
    confirming, waited_for = Confirming(router), set()

    def confirm(environment):
        confirming.begin()
        return router.run("confirm", check=False, **environment)
    for done, where in steps(router, "kill", confirm):
        assert done.returncode == -signal.SIGKILL, (where, done)
        state = confirming.killed()
        if state not in waited_for and state != (False, False):  # that one has ten minutes left; see below
            confirming.ends_by_itself(state[0])
        waited_for.add(state)
    assert waited_for == {(False, False), (False, True), (True, True)}  # before the router was told, before the file was replaced, after it


@pytest.mark.long("the steps of test_kill_of_who_confirms, each by chance")
def test_kill_of_who_confirms_at_random_instants(router):
    confirming, chance = Confirming(router), random.Random(5)
    confirming.begin()
    began = time.monotonic()
    router.run("confirm")
    lasts, seen = time.monotonic() - began, []
    for _ in range(40):
        confirming.begin()
        command = router.popen("confirm")
        time.sleep(chance.uniform(0, lasts))
        command.kill()
        command.communicate()
        if command.returncode == 0:
            assert confirming.pair.now() != confirming.before and router.running() == confirming.hashes[confirming.pair.now()]
        else:
            seen.append(confirming.killed())
    assert len(seen) > 10


def test_what_nobody_confirms_after_a_kill_ends_by_itself(router):
    confirming = Confirming(router)
    confirming.begin("2 s")
    command = router.popen("confirm")
    command.kill()
    command.communicate()
    assert confirming.killed() == (False, False)
    confirming.ends_by_itself(False)
