# SPDX-License-Identifier: BSD-3-Clause
"""What the papers' runner promises, with a program in the place of surety-lab: nothing that was done is lost, nothing is claimed kindly."""
import errno
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from papers import command, lab, rows, shards, table  # noqa: E402

PROGRAM = """#!/usr/bin/python3 -IS
import json, pathlib, sys, time
here = pathlib.Path(sys.argv[0]).resolve().parent
first, last = map(int, sys.argv[sys.argv.index("--seeds") + 1].split("-"))
for seed in range(first, last + 1):
    if (here / f"bad{seed}").exists():
        sys.exit(f"seed {seed} is bad")
    if (here / f"slow{seed}").exists():
        time.sleep(60)
    with (here / "log").open("a") as log:
        print(seed, file=log)
    print(json.dumps({"seed": seed, "flows": [{"name": "f", "delivered_bps": 1000 * seed}]}), flush=True)
print(json.dumps({"seeds": 2, "statistics": {}}))
"""
CASE = lab.Case("tfrc-dumbbell").set({"senders.tfrc.rate": "1 Mbit/s", "senders.udp": None})


class Bench:
    def __init__(self, here):
        self.here, self.program, self.results = here, here / "surety-lab", here / "results"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)

    def lab(self):
        return lab.Lab(self.program, self.results, 2)

    def run(self, seeds, case=CASE):
        """A Lab that has run them, and the seeds that were really run."""
        made, log = self.lab(), self.here / "log"
        log.write_text("")
        for future in made.start(case, seeds):
            future.result()
        return made, sorted(map(int, log.read_text().split()))


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def delivered(made, seed):
    run = made.result(CASE, seed)
    return run and run.flow("f")["delivered_bps"]


# --- what was done is kept ---

def test_what_was_run_once_is_not_run_again(bench):
    assert bench.run(7)[1] == [1, 2, 3, 4, 5, 6, 7]
    made, again = bench.run(9)
    assert again == [8, 9] and [delivered(made, seed) for seed in (1, 9)] == [1000, 9000] and made.fresh == 2


@pytest.mark.parametrize("change", ["settings", "program", "file"])
def test_what_may_have_changed_is_run_again(bench, change):
    bench.run(2)
    if change == "program":
        bench.program.write_text(PROGRAM + "# of another build\n")
    if change == "file":
        for file in bench.results.iterdir():
            file.write_text(file.read_text()[:20])
    assert bench.run(2, CASE.set(duration="9 s") if change == "settings" else CASE)[1] == [1, 2]


def test_a_seed_that_fails_is_told_and_takes_no_other_with_it(bench):
    (bench.here / "bad3").touch()
    made, ran = bench.run(5)
    assert ran == [1, 2, 4, 5] and delivered(made, 3) is None
    [told] = made.failures.values()
    assert "tfrc-dumbbell, seed 3: exit status 1: seed 3 is bad" in told and "1 Mbit/s" in told
    (bench.here / "bad3").unlink()
    made, ran = bench.run(5)
    assert ran == [3] and not made.failures


def test_on_a_full_disk_the_results_are_used_and_the_disk_is_named(bench, monkeypatch):
    bench.run(2)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(os, "replace", full)
    made, _ = bench.run(4)
    assert [delivered(made, seed) for seed in (1, 4)] == [1000, 4000] and made.unkept == f"{bench.results}: No space left on device"
    assert len(list(bench.results.iterdir())) == 2  # and nothing half written


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_what_there_is(bench, number):
    (bench.here / "slow3").touch()
    process = subprocess.Popen([sys.executable, "-B", HERE, "--lab", bench.program, "--results", bench.results, "--only", "tfrc",
                                "--experiment", "tfrc-end", "--seeds", "4", "--threads", "2", "--json"], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not len(list(bench.results.glob("*.json"))) == 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 128 + number and len(list(bench.results.iterdir())) == 4
    assert [json.loads(line)["experiment"] for line in out.splitlines()] == ["tfrc-end"] * len(EXPERIMENTS["tfrc-end"].rows)


# --- several machines ---

SWEEP = [CASE.set(duration=f"{n} s") for n in range(1, 4)]
EXPERIMENTS_OF_SHARDS = [
    rows.Experiment("one", "", [rows.row("rate", "kbit/s", rows.delivered("f"), case, band=rows.paper(0)) for case in SWEEP], seeds=(12, 7)),
    rows.Experiment("two", "", [rows.row("rate", "kbit/s", rows.delivered("f"), *SWEEP[:1], band=rows.paper(99))], full_only=True)]


class Cluster:
    """Commands of `surety-lab papers` with two experiments of a program that takes no time."""

    def __init__(self, bench, capsys):
        self.bench, self.capsys, self.log = bench, capsys, bench.here / "log"

    def __call__(self, *words):
        """(exit status, standard output, standard error)"""
        status = command.main([*map(str, words), "--lab", str(self.bench.program)])
        return (status, *self.capsys.readouterr())

    def shard(self, index, *words, directory=None, count=4):
        return self("--shard", f"{index}/{count}", "--results", directory or self.directory(index), *words)

    def directory(self, index):
        return self.bench.here / f"shard{index}"

    def merge(self, *words):
        return self("merge", *words or map(self.directory, range(4)))


@pytest.fixture
def cluster(bench, capsys, monkeypatch):
    monkeypatch.setattr(command, "papers", lambda: [rows.Paper("p", "", (20, 3), EXPERIMENTS_OF_SHARDS)])
    return Cluster(bench, capsys)


@pytest.mark.parametrize("shared, words", [(False, []), (True, ["--quick"]), (False, ["--seeds", "3"]), (True, ["--experiment", "t*"])])
def test_four_shards_print_the_bytes_of_one_run(cluster, shared, words):
    status, table_of_one, _ = cluster(*words, "--results", cluster.bench.results)
    runs = sorted(cluster.log.read_text().split())
    cluster.log.write_text("")
    directories = [cluster.bench.here / "shared"] if shared else list(map(cluster.directory, range(4)))
    for index in range(4):
        made = cluster.shard(index, *words, directory=directories[index % len(directories)])
        assert made[0] == 0 and made[1].startswith(f"shard {index}/4: ")
    assert sorted(cluster.log.read_text().split()) == runs and "rate" in table_of_one  # each once
    merged = cluster.merge(*directories)
    assert merged == (status, table_of_one, "")
    if shared:
        assert "surety-lab: 0 runs in" in cluster(*words, "--results", *directories)[2]


def test_rows_of_shards_go_to_a_page_and_to_programs(cluster):
    page = cluster.bench.here / "page.md"
    page.write_text(f"{table.BEGIN}\n{table.END}\n")
    cluster.shard(0, count=1)
    _, lines, _ = cluster.merge(cluster.directory(0), "--json", "--markdown", page)
    assert lines == cluster("--json", "--results", cluster.directory(0))[1] and "| one | rate (kbit/s) |" in page.read_text()


def test_a_missing_shard_is_named(cluster):
    for index in (0, 1, 3):
        cluster.shard(index, "--seeds", "7")
    status, out, told = cluster.merge()
    assert (status, out) == (1, "") and [line.partition(":")[2][:26] for line in told.splitlines()] == [" shard 2/4 is missing: no "]
    assert told.endswith("run `surety-lab papers --seeds 7 --shard 2/4 --results DIR`\n")


def test_a_shard_that_was_not_finished_names_its_runs_and_continues(cluster):
    (cluster.bench.here / "bad9").touch()
    ended = [cluster.shard(index, "--experiment", "two") for index in range(4)]
    assert sorted(status for status, _, _ in ended) == [0, 0, 0, 1]
    [index] = (index for index in range(4) if ended[index][0])
    assert ended[index][1] == f"shard {index}/4: 4 of 5 runs are stored\n" and "seed 9 is bad" in ended[index][2]
    status, out, told = cluster.merge()
    assert (status, out) == (1, "") and len(told.splitlines()) == 2
    assert f"shard {index}/4 is not complete: 1 of its 5 runs are missing; continue it by `surety-lab papers --experiment two --shard " in told
    assert f"--results {cluster.directory(index)}`\nsurety-lab:   tfrc-dumbbell, seed 9 (settings: {{" in told
    (cluster.bench.here / "bad9").unlink()
    cluster.log.write_text("")
    assert cluster.shard(index, "--experiment", "two")[:2] == (0, f"shard {index}/4: 5 of 5 runs are stored\n")
    assert cluster.log.read_text().split() == ["9"] and "12 of 12" not in cluster.merge()[1] and cluster.merge()[2] == ""


def test_a_shard_that_a_signal_ends_says_what_is_stored(bench):
    (bench.here / "slow3").touch()
    words = [sys.executable, "-B", HERE, "--results", bench.results, "--experiment", "tfrc-end", "--seeds", "4", "--threads", "2", "--shard", "0/1"]
    process = subprocess.Popen([*words, "--lab", bench.program], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not len(list(bench.results.glob("*.json"))) == 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.terminate()
    assert process.communicate(timeout=20)[0] == f"shard 0/1: 4 of {4 * len(EXPERIMENTS['tfrc-end'].cases(False))} runs are stored\n" and process.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("change, told", [
    ("program", "shard-3-of-4.json is of another program (sha256 "), ("--seeds 2", "papers --seeds 2 --shard I/4`: run the shards of one"),
    ("count", "--seeds 3 --shard I/5`: run the shards of one command"), ("scenario", "are of different experiments or scenarios under the"),
    ("record", "shard-3-of-4.json is not the whole record of a shard"), ("all", "no shard-I-of-N.json in ")])
def test_shards_of_different_commands_are_refused(cluster, monkeypatch, change, told):
    for index in range(3):
        cluster.shard(index, "--seeds", "3")
    if change == "program":
        cluster.bench.program.write_text(PROGRAM + "# of another build\n")
    if change == "scenario":
        monkeypatch.setattr(command, "papers", lambda: [rows.Paper("p", "", (20, 3), EXPERIMENTS_OF_SHARDS[1:])])
    cluster.shard(3, *(change.split() if change.startswith("--") else ("--seeds", "3")), count=5 if change == "count" else 4)
    if change == "program":
        cluster.bench.program.write_text(PROGRAM)
    if change == "record":
        (cluster.directory(3) / "shard-3-of-4.json").write_text("{}")
    status, out, error = cluster.merge(*[cluster.bench.here] if change == "all" else [])
    assert (status, out) == (1, "") and told in error and error.startswith("surety-lab: ")


def test_shards_of_other_experiments_than_those_of_the_program_are_refused(cluster, monkeypatch):
    cluster.shard(0, count=1)
    monkeypatch.setattr(command, "papers", lambda: [rows.Paper("p", "", (20, 3), EXPERIMENTS_OF_SHARDS[1:])])
    assert "the shards ran other experiments or scenarios than this surety-lab has" in cluster.merge(cluster.directory(0))[2]


@pytest.mark.parametrize("words", [["--shard", text] for text in ("4/4", "1", "-1/4", "1/0", "a/4", "1/4/2", "")] +
                         [["--shard", "0/4", more] for more in ("--json", "--report=out", "--markdown=page.md")], ids=" ".join)
def test_shards_that_do_not_exist_and_rows_of_a_shard_are_refused(words, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(words)
    assert ended.value.code == 2 and "--shard" in capsys.readouterr().err


@pytest.mark.parametrize("seeds", [20, 6])  # parts of 5, and of 5 and 1
@pytest.mark.parametrize("count", [2, 3, 4, 7, 20, 64])
def test_each_shard_has_as_much_of_each_scenario(count, seeds):
    planned = shards.plan([(paper, experiment, seeds) for paper in command.papers() for experiment in paper.experiments], False)
    assert len(planned) == len(set(planned))
    for scenario in {case.scenario for case, _ in planned}:
        shares = [[part for case, part in planned[index::count] if case.scenario == scenario] for index in range(count)]
        for share, most in (([len(parts) for parts in shares], 1), ([sum(map(len, parts)) for parts in shares], lab.TOGETHER)):
            assert max(share) - min(share) <= most


EXAMPLES = HERE.parents[2] / "deploy/examples"


def example_words(cluster, example, environment):
    """The arguments with which an example starts `surety-lab papers`."""
    starter = cluster.bench.here / "bin/surety-lab"
    starter.parent.mkdir(exist_ok=True)
    starter.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    starter.chmod(0o755)
    path = f"{starter.parent}:{os.environ['PATH']}"
    run = subprocess.run(example, env={"PATH": path, **environment}, stdout=subprocess.PIPE, text=True, check=True, timeout=20)
    name, *words = run.stdout.splitlines()
    assert name == "papers"
    return [cluster.bench.results if word == "/results" else word for word in words]


def test_the_example_of_slurm(cluster, monkeypatch):
    monkeypatch.chdir(cluster.bench.here)
    script = EXAMPLES / "papers-slurm.sh"
    settings = dict(line.removeprefix("#SBATCH --").split("=") for line in script.read_text().splitlines() if line.startswith("#SBATCH --") and "=" in line)
    first, last = map(int, settings["array"].split("-"))
    for index in range(first, last + 1):
        task = {"SLURM_ARRAY_TASK_ID": str(index), "SLURM_CPUS_PER_TASK": settings["cpus-per-task"]}
        status, out, _ = cluster(*example_words(cluster, ["bash", script, "--quick"], task))
        assert status == 0 and out.startswith(f"shard {index}/{last + 1}: ")
    assert cluster.merge("papers")[1] == cluster("--quick", "--results", cluster.bench.results)[1]


def test_the_example_of_kubernetes(cluster):
    yaml = pytest.importorskip("yaml")
    claim, job, merge = yaml.safe_load_all((EXAMPLES / "papers-kubernetes.yaml").read_text())
    for each in (job, merge):
        pod = each["spec"]["template"]["spec"]
        assert each["apiVersion"] == "batch/v1" and pod["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        assert pod["containers"][0]["volumeMounts"] == [{"name": pod["volumes"][0]["name"], "mountPath": "/results"}]
    assert job["spec"]["completionMode"] == "Indexed"
    [shard], [merged] = (each["spec"]["template"]["spec"]["containers"] for each in (job, merge))
    for index in range(job["spec"]["completions"]):
        assert cluster(*example_words(cluster, shard["command"], {"JOB_COMPLETION_INDEX": str(index)}))[0] == 0
    assert cluster(*example_words(cluster, merged["command"], {}))[1] == cluster("--results", cluster.bench.here / "one")[1]


# --- what is claimed ---

def judged(values, **more):
    return rows.Result(rows.row("r", "", None, **more), None, 20, values)


@pytest.mark.parametrize("values, more, verdict, fails", [
    ([9, 11], {"band": rows.paper(9, 11)}, "met", False), ([9, 14], {"band": rows.ns2(9, 11)}, "missed", True),
    ([9, 14], {"band": rows.ns2(9, 11), "why": "unknown"}, "missed", False),
    ([9, 14], {"band": rows.model(11), "every": True}, "missed", True),
    ([10, math.nan], {"band": rows.paper(0)}, "missed", True), ([], {"band": rows.paper(0)}, "not run", False), ([1], {}, "printed", False),
    ([10] * 20, {"band": rows.pin(10.5)}, "met", False), ([10] * 20, {"band": rows.pin(12)}, "missed", True),
    ([10] * 19, {"band": rows.pin(12)}, "printed", False)])
def test_verdicts(values, more, verdict, fails):
    assert (judged(values, **more).verdict, judged(values, **more).fails) == (verdict, fails)


def test_bands_as_written():
    assert list(map(str, (rows.near(387), rows.points(98), rows.paper(5, 5), rows.ns2(770), rows.model(high=0.4), rows.pin(300)))) == [
        "348.3 - 425.7", "96 - 100", "= 5", ">= 770", "<= 0.400", "270 - 330"]


def test_a_value_that_cannot_be_had_is_broken():
    class OneRun:
        def result(self, *_):
            return lab.Run('{"flows": []}')
    experiment = rows.Experiment("e", "", [rows.row("r", "", rows.delivered("f"), CASE)])
    [result] = rows.evaluate(experiment, OneRun(), 1, False)
    assert result.verdict == "broken" and result.fails and "0 are called f" in result.error


EXPERIMENTS = {experiment.name: experiment for paper in command.papers() for experiment in paper.experiments}


def test_experiments_are_told_apart():
    assert len(EXPERIMENTS) == sum(len(paper.experiments) for paper in command.papers())


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_every_claim_says_where_it_comes_from(experiment):
    assert all(case.path.exists() for case in experiment.cases(quick=False))
    drawn = [row for figure in experiment.figures if isinstance(figure, rows.Figure) for line in figure.lines.values() for row in line]
    assert {*map(id, drawn)} <= {*map(id, experiment.rows)}
    for row in experiment.rows:
        assert not row.band or row.band.origin in rows.ORIGINS[:-1]
        # A reason is an experiment that shows it, or says what was tried.
        assert not row.why or row.band and (row.why == "unknown" or row.why.partition(":")[0] in {*EXPERIMENTS, "open"}), row.why


# --- the page ---

def test_misses_come_first_and_neighbours_are_one_line(tmp_path):
    sweep = rows.sweep("N", "rate", "kbit/s", None, dict.fromkeys((10, 20, 30), CASE), (100, 200, 300), rows.near)
    experiment = rows.Experiment("e", "", sweep)
    results = [rows.Result(row, experiment, 1, [value]) for row, value in zip(sweep, (101, 150, 199))]
    paper = rows.Paper("p", "", (1, 1), [experiment])
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    table.write_between_marks(page, [(paper, result) for result in results], {"e": "p"})
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| p | 3 | 1 | 2 |" in text
    assert "| e | rate, N 20 30 (kbit/s) | 2 | 200, 300 | 150, 199 | 180 - 220, 270 - 330 |  |  |" in text
    assert text.index("**Missed, band of the paper: 2**") < text.index("**Met, band of the paper: 1**")


def test_pins_are_not_among_the_claims():
    bands = (rows.paper(0, 9), rows.paper(9, 10), rows.pin(5), rows.pin(9))
    experiment = rows.Experiment("e", "", [rows.row(str(n), "", None, CASE, band=band) for n, band in enumerate(bands)])
    results = [rows.Result(row, experiment, 20, [5] * 20) for row in experiment.rows]
    [(_, *numbers)] = table.counts(table.sections(results), {"e": "p"})
    assert {name: number for name, number in zip(table.COUNTS, numbers) if number != "0"} == {
        "claims": "2", "reproduced": "1", "missed": "1", "pins": "1", "pins missed": "1"}


def test_experiments_that_were_not_run_keep_their_rows(tmp_path):
    papers, page = {"one": "p", "two": "p", "three": "q"}, tmp_path / "page.md"

    def told(name, *values):
        own = [rows.row("rate", "kbit/s", None, CASE, band=band, **more) for band, more in
               ((rows.paper(10, 30), {"why": "one: a"}), (rows.model(10, 30), {"beyond": True}), (None, {}), (None, {}))]
        experiment = rows.Experiment(name, "", own, breaks="half the rate")
        return [(rows.Paper(papers[name], "", (1, 1), []), rows.Result(row, experiment, 1, [value])) for row, value in zip(own, values)]
    old = {name: told(name, 20, 40, 1, 2) for name in papers}
    page.write_text(f"{table.BEGIN}\n{table.END}\n")
    table.write_between_marks(page, sum(old.values(), []), papers)
    whole = page.read_text()
    for name in papers:
        table.write_between_marks(page, old[name], papers)
        assert page.read_text() == whole
    new = told("two", 5, 20, 1, 2)
    table.write_between_marks(page, new, papers)
    partial = page.read_text()
    page.write_text(f"{table.BEGIN}\n{table.END}\n")
    table.write_between_marks(page, old["one"] + new + old["three"], papers)
    assert partial == page.read_text() != whole
    table.write_between_marks(page, old["one"], {"one": "p"})  # one that is no more is not kept
    assert "| two |" not in page.read_text()


def test_rows_of_another_form_are_not_lost(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"{table.BEGIN}\n\n**Missed: 1**\n\n| experiment | row |\n|---|---|\n| one | r |\n{table.END}\n")
    before = page.read_text()
    with pytest.raises(OSError, match="another form"):
        table.write_between_marks(page, [], {"one": "p"})
    assert page.read_text() == before


def test_a_page_without_marks_stays(tmp_path):
    (tmp_path / "page.md").write_text("text\n")
    with pytest.raises(OSError):
        table.write_between_marks(tmp_path / "page.md", [], {})
    assert (tmp_path / "page.md").read_text() == "text\n"
