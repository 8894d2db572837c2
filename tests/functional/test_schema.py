#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The schemas of routers, endpoints and scenarios are valid JSON Schemas (2020-12) that take the examples and refuse mistakes."""
import copy
import pathlib
import re
import sys

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lib"))
import schemas  # noqa: E402


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
    (["services", "silver", "alpha", "fixed"], 0.4),
    (["queues", "uplink", 2, "aqm"], "tail-drop"),
    (["queues", "uplink", 0, "aqm"], "out-tail-drop"),
    (["signalling"], True),
    (["services", "voice", "mark", "out"], "BE"),
    (["classify", 0, "match", "protocol"], "tpc"),
    (["classify", 0, "per"], "flows"),
    (["aggregates", "uplink-tcp", "marker"], "red"),
    (["aggregates", "uplink-tcp", "ingress"], "perhaps"),
    (["aggregates", "uplink-tcp", "match"], {"source": []}),
    (["aggregates", "uplink-tcp", "match"], {"source": 10}),
    (["signalling", "mode"], "perhaps"),
    (["signalling", "max_age"], 10),
    (["signalling", "queue_limit"], 0),
    (["signalling", "borders"], [{"source": "10.1.0.0/16"}]),
    (["signalling", "borders"], {"source": "10.1.0.0/16", "border": "192.0.2.1"}),
    (["metrics", "top_flows"], -1),
    (["metrics", "tls"], {"cert_file": "cert.pem"}),
    (["workers"], [1, 1]),
    (["workers"], {"cores": []}),
    (["workers"], {"cores": [1], "idle": "sleep"}),
    (["ports", "wan0", "worker"], "1"),
    (["ports", "wan0", "receive"], {"queues": 65}),
    (["ports", "wan0", "receive"], {"workers": []}),
    (["ports", "wan0", "receive"], 4),
    (["ports", "wan0", "twin"], "sixteenletters16"),
    (["ports", "wan0", "twin"], True),
]

# The same of endpoints.yaml; None: the key is missing.
ENDPOINT_MISTAKES = [
    (["senders"], {}),
    (["seed"], -1),
    (["ports", "p0", "trust"], "core"),
    (["ports", "p0", "gateway"], 10),
    (["ports", "p0", "addresses"], None),
    (["sinks", 0, "listen"], ["tpc 5001"]),
    (["sinks", 0, "ack"], "seldom"),
    (["senders", 0, "protocol"], "quic"),
    (["senders", 0, "target"], None),
    (["senders", 0, "to"], "2001:db8::1:5001"),
    (["senders", 0, "window"], "1 MB"),
    (["senders", 0, "theta"], 0.5),
    (["senders", 0, "tfrc"], "rfc2001"),
    (["senders", 1, "target"], None),
    (["senders", 1, "rate"], "1 Mbit/s"),
    (["senders", 2, "flows"], 0),
    (["senders", 2, "start"], "0 s - soon"),
    (["senders", 3, "rate"], None),
    (["senders", 3, "on"], "1 s"),
    (["senders", 3, "mark"], {"rate": "1 Mbit/s"}),
]

# The same of lab-gtfrc-fig2b.yaml.
SCENARIO_MISTAKES = [
    (["duration"], None),
    (["duration"], "300"),
    (["measure"], "10 s"),
    (["routers", "edge", "ports", "a", "colour"], "red"),
    (["routers", "edge", "config"], "edge.yaml"),
    (["routers", "edge", "signalling"], "perhaps"),
    (["routers", "core"], {"config": "core.yaml", "metrics": {}}),
    (["routers", "core", "queues", "q", 0, "rio", "in", "pmax"], 2),
    (["hosts", 0], {"name": "h1", "times": 0}),
    (["hosts", 0], {"address": "10.0.0.1"}),
    (["links", 0, "between"], ["h1"]),
    (["links", 0, "delay"], 317),
    (["links", 0, "forth"], {"dealy": "1 ms"}),
    (["senders", 0, "host"], None),
    (["senders", 0, "target"], None),
    (["senders", 0, "port"], "p0"),
    (["senders", 0, "window"], "1 MB"),
    (["senders", 0, "ack"], "seldom"),
    (["senders", 1, "protocol"], "quic"),
]


def check(schema_name, examples, example, mistakes):
    """The number of failures."""
    schema = schemas.whole(schema_name)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failures = 0
    assert examples
    for path in examples:
        for error in validator.iter_errors(yaml.load(path.read_text(), Loader)):
            print(f"{path.name}: {error.json_path}: {error.message}")
            failures += 1
    right = yaml.load((ROOT / "config/examples" / example).read_text(), Loader)
    for path, wrong in mistakes:
        broken = copy.deepcopy(right)
        at = broken
        for key in path[:-1]:
            at = at[key]
        if wrong is None:
            del at[path[-1]]
        else:
            at[path[-1]] = wrong
        if validator.is_valid(broken):
            print(f"accepted: {path} = {wrong!r}")
            failures += 1
    print(f"{schema_name}: {len(examples)} examples, {len(mistakes)} mistakes, {failures} failures")
    return failures


def main():
    examples = sorted((ROOT / "config/examples").glob("*.yaml"))
    endpoints = [path for path in examples if path.name.startswith("endpoints")]
    scenarios = [path for path in examples if path.name.startswith("lab-")]
    routers = [path for path in examples if path not in endpoints + scenarios]
    failures = check("config/schema.json", routers, "edge.yaml", MISTAKES)
    failures += check("endpoints/config/endpoints_schema.json", endpoints, "endpoints.yaml", ENDPOINT_MISTAKES)
    failures += check("tests/lab/scenario/scenario_schema.json", scenarios, "lab-gtfrc-fig2b.yaml", SCENARIO_MISTAKES)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
