#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No comment and no page cites what is not in the repository: paths, files by name, and the links of pages."""
import io
import os
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENDING = r"\.(?:md|yaml|json|h|cc|c|py|conf|png)"
PATH = re.compile(rf"(?<![\w/.$*>~=@-])((?:[\w.-]+/)*[\w-][\w.-]*{ENDING})(?![\w/(.]\w|\w)")
LINK = re.compile(r"\]\(([^)#\s]+)")
# Files of Linux, DPDK, FRR and iperf3, and names in examples of what a user or a test writes.
OTHERS = re.compile(r"^(linux|net)/\w+\.h$|^rte_\w+\.h$|^(iperf_api\.h|dpdk-telemetry\.py|frr\.conf|report\.json|summary\.md|\w\.yaml)$|\bNAME[._]")


def comments(path, text):
    """(line, text) of all that is written for people."""
    lines = text.split("\n")
    if path.endswith(".md"):
        return list(enumerate(lines, 1))
    if path.endswith(".py"):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        said = [t for t in tokens if t.type == tokenize.COMMENT or t.type == tokenize.STRING and t.line.lstrip().startswith('"""')]
        return [(t.start[0] + n, line) for t in said for n, line in enumerate(t.string.split("\n"))]
    mark = "//" if path.endswith((".cc", ".h", ".c")) else "#"
    return [(n, line.partition(mark)[2]) for n, line in enumerate(lines, 1) if not line.startswith("#include")]


def main():
    made = ("build", ".git", "__pycache__", ".pytest_cache", ".cache")  # not written by anybody
    paths = (p.relative_to(ROOT) for p in sorted(ROOT.rglob("*")) if p.is_file())
    files = [str(p) for p in paths if not any(part in made for part in p.parts)]
    names = {os.path.basename(f) for f in files}
    wrong = []
    for file in files:
        if not re.search(r"\.(md|yaml|cmake|cc|h|c|py|sh)$|CMakeLists\.txt$|^(deploy|tests|\.ci)/\w+$", file):
            continue
        for n, line in comments(file, (ROOT / file).read_text()):
            for cited in PATH.findall(line):
                at = [ROOT / cited, (ROOT / file).parent / cited]
                if not (any(p.exists() for p in at) if "/" in cited else cited in names) and not OTHERS.search(cited):
                    wrong.append(f"{file}:{n}: there is no {cited}")
            for link in LINK.findall(line) if file.endswith(".md") else []:
                if "://" not in link and not ((ROOT / file).parent / link).exists():
                    wrong.append(f"{file}:{n}: broken link: {link}")
    sys.exit("\n".join(wrong) or 0)


main()
