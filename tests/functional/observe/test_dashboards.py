# SPDX-License-Identifier: BSD-3-Clause
"""deploy/grafana as Grafana reads it: it is not in Debian, so what it needs of a dashboard is said here. That every query finds something is
in test_alerts.py."""
import importlib.util
import json
import re

import pytest
import yaml

from harness import ROOT, sh
from rules_text import DEPLOY, dashboards, rules

GRAFANA = DEPLOY / "grafana"
DASHBOARDS = dashboards()
KINDS = {"timeseries", "stat", "table", "heatmap"}
UNITS = {"bps", "pps", "percentunit", "short", "s", "bytes"}


def provisioned(what):
    return yaml.safe_load((GRAFANA / f"provisioning/{what}/surety.yaml").read_text())


def test_the_files_are_what_the_script_makes():
    spec = importlib.util.spec_from_file_location("made", GRAFANA / "dashboards.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert {name: made.text(name) for name in made.DASHBOARDS} == {
        name: (GRAFANA / f"dashboards/{name}.json").read_text() for name in DASHBOARDS}, "deploy/grafana/dashboards.py makes them anew"


def test_provisioning_names_them():
    source, = provisioned("datasources")["datasources"]
    assert provisioned("datasources")["apiVersion"] == provisioned("dashboards")["apiVersion"] == 1
    assert source["type"] == "prometheus" and source["access"] == "proxy" and source["url"].startswith("http://")
    provider, = provisioned("dashboards")["providers"]
    assert provider["type"] == "file" and provider["options"]["path"] == "/usr/share/surety/grafana/dashboards"
    for dashboard in DASHBOARDS.values():
        places = [*dashboard["panels"], *(t for p in dashboard["panels"] for t in p["targets"]), *dashboard["templating"]["list"]]
        assert all(place["datasource"] == {"type": "prometheus", "uid": source["uid"]} for place in places)


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_has_what_grafana_needs(name):
    d = DASHBOARDS[name]
    assert d["uid"] == f"surety-{name}" and d["title"] and d["schemaVersion"] >= 36 and set(d["time"]) == {"from", "to"}
    assert [p["id"] for p in d["panels"]] == list(range(1, len(d["panels"]) + 1))
    taken = set()
    for p in d["panels"]:
        assert p["type"] in KINDS and p["title"] and p["targets"] and p["fieldConfig"]["defaults"]["unit"] in UNITS
        at = p["gridPos"]
        assert at["x"] >= 0 and at["x"] + at["w"] <= 24 and at["w"] > 0 and at["h"] > 0
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, f"{p['title']} lies on another one"
        taken |= cells
        assert len({t["refId"] for t in p["targets"]}) == len(p["targets"]) and all(t["expr"] for t in p["targets"])
        assert p["type"] != "table" or all(t["format"] == "table" and t["instant"] for t in p["targets"])
        columns = p["transformations"][1]["options"]["renameByName"].values() if p["type"] == "table" else []
        assert {o["matcher"]["options"] for o in p["fieldConfig"]["overrides"]} <= set(columns)
    variables = {v["name"] for v in d["templating"]["list"]}
    used = {v for v in re.findall(r"\$(\w+)", json.dumps(d)) if not v.startswith("__")}
    assert variables == used, "each is chosen and each is looked at"


def test_what_is_recorded_is_looked_at():
    """By an alert, a dashboard, or another recording; and nothing else with a colon is asked for."""
    asked = " ".join(rule["expr"] for kind in ("alert", "record") for rule in rules(kind).values())
    asked += " ".join(t["expr"] for d in DASHBOARDS.values() for p in d["panels"] for t in p["targets"])
    assert set(re.findall(r"\w+:\w+:\w+", asked)) == set(rules("record"))


@pytest.mark.skipif(not (ROOT / "build/release/cmake_install.cmake").exists(), reason="build/release is not configured")
def test_installed_they_are_where_provisioning_looks(tmp_path):
    sh("cmake", "--install", ROOT / "build/release", "--component", "monitoring", "--prefix", tmp_path / "usr")
    where = tmp_path / "usr/share/surety"
    path = provisioned("dashboards")["providers"][0]["options"]["path"]
    assert {p.stem for p in (tmp_path / path.removeprefix("/")).iterdir()} == set(DASHBOARDS)
    assert {str(p.relative_to(where)) for p in where.rglob("*.y*ml")} == {
        "prometheus/prometheus.yml", "prometheus/recording.yml", "prometheus/alerts.yml", "grafana/provisioning/datasources/surety.yaml",
        "grafana/provisioning/dashboards/surety.yaml"}
