#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Brings what the lab's schema says of routers and senders from their own schemas; `--check`: says whether it is there.

A schema is one file for an editor, so the lab's repeats the others. All of them are laid out alike."""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUTER, ENDPOINTS, LAB = (ROOT / p for p in (
    "config/schema.json", "endpoints/config/endpoints_schema.json", "tests/lab/scenario/scenario_schema.json"))
SENDER = ("name", "target", "application_rate", "flows", "bytes", "udp_port", "ecn", "encapsulation", "tfrc_specification", "mark", "start")
WIDTH = 140


def laid_out(value, indent=0, used=0):
    """As JSON; what fits into a line is one."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or not value or 0 < indent and indent + used + len(flat) < WIDTH:
        return flat
    items = [(json.dumps(k) + ": ", v) for k, v in value.items()] if isinstance(value, dict) else [("", v) for v in value]
    lines, pad = [""], " " * (indent + 2)
    for i, (key, item) in enumerate(items):
        comma = "," if i + 1 < len(items) else ""
        text = key + json.dumps(item, ensure_ascii=False) + comma
        if (indent > 2 or isinstance(value, list)) and len(pad + text) <= WIDTH:
            joined = f"{lines[-1]} {text}".lstrip()
            lines = lines[:-1] + [joined] if len(pad + joined) <= WIDTH else lines + [text]
        else:
            lines += [key + laid_out(item, indent + 2, len(key)) + comma, ""]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + "\n" + "".join(pad + line + "\n" for line in lines if line) + " " * indent + last


def main():
    router, endpoints, lab = (json.loads(p.read_text()) for p in (ROUTER, ENDPOINTS, LAB))
    defs, senders = lab["$defs"], endpoints["$defs"]
    defs.update(router["$defs"])
    sections = {k: v for k, v in router["properties"].items() if k not in ("signalling", "include")}  # the lab's may be `on`; is one file
    defs["router_inline"]["properties"].update(sections)
    defs.update({k: senders[k] for k in SENDER}, sender_packet=senders["packet"])
    for protocol in ("gtfrc", "tfrc", "tcp", "udp"):
        defs[protocol]["properties"] = {k: senders[protocol]["properties"][k] for k in defs[protocol]["properties"]}
    defs["sender"]["properties"]["protocol"]["enum"] = senders["sender"]["properties"]["protocol"]["enum"]
    defs["sender"]["allOf"] = senders["sender"]["allOf"]
    wrong = []
    for path, schema in ((ROUTER, router), (ENDPOINTS, endpoints), (LAB, lab)):
        text = laid_out(schema) + "\n"
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif path.read_text() != text:
            wrong.append(f"{path.relative_to(ROOT)} is not what the schemas say: run tests/lib/schemas.py")
    sys.exit("\n".join(wrong) or 0)


main()
