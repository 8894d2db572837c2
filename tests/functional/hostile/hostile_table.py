#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a customer loses beside another who attacks (victim.py, attacks.py), as the table of router/README.md.

hostile_table.py [--devices af_xdp af_packet] [--attacks NAME...] [--seconds 30] [--rate 200000] [--markdown FILE]: needs root and frr.
The first row is without an attack. --markdown writes the table between FILE's marks. Exit status 1: one is beyond a limit.
"""
import argparse
import pathlib
import sys
import tempfile

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))

from attacks import ATTACKS  # noqa: E402
from victim import running, under  # noqa: E402

BEGIN, END = "<!-- hostile_table.py -->\n", "<!-- end -->\n"


def share(value):
    return "0" if value == 0 else f"{100 * value:.1f} %"


def row(name, device, losses, arrived):
    words = [name, device, f"{arrived / 1000:.0f}", share(losses.rate), share(losses.calls), share(losses.through),
             share(losses.gateway), "lost" if losses.session else "holds"]
    return "| " + " | ".join(words) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", nargs="+", default=["af_xdp", "af_packet"])
    parser.add_argument("--attacks", nargs="+", default=["none", *ATTACKS], choices=["none", *ATTACKS])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=float, default=200_000)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    lines = ["| attack | device | arrived, 1000/s | rate | calls | pings through | pings to the router | OSPF |",
             "|---|---|---|---|---|---|---|---|"]
    print(*lines, sep="\n", flush=True)
    holds = True
    with tempfile.TemporaryDirectory(prefix="sf-") as directory:
        for device in options.devices:
            with running(device) as scene:
                for name in options.attacks:
                    losses, arrived = under(name, scene, pathlib.Path(directory), options.rate, options.seconds)
                    holds &= losses.holds()
                    lines.append(row(name, device, losses, arrived))
                    print(lines[-1], flush=True)
    if options.markdown:
        text = options.markdown.read_text()
        head, _, rest = text.partition(BEGIN)
        options.markdown.write_text(head + BEGIN + "\n".join(lines) + "\n" + END + rest.partition(END)[2])
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
