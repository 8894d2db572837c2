#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what a customer loses beside an attacker (victim.py, attacks.py, bypasses.py), in each of the settings of scene.py.

hostile_table.py [--scenes 1 2 3 4] [--attacks NAME...] [--seconds 8] [--rate 200000] [--markdown FILE]: needs root and frr.
It prints a row for each attack and scene; without an attack, "none". --markdown writes the worst of each attack between FILE's marks,
as in tests/bench/README.md. Exit status 1: a row is beyond a limit.
"""
import argparse
import contextlib
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
sys.path[1:1] = [str(HERE.parents[1]), str(HERE.parents[3] / "deploy/lib")]

from bypasses import ATTACKS  # noqa: E402
from namespaces import prefer_session  # noqa: E402
from scene import SCENES, running  # noqa: E402
from victim import under  # noqa: E402

BEGIN, END = "<!-- hostile_table.py -->\n", "<!-- end -->\n"
COLUMNS = "arrived, 1000/s | rate | new connections | calls | pings through | pings to the router | OSPF | CS6 and EF unmarked, Mbit/s | rate, 2 s after"
MEASURING = -15  # nice, as of the tests that measure


def share(value):
    return "0" if value < 0.0005 else f"{100 * value:.1f} %"


def cells(losses, arrived):
    shares = [losses.rate, losses.connections, losses.calls, losses.through, losses.gateway]
    return " | ".join([f"{arrived / 1000:.0f}", *map(share, shares), "lost" if losses.session else "holds",
                       f"{losses.priority * 8e-6:.1f}", share(losses.after)])


def measure(attacks, scenes, rate, seconds):
    """Yields (attack, scene, losses, arrived) in the order of the scenes; losses is an error's text where a row could not be measured,
    and the scene is made again after that."""
    for number in scenes:
        left = list(attacks)
        while left:
            with tempfile.TemporaryDirectory(prefix="sf-") as directory, contextlib.ExitStack() as stack:
                name = left[0]
                try:
                    scene = stack.enter_context(running(SCENES[number - 1]))
                    while left:
                        name = left.pop(0)
                        yield name, number, *under(name, scene, pathlib.Path(directory), rate, seconds)
                except (AssertionError, RuntimeError, OSError) as error:
                    left = [a for a in left if a != name]
                    print(error, file=sys.stderr, flush=True)
                    yield name, number, str(error).splitlines()[0], 0
                    with contextlib.suppress(AssertionError, RuntimeError, OSError):
                        stack.close()


def worst(rows):
    """One row per attack: each column the worst of the scenes."""
    text = [f"| attack | {COLUMNS} | beyond a limit in |", "|---" * 11 + "|"]
    for name in dict.fromkeys(row[0] for row in rows):
        of = [row for row in rows if row[0] == name]
        measured = [row for row in of if not isinstance(row[2], str)]
        beyond = ", ".join(str(row[1]) for row in of if isinstance(row[2], str) or not row[2].holds())
        if measured:
            kind = type(measured[0][2])
            losses = kind(*(max(getattr(row[2], f) for row in measured) for f in kind.__dataclass_fields__))
            text.append(f"| {name} | {cells(losses, min(row[3] for row in measured))} | {beyond or '-'} |")
        else:
            text.append(f"| {name} | not measured{' |' * 9} {beyond} |")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", nargs="+", type=int, default=[1, 2, 3, 4], choices=[1, 2, 3, 4])
    parser.add_argument("--attacks", nargs="+", default=["none", *ATTACKS], choices=["none", *ATTACKS])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rate", type=float, default=200_000)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    os.setpriority(os.PRIO_PROCESS, 0, MEASURING)
    prefer_session("self", MEASURING)
    print(*(f"scene {number}: {setting}" for number, setting in enumerate(SCENES, 1)), f"| attack | scene | {COLUMNS} | within |",
          "|---" * 12 + "|", sep="\n", flush=True)
    rows = []
    for name, number, losses, arrived in measure(options.attacks, options.scenes, options.rate, options.seconds):
        rows.append((name, number, losses, arrived))
        said = f"not measured: {losses} | no" if isinstance(losses, str) else f"{cells(losses, arrived)} | {'yes' if losses.holds() else 'NO'}"
        print(f"| {name} | {number} | {said} |", flush=True)
    table = worst(rows)
    print("", *table, sep="\n")
    if options.markdown:
        text = options.markdown.read_text()
        head, _, rest = text.partition(BEGIN)
        options.markdown.write_text(head + BEGIN + "\n".join(table) + "\n" + END + rest.partition(END)[2])
    return 0 if all(not isinstance(losses, str) and losses.holds() for _, _, losses, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
