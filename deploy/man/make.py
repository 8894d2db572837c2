#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a manual page: `make.py PAGE.SECTION.txt OUTPUT --programs DIRECTORY --version VERSION`.

The text beside this file is what only a person can write. In it a line `@commands PROGRAM` stands for what the program says of its
command line (`--help-json`), `@keys SCHEMA` for the keys of a schema, `@types SCHEMA` for how their values are written, and
`@output PROGRAM WORDS` for what a command prints.

`# NAME` begins a section; `* term: text` is an entry of a list; what is indented by four stands as it is; `words` are bold.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))
from reference import TYPES, Part  # noqa: E402
from schemas import whole  # noqa: E402


def roff(text):
    """One line of running text: nothing in it is a request or an escape but what `...` makes bold."""
    text = text.strip().replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)  # links lead nowhere from here
    text = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", text)
    return re.sub(r"^([.'])", r"\\&\1", text)


def verbatim(lines):
    return [".PP", ".in +4n", ".nf", *(re.sub(r"^([.'])", r"\\&\1", x.replace("\\", "\\e").replace("-", "\\-")) for x in lines), ".fi", ".in"]


def entry(term, *texts):
    yield from (".TP", roff(term) if not term.startswith("\\") else term)
    yield from (roff(text) for text in texts if text.strip())


def sentence(text):
    """Of what `--help` shows behind a name."""
    word = text.partition(" ")[0]
    return (text if re.search(r"\W", word.rstrip(",:;")) else text[:1].upper() + text[1:]) + ("" if text.endswith(".") else ".")


def value_of(option):
    """What stands behind an option, and what else is known of it."""
    if "type" not in option:
        return "", ""
    words = re.search(r"\{(.*)\}", option["type"])
    bounds = re.search(r" in \[(.+) - (.+)\]", option["type"])
    word = "|".join(words[1].split(",")) if words else "NUMBER" if re.match("U?INT|FLOAT", option["type"]) else "VALUE"
    return word, f"From {bounds[1]} to {bounds[2]}." if bounds else ""


def option_entry(option):
    value, more = value_of(option)
    if not option["names"][0].startswith("-"):
        option["names"], value = [option["names"][0].upper()], ""
    names = ", ".join(option["names"]).replace("-", "\\-")
    default = f"Default: `{option['default']}`." if "default" in option else ""
    said = " ".join(x for x in (sentence(option["description"] or "what to act on"), more, default) if x)
    return entry(f"\\fB{names}\\fR" + (f" \\fI{value}\\fR" if value else ""), said)


def synopsis(words, command):
    """`show WHAT [WHERE...] [OPTIONS]`"""
    for p in command["positionals"]:
        word = p["names"][0].upper() + ("..." if p.get("many") else "")
        words += [word if p.get("required") else f"[{word}]"]
    return " ".join(words + (["[OPTIONS]"] if any("--help" not in o["names"] for o in command["options"]) else []))


def commands(program, directory):
    line = json.loads(subprocess.check_output([directory / program, "--help-json"]))

    def walk(words, command):
        for below in command["commands"]:
            name = words + [below["name"]]
            yield from (f".SS {roff(synopsis(list(name), below))}", roff(below["description"]) + ".")
            for option in below["positionals"] + below["options"]:
                if "--help" not in option["names"]:
                    yield from option_entry(option)
            yield from walk(name, below)

    yield from walk([program], line)
    yield from (".SS For all of them",)
    for option in line["options"]:
        yield from option_entry(option)


def keys(schema):
    part = Part(schema, {})
    for paths, members, required, description in part.sections.values():
        title = ", ".join(paths) if paths[0] else "The file"
        yield f".SS {roff(title)}"
        if about := description.partition(" Default: ")[0]:
            yield roff(about)
        for key, node in members.items():
            kind, default, meaning = part.cells(paths[0], key, node, key in required)
            kind = kind.replace("`", "")
            yield from entry(f"\\fB{roff(key)}\\fR: {roff(kind)}", meaning, "Required." if default == "required" else f"Default: {default}.")


def types(schema):
    for name, (title, how) in TYPES.items():
        if said := schema["$defs"].get(name, {}).get("description", how):
            yield from entry(title, said)


def body(text, directory):
    lines = text.splitlines()
    while lines:
        line = lines.pop(0)
        word, _, rest = line.partition(" ")
        if line.startswith("    "):
            block = [line]
            while lines and (lines[0].startswith("    ") or not lines[0] and len(lines) > 1 and lines[1].startswith("    ")):
                block.append(lines.pop(0))
            yield from verbatim(x[4:] for x in block)
        elif word == "#":
            yield f".SH {rest}"
        elif word == "*":
            term, _, meaning = rest.partition(": ")
            yield from entry(term, meaning)
        elif word == "@commands":
            yield from commands(rest, directory)
        elif word == "@keys":
            yield from keys(whole(rest))
        elif word == "@types":
            yield from types(whole(rest))
        elif word == "@output":
            program, *words = rest.split()
            said = subprocess.check_output([directory / program, *words], text=True, env={**os.environ, "COLUMNS": "78"})
            yield from verbatim(said.rstrip().splitlines())
        else:
            yield roff(line) if line.strip() else ".PP"


def tidy(lines):
    """No paragraph begins where a heading or another paragraph has begun one."""
    kept = []
    for line in lines:
        breaks = line == ".PP" or line.startswith((".SH", ".SS", ".TP"))
        while breaks and kept and kept[-1] == ".PP":
            kept.pop()
        if line == ".PP" and kept and kept[-1].startswith((".SH", ".SS")):
            continue
        kept.append(line)
    return kept


def commit_time():
    """The same commit gives the same bytes, wherever it is built; none without Git."""
    asked = ["git", "-c", "safe.directory=*", "-C", ROOT, "log", "-1", "--format=%ct"]
    try:
        return subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True)
    o = parser.parse_args()
    name, section = o.text.name.rsplit(".", 2)[0:2]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or commit_time() or o.text.stat().st_mtime)
    text = "".join(line for line in o.text.read_text().splitlines(keepends=True) if not line.startswith(".\\\""))
    head = f'.TH {name.upper()} {section} {time.strftime("%Y-%m-%d", time.gmtime(epoch))} "Surety {o.version}" "Surety"'
    o.output.write_text("\n".join([head, *tidy(body(text.strip(), o.programs))]) + "\n")


main()
