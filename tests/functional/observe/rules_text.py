# SPDX-License-Identifier: BSD-3-Clause
"""deploy/prometheus as tests read it, and the same in a hurry."""
import json
import pathlib
import re

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[3] / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
FILES = ["recording.yml", "alerts.yml"]
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
UNHURRIED = "surety-promises"  # a claim of its own: within a minute


def rules(kind, files=FILES):
    """Those with `alert` or `record`, by that name."""
    groups = [group for file in files for group in yaml.safe_load((PROMETHEUS / file).read_text())["groups"]]
    return {rule[kind]: rule for group in groups for rule in group["rules"] if kind in rule}


def seconds(duration):
    return sum(int(n) * SECONDS[unit] for n, unit in re.findall(r"(\d+)([smhd])", duration))


def hurried(text, factor, window):
    """The same rules with every duration (`for`, `interval`, windows, steps, the seconds that somebody must have asked for) divided, but
    windows not below `window` seconds, in which Prometheus must have scraped twice, and others not below one. The group of promises stays
    as it is."""
    parsed = yaml.safe_load(text)

    def shorter(duration, least):
        return f"{max(least, seconds(duration) // factor)}s"

    for group in parsed["groups"]:
        if group["name"] == UNHURRIED:
            continue
        for place in (group, *group["rules"]):
            for key in ("interval", "for"):
                if key in place:
                    place[key] = shorter(place[key], 1)
        for rule in group["rules"]:
            rule["expr"] = re.sub(r"\[(\w+)(:\w+)?\]", lambda m: f"[{shorter(m[1], window)}{m[2] and ':' + shorter(m[2][1:], 1) or ''}]", rule["expr"])
            rule["expr"] = re.sub(r"(_seconds:\w+ > )(\d+)", lambda m: f"{m[1]}{max(1, int(m[2]) // factor)}", rule["expr"])
    return yaml.safe_dump(parsed, sort_keys=False)


def dashboards():
    """By name of their files."""
    return {file.stem: json.loads(file.read_text()) for file in sorted((DEPLOY / "grafana/dashboards").glob("*.json"))}
