#!/usr/bin/env python3
"""config/schema.json is a valid JSON Schema (2020-12) that takes the examples and refuses mistakes."""
import copy
import json
import pathlib
import re
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Loader(yaml.SafeLoader):
    """PyYAML reads 1:2 as the sexagesimal 62; editors and the parser do not."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if not tag.endswith((":timestamp", ":int"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))

# (path of the value in edge.yaml, a wrong value)
MISTAKES = [
    (["version"], 2),
    (["router", "role"], "bordr"),
    (["ports", "lan0", "colour"], "red"),
    (["ports", "lan0", "mtu"], 67),
    (["ports", "lan0", "addresses"], ["10.1.0.254"]),
    (["ports", "wan0", "shape"], 34),
    (["ports", "wan0", "shape"], "34 Mbps"),
    (["routes", 0], {"to": "198.51.100.0/24"}),
    (["queues", "uplink", 2, "rio", "in", "pmax"], 1.5),
    (["queues", "uplink", 0, "limit"], 64),
    (["services", "silver", "conditioner"], "csaa"),
    (["services", "silver", "peak"], "2 Mbit/s"),
    (["services", "silver", "alpha", "t1"], 30),
    (["services", "voice", "mark", "out"], "BE"),
    (["classify", 0, "match", "protocol"], "tpc"),
    (["classify", 0, "per"], "flows"),
    (["aggregates", "uplink-tcp", "marker"], "red"),
    (["signalling", "mode"], "perhaps"),
    (["metrics", "top_flows"], -1),
]


def main():
    schema = json.loads((ROOT / "config/schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = 0
    examples = sorted((ROOT / "config/examples").glob("*.yaml"))
    assert examples
    for path in examples:
        for error in validator.iter_errors(yaml.load(path.read_text(), Loader)):
            print(f"{path.name}: {error.json_path}: {error.message}")
            failures += 1
    edge = yaml.load((ROOT / "config/examples/edge.yaml").read_text(), Loader)
    for path, wrong in MISTAKES:
        broken = copy.deepcopy(edge)
        at = broken
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = wrong
        if validator.is_valid(broken):
            print(f"accepted: {path} = {wrong!r}")
            failures += 1
    print(f"{len(examples)} examples, {len(MISTAKES)} mistakes, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
