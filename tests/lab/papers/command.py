# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `surety-lab papers`.

Standard output is a function of the experiments alone: the same bytes on every machine. Errors go to standard error.
Exit status: 0; 1 when a row misses and nobody has looked at it (Row.why), when a run brought no result, or when one could not be kept;
128 and the signal's number when a signal ended it, with what was done until then printed. A shard prints no rows: 0 when all of its runs
are stored. `merge` fails without a row when a run is missing.
"""
import argparse
import dataclasses
import fnmatch
import importlib
import json
import os
import pathlib
import signal
import sys
import time

from . import shards, table
from .lab import Lab, Store
from .rows import evaluate

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ("gtfrc", "csa", "ard", "gtcp", "tfrc")
TREE = HERE.parents[2]


class Ended(Exception):
    """By a signal."""


def results_directory():
    if (TREE / "CONTRIBUTING.md").exists():
        return TREE / "build/papers"
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "surety/papers"


def papers():
    """Each with the causes of its misses behind it."""
    causes = importlib.import_module(f"{__package__}.causes").CAUSES
    found = [importlib.import_module(f"{__package__}.{name}").PAPER for name in NAMES]
    return [dataclasses.replace(paper, experiments=[*paper.experiments, *causes.get(paper.name, ())]) for paper in found]


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def arguments(words):
    output = argparse.ArgumentParser(add_help=False)
    output.add_argument("--report", metavar="DIR", type=pathlib.Path, help="draw the figures there, with the rows beside them")
    output.add_argument("--markdown", metavar="FILE", type=pathlib.Path,
                        help="write the rows into this page, between its marks; experiments that were not run keep theirs")
    output.add_argument("--json", action="store_true", help="a line for each row")
    output.add_argument("--lab", default=TREE / "build/release/bin/surety-lab", help=argparse.SUPPRESS)
    return merge_arguments(words[1:], output) if words[:1] == ["merge"] else run_arguments(words, output)


def merge_arguments(words, output):
    parser = argparse.ArgumentParser("surety-lab papers merge", parents=[output],
                                     description="The rows of a command whose shards have run, the same bytes as of one run.")
    parser.add_argument("directories", metavar="DIR", nargs="+", type=pathlib.Path, help="results of one or more shards")
    return parser.parse_args(words)


def run_arguments(words, output):
    parser = argparse.ArgumentParser("surety-lab papers", parents=[output],
                                     description="Every table and figure of the five papers, ours beside theirs.",
                                     epilog="`surety-lab papers merge DIR...` prints the rows of shards.")
    parser.add_argument("--only", choices=NAMES, help="this paper")
    parser.add_argument("--experiment", metavar="PATTERN", default="*", help="those whose name matches, e.g. `gtfrc-fig*`")
    parser.add_argument("--list", action="store_true", help="name the experiments and exit")
    parser.add_argument("--quick", action="store_true", help="fewer seeds, some of the experiments")
    parser.add_argument("--seeds", type=positive, help="number of seeds for each row; default: the experiment's, mostly 20")
    parser.add_argument("--threads", type=positive, default=len(os.sched_getaffinity(0)), help="runs at a time; default: one per core")
    parser.add_argument("--shard", metavar="I/N", type=shards.shard, help="make only the runs of shard I of N, from 0/N on, and print no rows")
    parser.add_argument("--results", metavar="DIR", type=pathlib.Path, default=results_directory(),
                        help="directory of finished runs, which the next call reuses; shards may share it; default: build/papers in a "
                             "source tree, else ~/.cache/surety/papers")
    options = parser.parse_args(words)
    if options.shard and (options.report or options.markdown or options.json):
        parser.error("--shard prints no rows: give --report, --markdown and --json to `surety-lab papers merge`")
    return options


def chosen(options):
    """[(paper, experiment, seeds)]"""
    found = []
    for paper in papers():
        for experiment in paper.experiments:
            if options.only in (None, paper.name) and fnmatch.fnmatchcase(experiment.name, options.experiment):
                seeds = options.seeds or (experiment.seeds or paper.seeds)[options.quick]
                if not (options.quick and experiment.full_only):
                    found.append((paper, experiment, seeds))
    return found


def run(options, experiments, lab):
    """All runs side by side; [(paper, results of an experiment)], each told as soon as it is there; and the signal that ended it."""
    started = [[future for case in experiment.cases(options.quick) for future in lab.start(case, seeds)]
               for _, experiment, seeds in experiments]
    told, ended = [], None
    for each, futures in zip(experiments, started):
        ended = ended or wait(futures, lab)
        told.append(show(options, *each, lab))
    return told, ended


def wait(futures, lab):
    """The signal that ended it."""
    try:
        for future in futures:
            future.result()
    except Ended as by:
        lab.stop()
        return by.args[0]
    return None


def show(options, paper, experiment, seeds, lab):
    results = evaluate(experiment, lab, seeds, options.quick)
    tell(options, paper, experiment, results)
    return paper, results


def tell(options, paper, experiment, results):
    if options.json:
        print(*(json.dumps(table.as_json(paper, result)) for result in results), sep="\n", flush=True)
    else:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in table.verdicts(results).items())
        print(f"{experiment.name}: {experiment.title}: {counts}", flush=True)


def finish(options, told, lab):
    results = [(paper, result) for paper, part in told for result in part]
    if not options.json:
        print("", table.summary(results), table.text(results), sep="\n")
    if options.report:
        from .figures import draw  # matplotlib is for the figures alone
        draw(options.report, told, lab, options.quick)
    if options.markdown:
        table.write_between_marks(options.markdown, results, {each.name: paper.name for paper in papers() for each in paper.experiments})
    return 1 if complain(lab) or any(result.fails for _, result in results) else 0


def complain(lab):
    complaints = list(lab.failures.values()) + ([f"results cannot be stored: {lab.unkept}"] if lab.unkept else [])
    print(*(f"surety-lab: {line}" for line in complaints), sep="\n", end="\n" if complaints else "", file=sys.stderr)
    return complaints


def merge(options):
    store = Store(options.lab, *options.directories)
    record = shards.adopt(options, store)
    experiments = chosen(options)
    shards.check(options, experiments, store, record)
    return finish(options, [show(options, *each, store) for each in experiments], store)


def main(words=None):
    options = arguments(sys.argv[1:] if words is None else words)
    if "directories" in options:
        try:
            return merge(options)
        except (OSError, shards.Refused) as error:
            print(*(f"surety-lab: {line}" for line in str(error).splitlines()), sep="\n", file=sys.stderr)
            return 1
    experiments = chosen(options)
    if options.list or not experiments:
        print(*(f"{experiment.name}: {experiment.title}" for _, experiment, _ in experiments), sep="\n")
        return 0 if experiments else 1
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    began = time.monotonic()
    try:
        lab = Lab(options.lab, options.results, options.threads)
        if options.shard:
            ended = wait(shards.make(options, experiments, lab), lab)
            print(shards.summary(options, experiments, lab))
            status = 1 if complain(lab) else 0
        else:
            told, ended = run(options, experiments, lab)
            status = finish(options, told, lab)
        sys.stdout.flush()
    except OSError as error:
        print(f"surety-lab: {error}", file=sys.stderr)
        return 1
    print(f"surety-lab: {lab.fresh} runs in {time.monotonic() - began:.0f} s, the others were in {options.results} already", file=sys.stderr)
    return 128 + ended if ended else status


def end(number, _):
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: None)  # once is enough
    raise Ended(number)
