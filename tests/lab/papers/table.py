# SPDX-License-Identifier: BSD-3-Clause
"""Rows for people and for programs: by verdict, misses first, and by where their bands come from.

Neighbours of one name, origin and verdict are one line: `N = 10 15 20`, with as many numbers.
"""
import collections
import itertools
import math

from .rows import ORIGINS, REPRODUCED, shown

VERDICTS = ("broken", "missed", "not run", "met", "printed")
BEGIN, END = "<!-- surety-lab papers -->", "<!-- end -->"
HEADINGS = ("experiment", "row", "paper", "ours (sd)", "band", "why")
EARLIER = {"paper": "the paper", "ns-2": "ns-2", "model": "a model", "pin": "a pin", "nothing": "nothing"}


def verdicts(results):
    counts = collections.Counter(result.verdict for result in results)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def as_json(paper, result):
    row, band = result.row, result.row.band
    return {"paper": paper.name, "experiment": result.experiment.name, "what": row.name, "unit": row.unit or None,
            "x": row.at[1] if row.at else None, "printed": row.paper, "mean": number(result.mean), "sd": number(result.sd),
            "min": number(min(result.values, default=math.nan)), "max": number(max(result.values, default=math.nan)),
            "seeds": len(result.values), "origin": result.origin, "band": str(band) if band else None, "every": row.every,
            "verdict": result.verdict, "fails": result.fails, "why": row.why or None, "error": result.error or None}


def number(value):
    return value if math.isfinite(value) else None


def groups(results):
    """[((verdict, origin), results)] in the order of the page."""
    def place(entry):
        return VERDICTS.index(entry[1].verdict), ORIGINS.index(entry[1].origin)
    for key, part in itertools.groupby(sorted(results, key=place), key=place):
        yield (VERDICTS[key[0]], ORIGINS[key[1]]), [result for _, result in part]


def lines(results):
    """What stands in the columns HEADINGS, for neighbours that are one line."""
    def name(result):
        row = result.row
        return result.experiment.name, row.name, row.unit, row.why, result.error, row.at[:1]
    for (experiment, what, unit, why, error, label), part in itertools.groupby(results, key=name):
        part = list(part)
        if label:
            what += f", {label[0]} {' '.join(str(result.row.at[1]) for result in part)}"
        bands = [f"{result.row.band}{' (every seed)' if result.row.every else ''}" if result.row.band else "" for result in part]
        yield (experiment, f"{what} ({unit})" if unit else what, joined([shown(result.row.paper) for result in part]),
               joined([ours(result) for result in part]), joined(bands), error or why)


def joined(cells):
    return cells[0] if len(set(cells)) == 1 else ", ".join(cell or "-" for cell in cells)


def ours(result):
    seeds = f" [{len(result.values)} of {result.wanted}]" if len(result.values) < result.wanted else ""
    sd = "" if math.isnan(result.sd) or result.sd == 0 else f" ({result.sd:.2g})"
    return shown(result.mean) + sd + seeds


def heading(verdict, origin, results):
    return f"{verdict}, band of {EARLIER[origin]}: {len(results)}" if origin != "nothing" else f"{verdict}, no band: {len(results)}"


def text(results):
    parts = []
    for (verdict, origin), part in groups(results):
        parts += [heading(verdict.upper() if verdict in ("missed", "broken") else verdict, origin, part), *aligned(list(lines(part))), ""]
    return "\n".join(parts)


def aligned(rows):
    widths = [max(len(row[column]) for row in [HEADINGS, *rows]) for column in range(len(HEADINGS))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [HEADINGS, *rows]]


COUNTS = ("rows", "reproduced", "missed", "model", "model missed", "pins", "pins missed", "printed")


def counts(results):
    """{paper: how many rows of each of COUNTS}; only bands of the paper or of ns-2 count as reproduced."""
    tally = collections.defaultdict(collections.Counter)
    for paper, result in results:
        kind = "" if result.origin in REPRODUCED else {"model": "model", "pin": "pins"}.get(result.origin)
        bad = result.verdict in ("missed", "broken", "not run")
        column = "printed" if kind is None or result.verdict == "printed" else " ".join(filter(None, (kind, "missed" if bad else "")))
        tally[paper.name].update(("rows", column or "reproduced"))
    return tally


def summary(results):
    rows = [("paper", *COUNTS), *((name, *(str(tally[c]) for c in COUNTS)) for name, tally in counts(results).items())]
    return "\n".join("  ".join(cell.ljust(max(len(row[i]) for row in rows)) for i, cell in enumerate(row)).rstrip() for row in rows) + "\n"


def markdown_table(header, rows):
    return [f"| {' | '.join(header)} |", "|" + "---|" * len(header), *(f"| {' | '.join(row)} |" for row in rows)]


def markdown(results):
    page = markdown_table(("", *COUNTS), [(name, *(str(tally[c]) for c in COUNTS)) for name, tally in counts(results).items()])
    for (verdict, origin), part in groups(results):
        # Half of all rows compare ours with ours.
        told = part if origin != "nothing" else [result for result in part if result.row.paper is not None]
        less = "" if len(told) == len(part) else "; those that the paper has:"
        page += ["", f"**{heading(verdict.capitalize(), origin, part)}**{less}", "", *markdown_table(HEADINGS, lines(told))]
    return "\n".join(page) + "\n"


def write_between_marks(path, results):
    before, mark, rest = path.read_text().partition(BEGIN + "\n")
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise OSError(f"{path} has no {BEGIN} and {END}")
    path.write_text(before + mark + "\n" + markdown(results) + "\n" + end + after)
