# SPDX-License-Identifier: BSD-3-Clause
"""Rows for people and for programs: by verdict, misses first, and by where their bands come from; those beyond the papers by themselves.

Neighbours of one name, origin and verdict are one line: `N = 10 15 20`, with as many numbers.
"""
import collections
import itertools
import math
import re

from .rows import ORIGINS, REPRODUCED, shown

VERDICTS = ("broken", "missed", "not run", "open", "contradicted", "met", "not counted", "printed")
BEGIN, END = "<!-- surety-lab papers -->", "<!-- end -->"
HEADINGS = ("experiment", "row", "rows", "paper", "ours (sd)", "band", "fails with", "why")
EARLIER = {"paper": "the paper", "ns-2": "ns-2", "model": "a model", "pin": "a pin", "nothing": "nothing"}
WHOLE = {"open": "Open", "contradicted": "The paper contradicts itself", "not counted": "Not counted", "printed": "Beside the claims, without a band"}


def title(beyond, verdict, origin):
    """The section of the page; those of WHOLE are one for all origins."""
    words = WHOLE.get(verdict) or f"{verdict.capitalize()}, band of {EARLIER[origin]}"
    return f"Beyond the papers: {words[0].lower()}{words[1:]}" if beyond and verdict != "printed" else words


SECTIONS = {}  # {title: (beyond, verdict, origin)}, in the order of the page
for _kind in itertools.product((False, True), VERDICTS, ORIGINS):
    SECTIONS.setdefault(title(*_kind), _kind)


def verdicts(results):
    counts = collections.Counter(result.verdict for result in results)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def as_json(paper, result):
    row, band = result.row, result.row.band
    return {"paper": paper.name, "experiment": result.experiment.name, "what": row.name, "unit": row.unit or None,
            "x": row.at[1] if row.at else None, "printed": row.paper, "mean": number(result.mean), "sd": number(result.sd),
            "min": number(min(result.values, default=math.nan)), "max": number(max(result.values, default=math.nan)),
            "seeds": len(result.values), "origin": result.origin, "band": str(band) if band else None, "every": row.every,
            "verdict": result.verdict, "beyond": result.beyond, "fails": result.fails, "why": because(result) or None, "fails_with": result.breaks or None,
            "mean_then": number(then(result)), "error": result.error or None}


def number(value):
    return value if math.isfinite(value) else None


def groups(results):
    """{title: results} in the order of the page."""
    found = collections.defaultdict(list)
    for result in results:
        found[title(result.beyond, result.verdict, result.origin)].append(result)
    return {name: found[name] for name in SECTIONS if name in found}


def because(result):
    """What the last column says."""
    return result.error or result.uncounted or result.row.contradicts or ("" if result.verdict == "met" else result.row.why)


def then(result):
    """Our mean with what Row.off changes."""
    return sum(result.off) / len(result.off) if result.off else math.nan


def lines(results):
    """What stands in the columns HEADINGS, for neighbours that are one line."""
    def name(result):
        row = result.row
        return result.experiment.name, row.name, row.unit, because(result), result.breaks, row.at[:1]
    for (experiment, what, unit, why, breaks, label), part in itertools.groupby(results, key=name):
        part = list(part)
        if label:
            what += f", {label[0]} {' '.join(str(result.row.at[1]) for result in part)}"
        bands = [f"{result.row.band}{' (every seed)' if result.row.every else ''}" if result.row.band else "" for result in part]
        if part[0].off:
            breaks += f": {joined([shown(then(result)) for result in part])}"
        yield (experiment, f"{what} ({unit})" if unit else what, str(len(part)), joined([shown(result.row.paper) for result in part]),
               joined([ours(result) for result in part]), joined(bands), breaks, why)


def joined(cells):
    return cells[0] if len(set(cells)) == 1 else ", ".join(cell or "-" for cell in cells)


def ours(result):
    seeds = f" [{len(result.values)} of {result.wanted}]" if len(result.values) < result.wanted else ""
    sd = "" if math.isnan(result.sd) or result.sd == 0 else f" ({result.sd:.2g})"
    return shown(result.mean) + sd + seeds


def text(results):
    parts = []
    for name, part in groups([result for _, result in results]).items():
        parts += [f"{name}: {len(part)}", *aligned(list(lines(part))), ""]
    return "\n".join(parts)


def aligned(rows):
    widths = [max(len(row[column]) for row in [HEADINGS, *rows]) for column in range(len(HEADINGS))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [HEADINGS, *rows]]


COUNTS = ("claims", "reproduced", "missed", "open", "contradicted", "model", "model missed", "not counted", "pins", "pins missed", "beyond: met",
          "beyond: missed", "beside")


def column(beyond, verdict, origin):
    """Of COUNTS; only bands of the paper or of ns-2 count as reproduced."""
    if verdict in WHOLE:
        return {"not counted": "not counted", "printed": "beside"}.get(verdict, "beyond: missed" if beyond else verdict)
    met = verdict == "met"
    if beyond:
        return "beyond: met" if met else "beyond: missed"
    if origin in ("model", "pin"):
        return f"{'pins' if origin == 'pin' else origin}{'' if met else ' missed'}"
    return "reproduced" if met else "missed"


def counts(page, papers):
    """{paper: how many rows of each of COUNTS} of a page; `papers`: {experiment: paper}."""
    tally = collections.defaultdict(collections.Counter)
    for name, told in page.items():
        for line in told:
            kind = column(*SECTIONS[name])
            tally[papers[line[0]]].update({kind: int(line[2]), "claims": int(line[2]) if COUNTS.index(kind) < COUNTS.index("not counted") else 0})
    return [(paper, *(str(tally[paper][c]) for c in COUNTS)) for paper in dict.fromkeys(papers.values()) if paper in tally]


def sections(results):
    """{title: lines} of a page. Rows without a claim are one line of an experiment."""
    page = {name: list(lines(part)) for name, part in groups(results).items()}
    if WHOLE["printed"] in page:
        beside = collections.Counter()
        for line in page[WHOLE["printed"]]:
            beside[line[0]] += int(line[2])
        page[WHOLE["printed"]] = [(name, "`--json` has them", str(number), "", "", "", "", "") for name, number in beside.items()]
    return page


def of(results):
    return {result.experiment.name: paper.name for paper, result in results}


def summary(results):
    rows = [("paper", *COUNTS), *counts(sections([result for _, result in results]), of(results))]
    return "\n".join("  ".join(cell.ljust(max(len(row[i]) for row in rows)) for i, cell in enumerate(row)).rstrip() for row in rows) + "\n"


def markdown_table(header, rows):
    return [f"| {' | '.join(header)} |", "|" + "---|" * len(header), *(f"| {' | '.join(row)} |" for row in rows)]


def markdown(results, papers=None, kept=None):
    """`kept`: sections of experiments that were not run; `papers`: {experiment: paper} of all, in their order."""
    papers, page, kept = papers or of(results), sections([result for _, result in results]), kept or {}
    place = list(papers).index
    page = {name: sorted(kept.get(name, []) + page.get(name, []), key=lambda line: place(line[0])) for name in SECTIONS}
    page = {name: told for name, told in page.items() if told}
    text = markdown_table(("", *COUNTS), counts(page, papers))
    for name, told in page.items():
        text += ["", f"**{name}: {sum(int(line[2]) for line in told)}**", "", *markdown_table(HEADINGS, told)]
    return "\n".join(text) + "\n"


def read(text):
    """The sections of a page that markdown() wrote; {}: of another form."""
    page, told = {}, None
    for line in text.splitlines():
        if heading := re.fullmatch(r"\*\*(.*): \d+\*\*", line):
            told = page.setdefault(heading[1], [])
        elif told is not None and line.startswith("| "):
            told.append(tuple(line[2:-2].split(" | ")))
    heads = [told[0] for told in page.values() if told]
    return {name: told[1:] for name, told in page.items()} if all(head == HEADINGS for head in heads) and {*page} <= {*SECTIONS} else {}


def write_between_marks(path, results, papers):
    """Experiments that were not run keep their rows; `papers`: {experiment: paper} of all."""
    before, mark, rest = path.read_text().partition(BEGIN + "\n")
    old, end, after = rest.partition(END)
    if not mark or not end:
        raise OSError(f"{path} has no {BEGIN} and {END}")
    run, page = of(results), read(old)
    if old.strip() and not page and papers.keys() - run.keys():
        raise OSError(f"{path} has rows of another form, which a run of some experiments cannot keep: run all of them")
    kept = {name: [line for line in told if line[0] in papers and line[0] not in run] for name, told in page.items()}
    path.write_text(before + mark + "\n" + markdown(results, papers, kept) + "\n" + end + after)
