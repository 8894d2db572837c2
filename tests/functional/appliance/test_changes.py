# SPDX-License-Identifier: BSD-3-Clause
"""`surety diff`, `apply`, `confirm`, `rollback`, `history`, `reload`: what they do, and what they refuse."""
import fcntl
import json
import os
import signal
import time

import pytest

from managed import Managed, configuration
from router import ends_within, wait_for


@pytest.fixture
def router():
    with Managed() as managed:
        yield managed.start()


@pytest.fixture
def off():
    with Managed() as managed:
        yield managed


def test_a_change_is_shown_applied_kept_and_taken_back(router):
    first, old = router.running(), router.file.read_text()
    new = router.candidate("new", rate="30 Mbit/s")
    assert "gold" in router.run("diff", new).stdout
    assert router.running() == first and router.file.read_text() == old
    said = router.run("apply", new, "--why", "more for gold").stdout
    assert "gold" in said and said.endswith("in effect\n")
    assert router.file.read_text() == new.read_text() and router.running() != first
    start, applied = router.history()
    assert (applied["how"], applied["why"], applied["in_effect"], applied["parent"]) == ("apply", "more for gold", True, start["generation"])
    assert applied["who"] and abs(applied["when"] - time.time()) < 60 and "gold" in applied["changes"][0]
    assert not start["in_effect"]
    assert "nothing to change" in router.run("apply", new).stdout
    router.run("rollback")
    assert router.file.read_text() == old and router.running() == first
    router.run("rollback", applied["generation"])
    assert router.file.read_text() == new.read_text()
    shown = router.run("history").stdout
    assert len(shown.splitlines()) == 5 and "more for gold" in shown
    assert (router.state.stat().st_mode & 0o777) == 0o700


def test_what_the_router_refuses_changes_nothing(router):
    old, first = router.file.read_text(), router.running()
    bad = router.candidate("bad", rate="20 Mbit")
    said = router.refused("apply", bad)
    assert said.startswith(f"{bad}:7:"), said
    assert router.file.read_text() == old and router.running() == first and len(router.history()) == 1
    assert f"{bad}:7:" in router.refused("diff", bad)
    taken = router.candidate("taken", more="routes: [{prefix: 10.9.0.0/16, next_hop: 192.168.0.9}]\n")
    taken.write_text(taken.read_text().replace('wan: {device: "null"', 'wan: {device: "pcap:rx=/nowhere/a.pcap"'))
    assert router.refused("apply", taken)
    assert router.file.read_text() == old and router.running() == first


def test_what_takes_a_restart_waits_for_one(router):
    old = router.file.read_text()
    new = router.candidate("new", more="flow_table: {capacity: 4096}\n")
    assert "restart" in router.run("diff", new).stdout
    assert "flow_table" in router.refused("apply", new) and router.file.read_text() == old
    assert "starts" in router.run("apply", new, "--at-next-start").stdout
    assert router.file.read_text() == new.read_text()
    router.stop()
    router.start()
    assert router.history()[-1]["in_effect"]


def test_a_trial_ends_by_itself(router):
    old, first = router.file.read_text(), router.running()
    new = router.candidate("new", rate="30 Mbit/s")
    router.run("apply", new, "--confirm", "2 s")
    assert router.running() != first and router.file.read_text() == old
    assert "on trial until" in router.run("history").stdout
    assert "on trial until" in router.refused("apply", router.candidate("third", rate="40 Mbit/s"))
    wait_for(lambda: router.running() == first)
    assert "too late: the router rolled back by itself at" in router.refused("confirm")
    assert router.file.read_text() == old and [g["in_effect"] for g in router.history()] == [True]
    assert "result=not-confirmed" in router.log()


def test_a_trial_is_confirmed_or_ended(router):
    first = router.running()
    assert "nothing to confirm" in router.refused("confirm")
    new = router.candidate("new", rate="30 Mbit/s")
    router.run("apply", new, "--confirm", "5m")
    router.run("rollback")
    assert "a command rolled the trial back at" in router.refused("confirm") and "result=rolled-back" in router.log()
    router.run("apply", new, "--confirm", "10 min")
    router.run("rollback")
    assert router.running() == first and len(router.history()) == 1
    router.run("apply", new, "--confirm", "3 s", "--why", "tried")
    began = router.uptime()
    router.run("confirm")
    assert router.file.read_text() == new.read_text()
    wait_for(lambda: router.uptime() > began + 3.2)  # by its own clock the trial would have ended
    assert router.running() != first and router.history()[-1]["why"] == "tried" and router.history()[-1]["in_effect"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_router_that_starts_goes_by_what_was_confirmed(router, how):
    first = router.running()
    router.run("apply", router.candidate("new", rate="30 Mbit/s"), "--confirm", "10 min")
    router.stop(how)
    router.start()
    assert router.running() == first
    assert "nothing to confirm" in router.refused("confirm")
    assert [g["in_effect"] for g in router.history()] == [True]


def test_a_file_edited_by_hand_takes_the_same_path(router):
    first = router.running()
    router.write(router.file, rate="25 Mbit/s")
    assert "was edited after the router read it" in router.refused("apply", router.candidate("x", rate="9 Mbit/s"), "--confirm", "5 min")
    router.process.send_signal(signal.SIGHUP)
    wait_for(lambda: router.running() != first)
    wait_for(lambda: len(router.history()) == 2)
    assert router.history()[-1]["how"] == "reload" and "gold" in router.history()[-1]["changes"][0]
    router.write(router.file, rate="26 Mbit/s")
    assert str(router.file) in router.run("reload").stdout
    wait_for(lambda: len(router.history()) == 3)
    router.write(router.file, rate="26 parsecs")
    assert f"{router.file}:7:" in router.refused("reload")
    router.run("rollback", 1)
    *_, broken, last = router.history()
    assert broken["how"] == "edited, not in effect" and last["in_effect"] and router.running() == first
    router.run("rollback")  # to the one before that was in effect
    assert router.file.read_text() == configuration(router.name, rate="26 Mbit/s")


def test_an_edit_during_a_trial_stays_in_the_file(router):
    first = router.running()
    router.run("apply", router.candidate("new", rate="30 Mbit/s"), "--confirm", "3 s")
    router.write(router.file, rate="25 Mbit/s")
    assert "was edited after the trial began" in router.refused("confirm")
    wait_for(lambda: router.running() == first)
    router.run("reload")
    assert router.running() != first and router.file.read_text() == configuration(router.name, rate="25 Mbit/s")


def test_several_files_are_one_configuration(router):
    first, old = router.running(), router.file.read_text()
    new = router.several("new", "30 Mbit/s")
    assert "gold" in router.run("diff", new).stdout
    router.run("apply", new, "--confirm", "5 min")
    router.run("confirm")
    second = router.running()
    assert second != first and "30 Mbit/s" in router.effective()[1]
    assert "nothing to change" in router.run("apply", new).stdout
    router.stop()
    router.start()
    assert router.running() == second and router.history()[-1]["in_effect"] and len(router.history()) == 2
    gold = new.parent / "more/gold.yaml"
    gold.write_text(gold.read_text().replace("30 Mbit/s", "30 parsecs"))
    assert f"{gold}:2:" in router.refused("apply", new)
    router.run("rollback")
    assert router.running() == first and router.effective() == [old]
    router.run("rollback")
    assert router.running() == second and "30 Mbit/s" in router.effective()[1]


def test_included_files_are_installed_in_their_places_and_stay_the_truth(router):
    new, place = router.several("new", "30 Mbit/s"), router.file.parent / "more"
    place.mkdir()
    (place / "gold.yaml").write_text("# a note that no generation has\n")
    assert f"{place / 'gold.yaml'} would be overwritten, and no generation has a copy: move it away first" in router.refused("apply", new)
    (place / "gold.yaml").unlink()
    router.run("apply", new)
    assert router.file.read_text() == new.read_text() and (place / "gold.yaml").read_text() == (new.parent / "more/gold.yaml").read_text()
    applied = router.running()
    (place / "gold.yaml").write_text((place / "gold.yaml").read_text().replace("30 Mbit", "33 Mbit"))
    assert "configuration in effect is in" not in router.run("reload").stderr and router.running() != applied
    assert "nothing differs" in router.run("diff", router.file).stdout
    (place / "silver.yaml").write_text("services: {silver: {conditioner: police, rate: 5 Mbit/s, bucket: 20 kB, mark: {in: EF}}}\n")
    router.run("reload")
    edited = router.running()
    router.run("apply", new, "--confirm", "5 min")
    assert (place / "silver.yaml").exists(), "it is on trial"
    router.run("confirm")
    assert router.running() == applied and [f.name for f in place.iterdir()] == ["gold.yaml"]
    router.run("rollback")
    assert router.running() == edited and sorted(f.name for f in place.iterdir()) == ["gold.yaml", "silver.yaml"]
    assert not router.points() and router.history()[-1]["in_effect"]


def test_secrets_by_relative_names_are_those_beside_the_file(router):
    (router.file.parent / "rate").write_text("25 Mbit/s\n")
    (router.file.parent / "rate").chmod(0o600)
    new = router.candidate("new")
    new.write_text(new.read_text().replace("rate: 20 Mbit/s", "rate: !file rate"))
    router.run("apply", new)
    assert router.history()[-1]["in_effect"] and len(router.history()) == 2


def test_a_value_from_a_file_is_a_change_under_the_same_text(router):
    rate, new = router.file.parent / "rate", router.candidate("new")

    def sold(text):
        rate.write_text(text + "\n")
        rate.chmod(0o600)
    new.write_text(new.read_text().replace("rate: 20 Mbit/s", "rate: !file rate"))
    sold("25 Mbit/s")
    router.run("apply", new)
    before = router.history()
    sold("123457 kbit/s")
    assert "a trial cannot restore" in router.refused("apply", new, "--confirm", "5 min") and router.history() == before
    said = router.run("apply", new, "--why", "more for gold").stdout
    assert "service gold: rate changed" in said and said.endswith("in effect\n")
    assert router.run("diff", new).stdout == "nothing differs\n"
    *others, applied = router.history()
    assert [g["generation"] for g in others] == [g["generation"] for g in before]
    assert (applied["how"], applied["why"], applied["parent"], applied["in_effect"]) == ("apply", "more for gold", 2, True)
    assert "service gold: rate changed" in applied["changes"][0] and [g["in_effect"] for g in others] == [False, False]
    assert "nothing to change" in router.run("apply", new).stdout
    sold("many")
    assert "!file" in router.refused("apply", new)
    refused = router.uptime()
    wait_for(lambda: router.uptime() > refused + 1.5)  # the router, too, keeps what it has not seen kept
    assert router.history() == [*others, applied]
    kept = said + router.log() + "".join(p.read_text() for p in router.state.rglob("*") if p.is_file())
    assert "123457" not in kept and "123.457" not in kept and "many" not in kept
    router.run("rollback")  # to another text: a value is nobody's to bring back
    assert router.file.read_text() == configuration(router.name)


def test_two_operators(router):
    with open(router.state / "lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write("alice (apply, process 7)")
        lock.flush()
        new = router.candidate("new", rate="30 Mbit/s")
        waiting = {command: router.popen(command, new) for command in ("apply", "diff")}
        for command, process in waiting.items():
            ends_within(process, 5)
            said = "surety {}: alice (apply, process 7) is changing this at the moment: try again when that is done\n"
            assert process.communicate()[1] == said.format(command) and process.returncode == (2 if command == "diff" else 1)
    racers = [router.popen("apply", router.candidate(f"r{i}", rate=f"{i + 30} Mbit/s")) for i in range(6)]
    done = [p.wait(120) for p in racers]
    assert set(done) <= {0, 1} and 0 in done
    for p in racers:
        p.communicate()
    assert len(router.history()) == 1 + done.count(0) and router.history()[-1]["in_effect"]


def test_without_a_router_the_next_start_takes_it(off):
    new = off.candidate("new", rate="30 Mbit/s")
    old = off.file.read_text()
    assert "does not run" in off.refused("apply", new, "--to", off.file, "--confirm", "5 min")
    bad = off.candidate("bad", rate="x")
    assert f"{bad}:7:" in off.refused("apply", bad, "--to", off.file)
    assert "when the router starts" in off.run("apply", new, "--to", off.file).stdout
    assert off.file.read_text() == new.read_text()
    off.run("rollback")
    assert off.file.read_text() == old
    assert [g["how"] for g in off.history()] == ["found", "apply", "rollback"]
    off.start()
    assert len(off.history()) == 3
    assert "no such router" in Managed().refused("reload")


def test_a_configuration_of_a_newer_version(router):
    router.run("apply", router.candidate("new", rate="30 Mbit/s"))
    old = router.file.read_text()
    about = router.state / "generations/000002/about.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "format": 2}))
    before = sorted(router.state.rglob("*"))
    for command in (["apply", router.candidate("x", rate="9 Mbit/s")], ["rollback"], ["history"]):
        assert "was written by a newer version of surety (format 2" in router.refused(*command)
    assert router.file.read_text() == old and sorted(router.state.rglob("*")) == before


def test_a_fifo_among_the_files_of_a_configuration_stops_nothing(router):
    """The control thread would wait for a writer that never comes, and the process ends after 30 s."""
    customers = router.file.parent / "customers"
    customers.mkdir()
    router.file.write_text(router.file.read_text() + "include: customers/*.yaml\n")
    router.run("reload")
    before, started = router.running(), router.uptime()
    for kind in ("FIFO", "device"):
        hostile = customers / "acme.yaml"
        os.mkfifo(hostile) if kind == "FIFO" else hostile.symlink_to("/dev/zero")
        said = f"`customers/acme.yaml`: cannot be read: it is a {kind}, not a regular file"
        router.process.send_signal(signal.SIGHUP)
        wait_for(lambda: said in router.log(), 10)
        assert said in router.refused("reload")
        assert router.running() == before
        hostile.unlink()
    router.run("reload")
    assert router.process.poll() is None and router.uptime() >= started


def test_a_damaged_generation_is_named_and_the_others_are_there(router):
    for rate in (30, 31):
        router.run("apply", router.candidate("new", rate=f"{rate} Mbit/s"))
    about = router.state / "generations/000002/about.json"
    about.unlink()
    os.mkfifo(about)
    shown = router.run("history", "--json")
    assert [g["generation"] for g in json.loads(shown.stdout)] == [1, 3]
    assert f"{about}: it is a FIFO, not a regular file" in shown.stderr
    router.run("rollback")
    assert "20 Mbit/s" in router.file.read_text()
    router.run("apply", router.candidate("new", rate="32 Mbit/s"))
    assert [g["generation"] for g in router.history()] == [1, 3, 4, 5]
    assert str(about) in router.run("rollback", 2, check=False).stderr
    router.run("reload")


def test_permissions_and_links_stay(off):
    real = off.top / "real.yaml"
    off.file.rename(real)
    real.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(real, 1, 1)
    off.file.symlink_to("../real.yaml")
    off.run("apply", off.candidate("new", rate="30 Mbit/s"), "--to", off.file)
    assert off.file.is_symlink() and "30 Mbit" in real.read_text() and (real.stat().st_mode & 0o777) == 0o640
    assert os.geteuid() != 0 or (real.stat().st_uid, real.stat().st_gid) == (1, 1)


def test_only_so_many_are_kept(off):
    a, b = off.candidate("a", rate="30 Mbit/s"), off.candidate("b", rate="31 Mbit/s")
    for i in range(27):
        off.run("apply", a, "--to", off.file)
        off.run("apply", b, "--to", off.file)
    numbers = [g["generation"] for g in off.history()]
    assert numbers == list(range(6, 56)) and off.history()[-1]["in_effect"]
