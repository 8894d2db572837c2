#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Comments of the product's C++ are plain English: they begin with a subject, and use the field's words. Documents use them, too.

A comment is a sentence with a subject and a verb ("Returns ..." has one: the function), or a noun phrase that names the thing
declared. Machines do not know, ask or tell; people, of whom documents write, may. style.budget has the offences that each room,
and the documents of each top-level folder, may have: more are an error, and `style.py --lower` writes lower numbers. Files that move
between rooms take their numbers along, by hand.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUDGET = pathlib.Path(__file__).with_name("style.budget")
PRODUCT = ("aqm", "conditioners", "config", "endpoints", "router", "deploy")
HISTORY = ROOT / "CHANGELOG.md"  # old entries keep their words
KINDS = {"block": "begins without a subject", "trailing": "begins without a subject", "words": "says"}
SHOWN = 20  # offences of a room and kind

COMMENT = re.compile(r"""((?:[^"'/]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|['/](?!/))*)//+ ?(.*)""")
DIRECTIVE = re.compile(r"SPDX-|NOLINT|clang-format |namespace\b|[A-Z_]+_H_?$")
RELATIVE = r"(what|which|who|whom|whose|whoever|whatever|how|that|those|these|it|them)\b"
WITHOUT_SUBJECT = re.compile(
    rf"(of|how|whether|so|such|its|itself|they|their|also|else|and|or|but|then|all (of )?{RELATIVE}|{RELATIVE}"
    rf"|(for|in|on|at|to|from|with|without|until|after|before|into|over|under|through|between|by) {RELATIVE}"
    r"|one (that|which|who|whose)|the (same|ones|others)|the one(?= (that|which|who|whose|of|at|in)\b|\W*$)|both(?=\W*$|[,.;:]))\b", re.I)
# Right where a main clause follows: "When the peer closes, the socket ...".
CLAUSE = re.compile(r"(by|as|where|when)\b", re.I)
MAIN_CLAUSE = re.compile(r", (?!(and|or|but|as|by|in|of|for|from|to|with|where|when|which|who|whose|that|else|at|on)\b)", re.I)
NAMES = re.compile(r"""`[^`]*`|"[^"]*"|\w+(::|_|\()\w*|\bk[A-Z]\w*|[\w/]+\.(h|cc|c|py|md|yaml)\b""")  # and quotations
PRIVATE = re.compile(
    r"\b(who(m|ever|mever)?|(no|some|any|every)body|anew|stands?|stood|tells?|told|ask(s|ed|ing)?|hears?|heard|know|knows|knew"
    r"|promise[sd]?|go(es)? on|lets? go|sells?|sold|sales|buys?|bought|strangers?|outlets?|heritage|(predec|succ)essors?|errands?"
    r"|stations?|twins?|vectors?|eights)\b", re.I)

IN_DOCUMENTS = re.compile(
    r"\b(whom?ever|(no|some|any|every)body|anew|stands?|stood|hears?|heard|promise[sd]?|go(es)? on|lets? go|sells?|sold|sales|buys?|bought"
    r"|strangers?|outlets?|heritage|errands?|stations?|twins?|eights)\b", re.I)


def comments(text):
    """(line, kind, text) of each paragraph of a block comment, and of each trailing comment with the lines that continue it."""
    found, column = [], None  # where the lines that continue the last one have their mark; None: there is none
    for number, line in enumerate(text.split("\n"), 1):
        match = COMMENT.fullmatch(line) if "//" in line else None
        code, said = match.groups() if match else ("", "")
        block = not code.strip()
        if not said.strip() or DIRECTIVE.match(said):
            column = None
        elif column is not None and block and (found[-1][1] == "block" or column == len(code)):
            found[-1][2] += " " + said.strip()
        else:
            found.append([number, "block" if block else "trailing", said.strip()])
            column = len(code)
    return [tuple(comment) for comment in found]


def without_subject(comment):
    start = re.split(r"[.;:](?: |$)", comment.lstrip("(-. "))[0]
    return bool(WITHOUT_SUBJECT.match(start) or CLAUSE.match(start) and not MAIN_CLAUSE.search(start))


def prose(text):
    """(line, text) of each line of a Markdown text that is not code."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fence = line.startswith("```")
        fenced ^= fence
        if line.strip() and not (fence or fenced or line.startswith("    ")):
            yield number, line


def private_words(comment, words=PRIVATE):
    return [match.group() for match in words.finditer(NAMES.sub("", comment))]


def survey():
    """Per room: how many comments or lines of documents it has, and the offences as (age of the file, text), by kind."""
    total, offences = collections.Counter(), collections.defaultdict(list)
    for path in sorted(p for top in PRODUCT for p in (ROOT / top).rglob("*") if p.suffix in (".cc", ".h", ".c")):
        file = path.relative_to(ROOT)
        room, age = str(file.parent), -path.stat().st_mtime
        for line, kind, said in comments(path.read_text()):
            total[room] += 1
            if without_subject(said):
                offences[room, kind].append((age, f"{file}:{line}: {KINDS[kind]}: {said[:60]}"))
            for word in private_words(said):
                offences[room, "words"].append((age, f"{file}:{line}: {KINDS['words']} `{word}`: {said[:60]}"))
    for path in sorted({*ROOT.glob("*.md"), *(p for top in (*PRODUCT, "tests") for p in (ROOT / top).rglob("*.md"))} - {HISTORY}):
        file = path.relative_to(ROOT)
        room, age = "/".join([*file.parts[:-1][:1], "*.md"]), -path.stat().st_mtime
        for line, said in prose(path.read_text()):
            total[room] += 1
            for word in private_words(said, IN_DOCUMENTS):
                offences[room, "words"].append((age, f"{file}:{line}: {KINDS['words']} `{word}`: {said.strip()[:60]}"))
    return total, offences


def read_budget(text):
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return {room: dict(zip(KINDS, map(int, counts))) for room, _, *counts in rows}


def judge(budget, counts):
    """(over, under): the rooms and kinds beyond the budget, and those below it. A room that it lacks may have none."""
    pairs = [(room, kind, counts[room][kind] - budget.get(room, {}).get(kind, 0)) for room in counts for kind in KINDS]
    return [pair[:2] for pair in pairs if pair[2] > 0], [pair[:2] for pair in pairs if pair[2] < 0]


def main(arguments):
    total, offences = survey()
    budget = read_budget(BUDGET.read_text())
    counts = {room: {kind: len(offences[room, kind]) for kind in KINDS} for room in sorted(total)}
    over, under = judge(budget, counts)
    if arguments == ["--lower"]:
        head = [line for line in BUDGET.read_text().splitlines() if line.startswith("#")]
        for room, kind in over:  # it only falls
            counts[room][kind] = budget.get(room, {}).get(kind, 0)
        rows = [f"{room:24}{total[room]:5}" + "".join(f"{count:6}" for count in counts[room].values()) for room in counts]
        BUDGET.write_text("\n".join(head + rows) + "\n")
    elif under:
        print(f"tests/lib/style.py --lower: {len(under)} numbers of tests/lib/style.budget can be lowered")
    for room, kind in over:
        newest = [text for _, text in sorted(offences[room, kind])]  # in the files that changed last
        print("\n".join(newest[:SHOWN]))
        print(f"{room}: {len(newest)} of kind `{kind}`, more than the {budget.get(room, {}).get(kind, 0)} of tests/lib/style.budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
