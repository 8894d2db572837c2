#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The schemas of all kinds of files: lays them out alike; `--check`: says whether they are; `--scenario`: prints the lab's whole one.

A schema is one file for an editor, and a scenario's has all that is said of routers and senders: `surety-lab --schema` prints it. The
lab's own file says the rest."""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUTER, ENDPOINTS, LAB = FILES = ("config/schema.json", "endpoints/config/endpoints_schema.json", "tests/lab/scenario/scenario_schema.json")
SENDER = ("name", "target", "application_rate", "flows", "bytes", "udp_port", "ecn", "encapsulation", "tfrc_specification", "tfrc_header",
          "mark", "start", "gtfrc", "tfrc", "tcp", "udp")
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


def scenario():
    """The lab's own schema with what it shares: definitions of routers and senders, sections of routers, keys of senders."""
    router, endpoints, lab = (json.loads((ROOT / path).read_text()) for path in FILES)
    defs, senders = lab["$defs"], endpoints["$defs"]
    sections = {k: v for k, v in router["properties"].items() if k != "include"}  # a scenario is one file
    inline, sender, shared = defs["router_inline"], defs["sender"], senders["sender"]
    inline["properties"] = sections | inline["properties"]
    protocol = sender["properties"]["protocol"]
    protocol["enum"] = shared["properties"]["protocol"]["enum"]
    sender["properties"] |= {k: v for k, v in shared["properties"].items() if k not in ("port", *sender["properties"])}
    sender["allOf"] = shared["allOf"]
    defs |= router["$defs"] | {k: senders[k] for k in SENDER} | {"sender_packet": senders["packet"]}
    return lab


def whole(path):
    """The schema of that file, complete."""
    return scenario() if path == LAB else json.loads((ROOT / path).read_text())


def main():
    if sys.argv[1:] == ["--scenario"]:
        print(laid_out(scenario()))
        return
    wrong = []
    for path in (ROOT / p for p in FILES):
        text = laid_out(json.loads(path.read_text())) + "\n"
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif path.read_text() != text:
            wrong.append(f"{path.relative_to(ROOT)} is not laid out: run tests/lib/schemas.py")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
