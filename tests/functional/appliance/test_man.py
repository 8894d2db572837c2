# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: made of what the programs and the schemas say, all of it, and clean to whoever formats them."""
import json
import re
import subprocess
import sys

import pytest

from harness import ROOT, SURETY, sh

sys.path.insert(1, str(ROOT / "tests/lib"))
import schemas  # noqa: E402

PROGRAMS = SURETY.parent
PAGES = PROGRAMS.parent / "man"
OF_PROGRAMS = {"surety": "surety.8", "surety-endpoint": "surety-endpoint.1", "surety-gtcp": "surety-gtcp.8", "surety-lab": "surety-lab.1"}
OF_SCHEMAS = {schemas.ROUTER: "surety.yaml.5", schemas.ENDPOINTS: "surety-endpoint.1", schemas.LAB: "surety-lab.1"}
ALL = sorted({*OF_PROGRAMS.values(), *OF_SCHEMAS.values()})


def shown(page):
    """As a reader sees it, without line breaks and overstrikes."""
    text = sh("mandoc", "-Tutf8", "-Owidth=1000", PAGES / page).stdout
    return re.sub(r"\s+", " ", re.sub(r".\x08", "", text))


def commands(line, words=()):
    yield words, line
    for below in line["commands"]:
        yield from commands(below, (*words, below["name"]))


def keys(node):
    """Every key that a schema names, however deep."""
    if isinstance(node, dict):
        for name, below in node.get("properties", {}).items():
            if below is not True and below is not False:
                yield name
        for below in node.values():
            yield from keys(below)
    elif isinstance(node, list):
        for below in node:
            yield from keys(below)


@pytest.mark.parametrize("page", ALL)
def test_formatters_have_nothing_to_say(page):
    assert sh("mandoc", "-Tlint", "-Wwarning", PAGES / page, check=False).stdout == ""
    groff = subprocess.run(["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-P-c", PAGES / page], capture_output=True, text=True, timeout=120)
    assert groff.returncode == 0 and groff.stderr == "" and "NAME" in re.sub(r".\x08", "", groff.stdout)


@pytest.mark.parametrize("program", OF_PROGRAMS)
def test_every_command_and_option_has_its_entry(program):
    line = json.loads(sh(PROGRAMS / program, "--help-json").stdout)
    text = shown(OF_PROGRAMS[program])
    for words, command in commands(line):
        assert " ".join((program, *words)) in text
        for option in command["options"]:
            assert all(re.search(rf"(?<![\w-]){name}(?![\w-])", text) for name in option["names"])
        for positional in command["positionals"]:
            assert positional["names"][0].upper() in text


@pytest.mark.parametrize("program", OF_PROGRAMS)
def test_what_help_shows_is_what_programs_are_told(program):
    line = json.loads(sh(PROGRAMS / program, "--help-json").stdout)
    assert line["name"] == program
    for words, command in commands(line):
        if words == ("papers",):
            continue  # whose options are Python's
        said = sh(PROGRAMS / program, *words, "--help").stdout
        told = {name for option in command["options"] for name in option["names"]} | {below["name"] for below in command["commands"]}
        assert told >= set(re.findall(r"^  (?:-\w,)?(--?[\w-]+|[a-z]\w*)(?=[ ,\n])", said.partition("\nOptions:")[2], re.M))
    assert not {"complete", "--help-json"} & {name for _, c in commands(line) for name in [c["name"], *(n for o in c["options"] for n in o["names"])]}


@pytest.mark.parametrize("schema", OF_SCHEMAS)
def test_every_key_has_its_entry(schema):
    text = (PAGES / OF_SCHEMAS[schema]).read_text().replace("\\-", "-")
    missing = {key for key in keys(schemas.whole(schema)) if f"\n\\fB{key}\\fR: " not in text}
    assert not missing


def test_pages_are_found_where_they_are_installed(directory):
    for component in ("router", "endpoint", "lab"):
        sh("cmake", "--install", PROGRAMS.parent, "--component", component, "--prefix", directory)
    for page in ALL:
        name, _, section = page.rpartition(".")
        assert sh("man", "-M", directory / "share/man", "-w", section, name).stdout.strip().endswith(f"man{section}/{page}")
    assert "keeps promised rates" in sh("man", "-M", directory / "share/man", "-P", "cat", "surety").stdout
