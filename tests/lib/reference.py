#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes config/reference.md, every key of every file, from the schemas' descriptions; `--check`: says whether it is up to date."""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "config/reference.md"
PARTS = {
    "Routers": ("config/schema.json", "`surety run` and `surety check`"),
    "Endpoints": ("endpoints/config/endpoints_schema.json", "`surety-endpoint run` and `check`"),
    "Scenarios": ("tests/lab/scenario/scenario_schema.json", "`surety-lab run`, `live` and `check`"),
}
INTRO = """# Every key

Made by `tests/lib/reference.py` from the schemas, where these descriptions stand and are to be changed. `NAME` is a name that you give:
up to 63 letters, digits, `-`, `_` and `.`. What the three kinds of files share is described once, where it comes first.

| type | is written like |
|---|---|
"""
TYPES = {name: (name, "") for name in ("rate", "size", "duration", "packets", "depth", "fraction", "ratio")} | {  # and an example
    "dscp": ("DSCP", ""), "address": ("address", "`10.1.0.254` or `2001:db8::1`."), "prefix": ("prefix", "`10.1.0.0/26`, or an address."),
    "interface_address": ("interface address", ""), "mac": ("MAC address", "`02:00:00:00:00:01`."),
    "port_range": ("port range", "`5004` or `5004-5005`."), "flag": ("flag", "`on` or `off`."),
    "core": ("core", "The number of a CPU core, 0 to 1023.")}


class Part:
    def __init__(self, schema, known):
        # sections: definition: (paths, keys, required, description)
        self.defs, self.known, self.problems, self.sections = schema["$defs"], known, [], {}
        self.collect("", {"def": "", **schema})

    def follow(self, node):  # what a node refers to, under what it says itself; `def`: the last definition on the way
        name = node.get("$ref", "").rpartition("/")[2]
        return {"def": name, **self.follow(self.defs[name]), **{k: v for k, v in node.items() if k != "$ref"}} if name else node

    def collect(self, path, node):
        """The keys of a map, and of the maps below it. `path, key: words` is of those where key is one of the words."""
        node = self.follow(node)
        name, (base, *of) = node.get("def", path), path.partition(", ")
        of = "".join(of)
        if "properties" not in node:
            for choice in node.get("anyOf", [node["then"], node["else"]] if "if" in node else []):
                self.collect(path, choice)
            for key, step in (("items", "[]"), ("additionalProperties", ".NAME")):
                if isinstance(node.get(key), dict):
                    self.collect(base + step + of, node[key])
        elif name in self.sections:
            self.sections[name][0].append(path)
        elif name not in self.known or self.known[name] != self.defs.get(name):
            key = next(iter(node["allOf"][0]["if"]["properties"])) if "allOf" in node else ""
            words = {}  # which map it is for which of them
            for choice in node.get("allOf", []):
                said = choice["if"]["properties"][key]
                words.setdefault(self.follow(choice["then"])["def"], []).extend(said.get("enum", [said.get("const")]))
            maps = [self.defs[n]["properties"] for n in words] or [{}]
            common = {k: v for k, v in maps[0].items() if all(m.get(k) == v for m in maps)}
            keys = {k: v for k, v in {**common, **node["properties"]}.items() if isinstance(v, dict)}
            self.sections[name] = ([path], keys, node.get("required", []), self.defs.get(name, {}).get("description", ""))
            for k, v in keys.items():
                self.collect(f"{base}.{k}".lstrip(".") + of, v)
            for choice, said in words.items():
                if own := {k: v for k, v in self.defs[choice]["properties"].items() if k not in keys and v is not True}:
                    self.collect(f"{path}, {key}: {'/'.join(said)}", {**self.defs[choice], "def": choice, "properties": own})

    def type_of(self, node):
        while "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            if name in TYPES:
                return TYPES[name][0]
            node = {**self.defs[name], **{k: v for k, v in node.items() if k != "$ref"}}
        if "const" in node or "enum" in node:
            words = [v for v in node.get("enum", [node.get("const")]) if not isinstance(v, bool) and v not in ("yes", "no")]
            return " | ".join(f"`{v}`" for v in words)
        if "anyOf" in node and "properties" not in node:
            return " or ".join(dict.fromkeys(self.type_of(x) for x in node["anyOf"] if x.get("type") != "null"))
        kind = node.get("type", "map") if node.get("type") != ["string", "boolean"] else "text"
        if kind == "array":
            return f"list ({self.type_of(node['items'])})"
        upper = f"- {node['maximum']}" if "maximum" in node else "or more"
        return {"object": "map", "string": "text"}.get(kind, kind) + (f" {node['minimum']} {upper}" if "minimum" in node else "")

    def cells(self, path, key, node, required):  # type, default, meaning
        full = self.follow(node)
        text, _, default = full.get("description", "").partition("Default: ")
        if "default" in full and "Default: " not in node.get("description", ""):
            value = full["default"]
            default = "empty" if value in ({}, []) else "`on`" if value is True else "`off`" if value is False else f"`{value}`"
        default = "required" if required else f"`{full['const']}`" if "const" in full else default.rstrip(".")
        self.problems += [f"{path}.{key} has no {what}" for what, x in (("default", default), ("description", text)) if not x.strip()]
        return self.type_of(node), default, text.strip()

    def row(self, path, key, node, required):
        return f"| `{key}` | " + " | ".join(cell.replace("|", "\\|") for cell in self.cells(path, key, node, required)) + " |"

    def text(self):
        for paths, keys, required, description in self.sections.values():
            about = description.partition(" Default: ")[0]
            yield "\n### " + (", ".join(f"`{p}`" for p in paths) if paths[0] else "The file") + (f"\n\n{about}\n" if about else "\n")
            yield "| key | type | default | meaning |\n|---|---|---|---|"
            yield from (self.row(paths[0], key, value, key in required) for key, value in keys.items())


def main():
    known, problems, out = {}, [], []
    for title, (path, programs) in PARTS.items():
        schema = json.loads((ROOT / path).read_text())
        part = Part(schema, known)
        out += [] if out else [f"| {name} | {schema['$defs'][d].get('description', how)} |" for d, (name, how) in TYPES.items()]
        out += [f"\n## {title}\n", f"Read by {programs}; [schema](../{path}) for editors.", *part.text()]
        known, problems = {**schema["$defs"], **known}, problems + part.problems
    text = INTRO + "\n".join(out) + "\n"
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(text)
    if PAGE.read_text() != text:
        problems.append("config/reference.md is not what the schemas say: run tests/lib/reference.py")
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
