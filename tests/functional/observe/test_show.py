# SPDX-License-Identifier: BSD-3-Clause
"""`surety show`: routes, neighbours, which rows and in what order, again and again, for programs by one schema, of the router that is here."""
import json
import signal
import subprocess

import jsonschema
import pytest

from harness import ROOT, SURETY, Router, wait_for
from pair import Pair, ports

QUEUES = """
queues:
  uplink:
    - {name: voice, dscp: [EF], priority: strict, rate: 1 Mbit/s, limit: 32 packets}
    - {name: assured, dscp: {in: [AF11], out: [AF12]}, weight: 3, limit: 100 packets}
    - {name: rest, dscp: [BE], weight: 1, limit: 100 packets}
services: {gold: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 20 kB, mark: {in: AF11, out: AF12}}}
classify: [{match: {port: lan0}, service: gold, per: flow}]
routes: [{to: 10.9.0.0/16, via: 10.2.0.1}, {to: 10.8.0.0/16, via: 10.2.0.9}]
"""
TABLES = ["router", "ports", "interfaces", "queues", "services", "contracts", "commitments", "sold", "filters", "flows", "drops", "exceptions", "aggregates",
          "domains", "signalling", "workers", "stages", "events", "routes", "neighbors"]


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        yield pair


@pytest.fixture(scope="module")
def router(lab):
    with Router(lab.router, ports("af_packet", wan="shape: 10 Mbit/s, queues: uplink") + QUEUES) as running:
        lab.meet()
        yield running


def rows(router, *arguments):
    return json.loads(router.show(*arguments, "--json").stdout)


def test_all_tables_keep_to_the_schema(router):
    schema = json.loads((ROOT / "router/operate/observe/show_schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for table in TABLES:
        check.validate(rows(router, table))
        assert router.show(table).stdout
    for wrong in ([{"up": None}], [{"a b": 1}], [{"rx_bytes": "7"}], [{"uptime_seconds": -1}], [{"inner": {"deeper": {}}}], {"rows": []}):
        assert not check.is_valid(wrong), wrong


def test_routes_say_where_they_lead(lab, router):
    found = {row["prefix"]: row for row in reversed(rows(router, "routes"))}  # the best of each comes first
    assert found["10.9.0.0/16"] == {"prefix": "10.9.0.0/16", "next_hop": "10.2.0.1", "interface": "wan0", "source": "yaml", "metric": 1,
                                    "state": "active"}
    assert found["10.8.0.0/16"]["state"] == "unresolved"
    assert found["10.1.0.0/24"]["next_hop"] == "on link" and found["10.1.0.0/24"]["source"] == "connected"
    assert found["10.1.0.254/32"]["next_hop"] == "local"
    lab.router.ip("route", "add", "10.7.0.0/16", "via", "10.1.0.1", "metric", "5")
    lab.router.ip("route", "add", "blackhole", "10.6.0.0/16")
    def kernel():
        """routes of the kernel are there"""
        return {row["prefix"]: (row["next_hop"], row["metric"]) for row in rows(router, "routes", "source=kernel", "prefix=10.[67].*")}
    wait_for(lambda: kernel() == {"10.7.0.0/16": ("10.1.0.1", 5), "10.6.0.0/16": ("blackhole", 0)})
    text = router.show("routes", "prefix=10.[79].*").stdout.splitlines()
    assert text[0].split() == ["PREFIX", "NEXT", "HOP", "INTERFACE", "SOURCE", "METRIC", "STATE"] and len(text) == 3


def test_neighbours_say_who_answers(lab, router):
    found = {row["address"]: row for row in rows(router, "neighbors")}
    known = found["10.1.0.1"]
    assert known["mac"] == lab.a.mac and known["interface"] == "lan0" and known["state"] == "known" and known["source"] == "learned"
    assert 0 <= known["age_seconds"] < 60
    def silent():
        """the gateway that is not there has been asked for in vain"""
        return [row["address"] for row in rows(router, "neighbors", "state=unreachable")]
    wait_for(lambda: silent() == ["10.2.0.9"])
    lab.router.ip("neigh", "replace", "10.2.0.77", "lladdr", "02:00:00:00:00:77", "dev", "wan0", "nud", "permanent")
    def told():
        """what an operator says is there"""
        return rows(router, "neighbors", "address=10.2.0.77")
    assert wait_for(told) == [{"address": "10.2.0.77", "mac": "02:00:00:00:00:77", "interface": "wan0", "source": "kernel", "state": "known"}]


def test_rows_are_chosen_and_sorted(router):
    assert [row["name"] for row in rows(router, "ports", "name=wan*")] == ["wan0"]
    assert [row["name"] for row in rows(router, "queues", "port=wan0", "name!=rest")] == ["voice", "assured"]
    assert [row["name"] for row in rows(router, "ports", "--sort", "name")] == ["lan0", "wan0"]
    packets = [row["packets"] for row in rows(router, "stages", "--sort", "packets", "--top", 3)]
    assert len(packets) == 3 and packets == sorted(packets, reverse=True) and packets[0] > 0
    lines = router.show("queues", "port=wan0", "precedence=out", "queue=assured").stdout.splitlines()
    assert len(lines) == 2 and lines[1].split()[:3] == ["wan0", "assured", "out"]
    newest = rows(router, "events", "--top", 1)
    assert [row["number"] for row in newest] == [max(row["number"] for row in rows(router, "events"))]


def test_a_wrong_key_is_answered_by_those_there_are(router):
    done = router.show("ports", "nmae=wan0", check=False)
    assert done.returncode == 2 and done.stderr == "surety show ports: no key is called `nmae`; did you mean `name`?\n"
    done = router.show("routes", "--sort", "colour_of_it", check=False)
    assert done.returncode == 2 and "there are: interface, metric, next_hop, prefix, source, state" in done.stderr
    done = router.show("ports", "wan0", check=False)
    assert done.returncode == 2 and done.stderr == "surety show ports: `wan0` is not KEY=VALUE\n"


def watch(router, *arguments):
    return subprocess.Popen(router.namespace.command(SURETY, "show", "--name", router.name, *arguments), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def test_watched_tables_come_again_until_interrupted(lab, router):
    process = watch(router, "ports", "--watch", "0.2", "name=lan0")
    titles, totals, blank, rates, _ = (process.stdout.readline() for _ in range(5))
    assert " RX " in titles and titles.startswith("PORT") and totals.startswith("lan0") and blank == "\n" and " RX/S " in rates
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err == "" and "Traceback" not in out


def test_a_watch_ends_with_its_reader(router):
    process = watch(router, "ports", "--watch=0.1", "--json")
    assert [row["name"] for row in json.loads(process.stdout.readline())] == ["lan0", "wan0"]
    process.stdout.close()
    assert process.wait(120) == 0 and process.stderr.read() == ""
    process.stderr.close()


def test_a_tool_means_the_router_of_its_namespace(lab, router):
    with Pair() as other, Router(other.router, ports("af_packet")) as second:
        for namespace, name in ((lab.router, router.name), (other.router, second.name)):
            shown = json.loads(namespace.run(SURETY, "show", "router", "--json").stdout)
            assert [row["name"] for row in shown] == [name]
        elsewhere = lab.a.namespace.run(SURETY, "show", "router", check=False)
        assert elsewhere.returncode == 1 and "choose one of" in elsewhere.stderr and second.name in elsewhere.stderr
        named = lab.a.namespace.run(SURETY, "show", "router", "--json", "--name", second.name)
        assert json.loads(named.stdout)[0]["name"] == second.name
