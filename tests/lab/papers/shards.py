# SPDX-License-Identifier: BSD-3-Clause
"""One command on several machines: `--shard I/N` makes a part of the runs, `merge` prints the rows of all parts.

A shard leaves a record beside its results, with the experiments, the seeds and the program. `merge` refuses records that differ in them,
and names the shards and runs that are missing.
"""
import argparse
import dataclasses
import hashlib
import json
import shlex

from .lab import parts

NAMED = 10  # missing runs that a message names


class Refused(Exception):
    """The directories do not hold the results of one command."""


@dataclasses.dataclass(frozen=True)
class Shard:
    index: int
    count: int

    def __str__(self):
        return f"{self.index}/{self.count}"

    @property
    def record(self):
        return f"shard-{self.index}-of-{self.count}.json"


def shard(text):
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and int(index) < int(count)):
        raise argparse.ArgumentTypeError(f"'{text}' is not I/N with I from 0 to N - 1; four shards are 0/4, 1/4, 2/4 and 3/4")
    return Shard(int(index), int(count))


def plan(experiments, quick):
    """[(case, seeds)] of all processes, each once. Shard I has the I-th of each N.

    Neighbours are as many seeds of one scenario, and take about as long: each shard gets as many of them, give or take one. A hash orders
    the cases of a scenario, or every N-th could be the longest of a sweep.
    """
    seeds = {}
    for _, experiment, wanted in experiments:
        for case in experiment.cases(quick):
            seeds[case] = max(wanted, seeds.get(case, 0))
    planned = [(case, part) for case in seeds for part in parts(seeds[case])]
    return sorted(planned, key=lambda each: (each[0].scenario, len(each[1]), _digest(each[0].settings), each[1].start))


def _digest(what):
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def _runs(planned):
    return [(case, seed) for case, part in planned for seed in part]


def _record(options, store, planned):
    """What the shards of one command have in common."""
    return {"command": {name: getattr(options, name) for name in ("only", "experiment", "quick", "seeds")},
            "program": store.version, "runs": _digest([store.key(case, seed) for case, seed in _runs(planned)])}


def make(options, experiments, lab):
    """Starts the runs of the shard and returns their futures."""
    planned = plan(experiments, options.quick)
    record = {"shard": dataclasses.astuple(options.shard), **_record(options, lab, planned)}
    (lab.results / options.shard.record).write_text(json.dumps(record, indent=2) + "\n")
    return [lab.start_part(case, part) for case, part in _part(planned, options.shard)]


def _part(planned, mine):
    return planned[mine.index::mine.count]


def summary(options, experiments, lab):
    runs = _runs(_part(plan(experiments, options.quick), options.shard))
    return f"shard {options.shard}: {sum(bool(lab.result(*run)) for run in runs)} of {len(runs)} runs are stored"


def _read(path):
    try:
        record = json.loads(path.read_text())
        return {key: record[key] for key in ("shard", "command", "program", "runs")}
    except (ValueError, KeyError, TypeError):
        raise Refused(f"{path} is not the whole record of a shard: run the shard again") from None


def _where(store):
    return shlex.join(map(str, store.directories))


def adopt(options, store):
    """Gives `options` the experiments and seeds of the shards, and returns the record that all have in common."""
    records = [(path, _read(path)) for directory in store.directories for path in sorted(directory.glob("shard-*-of-*.json"))]
    if not records:
        raise Refused(f"no shard-I-of-N.json in {_where(store)}: `surety-lab papers --shard I/N --results DIR` leaves it in DIR")
    for path, record in records:
        if record["program"] != store.version:
            raise Refused(f"{path} is of another program (sha256 {record['program'][:12]}, this one has {store.version[:12]}): merge with "
                          "that program, or run the shard with this one")
    (first, expected), *others = records
    for path, record in others:
        if (record["command"], record["shard"][1]) != (expected["command"], expected["shard"][1]):
            raise Refused(f"{first} is of `{_words(expected)}` and {path} of `{_words(record)}`: run the shards of one command, or remove "
                          "the file of the other")
        if record["runs"] != expected["runs"]:
            raise Refused(f"{first} and {path} are of different experiments or scenarios under the same names")
    vars(options).update(expected["command"])
    return expected


def _words(record, index="I"):
    command = record["command"]
    words = [word for name, value in command.items() if value not in (None, False, "*")
             for word in (f"--{name}", *([] if value is True else [str(value)]))]
    return shlex.join(["surety-lab", "papers", *words]) + f" --shard {index}/{record['shard'][1]}"


def check(options, experiments, store, record):
    """Refuses what one run would not print."""
    planned = plan(experiments, options.quick)
    if _record(options, store, planned)["runs"] != record["runs"]:
        raise Refused("the shards ran other experiments or scenarios than this surety-lab has under these names")
    count, missing = record["shard"][1], []
    for each in (Shard(index, count) for index in range(count)):
        runs = _runs(_part(planned, each))
        absent = [run for run in runs if not store.result(*run)]
        home = [directory for directory in store.directories if (directory / each.record).exists()]
        if absent and not home:
            missing.append(f"shard {each} is missing: no {each.record} in {_where(store)}; run `{_words(record, each.index)} --results DIR`")
        elif absent:
            missing.append(f"shard {each} is not complete: {len(absent)} of its {len(runs)} runs are missing; continue it by "
                           f"`{_words(record, each.index)} --results {shlex.quote(str(home[0]))}`")
            missing += [f"  {case.scenario}, seed {seed} (settings: {dict(case.settings)})" for case, seed in absent[:NAMED]]
            missing += [f"  and {len(absent) - NAMED} more"] if len(absent) > NAMED else []
    if missing:
        raise Refused("\n".join(missing))
