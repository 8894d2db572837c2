# SPDX-License-Identifier: BSD-3-Clause
"""Runs of `surety-lab run`, side by side, each kept in a file of its own: what was done once is not done again.

A file's name is a hash of the scenario, the settings, the seed and the program itself.
"""
import concurrent.futures
import contextlib
import dataclasses
import fnmatch
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import threading

SCENARIOS = pathlib.Path(__file__).resolve().parent / "scenarios"
TIME_SERIES_SEED = 1  # whose time series are kept too, for the figures
TOGETHER = 5  # seeds a process: to start one takes as long as many a run


def parts(seeds):
    """Seeds 1 to `seeds` as ranges, one for each process."""
    return [range(first, min(first + TOGETHER, seeds + 1)) for first in range(1, seeds + 1, TOGETHER)]


@dataclasses.dataclass(frozen=True)
class Case:
    """A scenario with settings, as `--set` has them."""
    scenario: str
    settings: tuple = ()

    def set(self, settings=None, **words):
        merged = {**dict(self.settings), **{key: _yaml(value) for key, value in {**(settings or {}), **words}.items()}}
        return Case(self.scenario, tuple(merged.items()))

    @property
    def path(self):
        return SCENARIOS / f"{self.scenario}.yaml"

    def text(self):
        return _text(self.path)


@functools.cache
def _text(path):
    return path.read_text()


def _yaml(value):
    """On one line."""
    return value if isinstance(value, str) else json.dumps(value)


class Run:
    """What one seed showed: the JSON of `surety-lab run`."""

    def __init__(self, text):
        self.json = json.loads(text)

    def flow(self, name):
        return self._one(self.flows(name), name)

    def flows(self, pattern="*"):
        found = [flow for flow in self.json["flows"] if fnmatch.fnmatchcase(flow["name"], pattern)]
        return found or self._one(found, pattern)

    def queue(self, name):
        """ROUTER/PORT/QUEUE, as of domain()."""
        return self._one([q for q in self.json["queues"] if "{router}/{port}/{queue}".format(**q) == name], name)

    def domain(self, name):
        return self._one([d for d in self.json["domains"] if "{router}/{port}/{queue}".format(**d) == name], name)

    def aggregate(self, name):
        return self._one([a for a in self.json["aggregates"] if a["name"] == name], name)

    def signals(self, router, result):
        return self.json["signals"].get(router, {}).get(result, 0)

    @staticmethod
    def _one(found, name):
        if len(found) != 1:
            raise LookupError(f"{len(found)} are called {name}")
        return found[0]


class Store:
    """Results of finished runs in directories."""

    def __init__(self, program, *directories):
        self.directories = [pathlib.Path(directory) for directory in directories]
        self.version = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()
        self.failures = {}  # what to say of each run that brought nothing
        self.unkept = None  # why a result could not be kept

    def result(self, case, seed):
        """The Run; None: there is no whole result."""
        return self._kept(self.key(case, seed))

    def key(self, case, seed):
        what = [case.text(), case.settings, seed, self.version]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]

    def _kept(self, key):
        for directory in self.directories:
            try:
                return Run((directory / f"{key}.json").read_text())
            except (OSError, ValueError):  # not there, or not whole
                pass
        return None


class Lab(Store):
    """Runs cases, at most `jobs` processes at a time, and keeps what they showed below `results`."""

    def __init__(self, program, results, jobs):
        super().__init__(program, results)
        # As it is now: it may be built anew meanwhile.
        self.program = f"/proc/{os.getpid()}/fd/{os.open(program, os.O_RDONLY)}"
        self.results = pathlib.Path(results)
        self.results.mkdir(parents=True, exist_ok=True)
        self.fresh = 0  # runs that were made now
        self._homeless = {}  # results without a file
        self._running, self._stopping, self._lock = set(), False, threading.Lock()
        self._pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self._futures = {}

    def start(self, case, seeds):
        """Futures that are done when seeds 1 to `seeds` are; those of a case that was started before are the same."""
        return [self.start_part(case, part) for part in parts(seeds)]

    def start_part(self, case, part):
        if (case, part) not in self._futures:
            self._futures[case, part] = self._pool.submit(self._make, case, part)
        return self._futures[case, part]

    def result(self, case, seed):
        """The Run; None: it brought no result, or is not finished."""
        key = self.key(case, seed)
        return Run(self._homeless[key]) if key in self._homeless else self._kept(key)

    def stop(self):
        """Ends what is running and forgets what is not; what is kept stays."""
        with self._lock:
            self._stopping = True
            for process in self._running:
                process.terminate()
        self._pool.shutdown(cancel_futures=True)

    def _make(self, case, seeds):
        missing = [seed for seed in seeds if not self._kept(self.key(case, seed))]
        if not missing:
            return
        failure = self._simulate(case, missing[0], missing[-1])
        for seed in missing if failure and not self._stopping else ():  # one that ends the program does not take the others with it
            if not self.result(case, seed):
                failure = failure if len(missing) == 1 else self._simulate(case, seed, seed)
                if failure and not self._stopping:
                    self.failures[self.key(case, seed)] = f"{case.scenario}, seed {seed}: {failure} (settings: {dict(case.settings)})"

    def _simulate(self, case, first, last):
        """Keeps each run as it comes; what went wrong, if anything did."""
        settings = [argument for key, value in case.settings for argument in ("--set", f"{key}={value}")]
        series = ["--series"] if first == TIME_SERIES_SEED else []
        command = [self.program, "run", case.path, "--json", "--threads", "1", "--seeds", f"{first}-{last}", *series, *settings]
        with tempfile.TemporaryFile("w+") as errors, self._process(command, errors) as process:
            for line in process.stdout:
                run = json.loads(line)
                if "seed" in run and not run.get("interrupted"):  # not the statistics of all
                    self._keep(self.key(case, run["seed"]), line)
            status = process.wait()
            errors.seek(0)
            said = errors.read().strip().splitlines()
        return f"exit status {status}: {said[-1] if said else 'without a word'}" if status else None

    @contextlib.contextmanager
    def _process(self, command, errors):
        """In a session of its own: Ctrl-C ends it by stop()."""
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                              start_new_session=True) as process:
            with self._lock:
                self._running.add(process)
                if self._stopping:
                    process.terminate()
            try:
                yield process
            finally:
                with self._lock:
                    self._running.discard(process)

    def _keep(self, key, text):
        """Whole or not at all."""
        self.fresh += 1
        try:
            with tempfile.NamedTemporaryFile("w", prefix=".", dir=self.results, delete=False) as file:
                try:
                    file.write(text)
                    file.close()
                    os.replace(file.name, self.results / f"{key}.json")
                except BaseException:
                    os.unlink(file.name)
                    raise
        except OSError as error:
            self._homeless[key] = text
            self.unkept = f"{self.results}: {error.strerror}"
