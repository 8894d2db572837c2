#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions per packet of `surety bench`, by path and function: the same in each run, however busy the machine is.

    tests/bench/instructions.py [--paths csa,everything ...] [--flows 1k] [--least 0.5] SURETY [SURETY ...]

Needs valgrind, and no free hugepages (`vm.nr_hugepages=0`). One table per path: a column for each program, and the difference of the last to the
first where it is at least `--least`. Functions that the compiler inlines count as their callers, so that only a table's total compares
programs whose compilers decided otherwise. Instructions are not cycles: they show where two builds differ, and a claim about speed needs
`surety bench` besides."""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import tempfile

BURST = 64
TURN = "surety::Worker::turn*"  # what is counted
PER_BURST = re.compile(r"ParseStage::run\(|parse_eights\(|parse_singly|RouteStage::run\(")


def profile(program, path, flows):
    """Instructions of each function itself, and its calls."""
    with tempfile.NamedTemporaryFile(prefix="surety-instructions-") as out:
        subprocess.run(["valgrind", "--tool=callgrind", f"--toggle-collect={TURN}", f"--callgrind-out-file={out.name}", program, "bench", "--step",
                        "--json", "--families", "4", "--flows", flows, "--paths", path], input="\n", text=True, capture_output=True, check=True, timeout=900)
        return parse(pathlib.Path(out.name).read_text().splitlines())


def parse(lines):
    names, own, calls = {}, collections.Counter(), collections.Counter()

    def name(text):
        number, said = re.match(r"\((\d+)\)(?: (.*))?", text).groups()
        return names.setdefault(number, said)

    function, called = None, False
    for line in lines:
        if line.startswith("fn="):
            function = name(line[3:])
        elif line.startswith("cfn="):
            callee = name(line[4:])
        elif line.startswith("calls="):
            calls[callee] += int(line[6:].split()[0])
            called = True  # the next line has the callee's instructions
        elif line[:1] in ("+", "-", "*") or line[:1].isdigit():
            own[function] += 0 if called else int(line.split()[1])
            called = False
    return own, calls


def per_packet(program, path, flows):
    own, calls = profile(program, path, flows)
    packets = BURST * max(n for function, n in calls.items() if PER_BURST.search(function))
    result = collections.Counter()
    for function, n in own.items():
        result[re.sub(r"surety::|\(.*", "", function)] += n / packets
    return result


def print_table(path, columns, least):
    print(f"\n{path}")
    rows = [("total", [sum(c.values()) for c in columns])]
    rows += sorted(((f, [c[f] for c in columns]) for f in set().union(*columns)), key=lambda row: -max(row[1]))
    for function, values in rows:
        difference = values[-1] - values[0]
        if max(values) >= least:
            print(f"{function[:48]:48}", *(f"{v:9.1f}" for v in values), f"{difference:+9.1f}" if abs(difference) >= least else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="SURETY")
    parser.add_argument("--paths", default="forward,csa,everything,core,access-up,access-down,flat,below")
    parser.add_argument("--flows", default="1k")
    parser.add_argument("--least", type=float, default=0.5)
    arguments = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path in arguments.paths.split(","):
            columns = list(pool.map(lambda p: per_packet(p, path, arguments.flows), arguments.programs))
            print_table(path, columns, arguments.least)


if __name__ == "__main__":
    main()
