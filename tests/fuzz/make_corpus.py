#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""make_corpus.py GOLDEN DIRECTORY: one file per golden frame, for headers_fuzz to start from."""
import pathlib
import sys

golden, directory = map(pathlib.Path, sys.argv[1:])
directory.mkdir(parents=True, exist_ok=True)
for line in golden.read_text().splitlines():
    if not line.startswith("#"):
        (directory / line.split(" | ")[0]).write_bytes(bytes.fromhex(line.rsplit("|", 1)[1].strip()))
