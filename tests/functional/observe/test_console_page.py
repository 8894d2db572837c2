# SPDX-License-Identifier: BSD-3-Clause
"""The console's page in a browser, with made-up rows: names that nobody should have, very many contracts; and a lab's report."""
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading

import pytest

from console_page import ConsolePage
from router import ROOT, wait_for

LAB = pathlib.Path(os.environ.get("SURETY_LAB", ROOT / "build/release/bin/surety-lab"))
FILES = LAB.parents[1] / "share/surety/console"
EDGE = ROOT / "config/examples/lab-edge.yaml"
pytestmark = pytest.mark.skipif(not FILES.exists(), reason=f"no {FILES}; build surety-lab, or name it with SURETY_LAB=")

HOSTILE = ["<script>window.hacked = 1</script>", "\"'><img src=x onerror='window.hacked = 1'>", "\N{PILE OF POO} and \N{RIGHT-TO-LEFT OVERRIDE}abc",
           "line\nbreak\ttab", "long" * 2500, "constructor", "__proto__", "&lt;b&gt;", "${window.hacked = 1}"]


class Tables(http.server.SimpleHTTPRequestHandler):
    """What a router would answer: the page's files, and `server.tables`."""

    def do_GET(self):
        if not self.path.startswith("/api/"):
            return super().do_GET()
        name = self.path.removeprefix("/api/")
        body = json.dumps(self.server.tables[name] if name else list(self.server.tables)).encode()
        self.server.moment += 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Surety-Uptime", f"{self.server.moment}.000")
        self.send_header("Surety-Rows", str(len(self.server.tables.get(name, []))))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def browser():
    with ConsolePage() as page:
        page.window(1280, 800)
        yield page


@pytest.fixture
def serve(browser):
    """serve(tables): the page, which has them."""
    servers = []

    def start(tables):
        browser.complaints.clear()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Tables(*a, directory=FILES))
        server.tables, server.moment = tables, 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        browser.server = server
        return browser.read(f"http://127.0.0.1:{server.server_port}/")
    yield start
    browser.open("about:blank")
    for server in servers:
        server.shutdown()
        server.server_close()


def contract(customer, number=0, **more):
    return {"customer": customer, "service": "silver", "contract": f"10.1.0.{number}", "committed_bytes_per_second": 125_000.0,
            "offered_bytes_per_second": 250_000.0, "delivered_bytes_per_second": 1000.0 * number, "met": number % 2 == 0, **more}


def test_a_contract_is_committed_offered_and_delivered(serve):
    page = serve({"contracts": [contract("acme", 125, met=True, demanding_seconds=400, met_seconds=399), contract("else", 60, met=False, reason="overflow")]})
    violated, conforms = wait_for(lambda: page.rows("contracts"))
    assert (violated["customer"], conforms["customer"]) == ("else", "acme"), "what is violated comes first"
    texts = {"committed": "1 Mbit/s", "offered": "2 Mbit/s", "delivered": "1 Mbit/s", "now": "conforms", "conformance": "99.75 %"}
    assert texts.items() <= conforms.items() and violated["now"] == "violated: overflow"
    wait_for(lambda: [len(lines["delivered"]) > 1 for lines in page.lines("contracts")] == [True, True])
    first = page.lines("contracts")[0]
    assert set(first["delivered"]) == {60_000} and set(first["offered"]) == {250_000} and set(first["committed"]) == {125_000}
    widths = page.evaluate("[...document.querySelectorAll('#contracts tbody tr:nth-child(1) .bar i')].map((i) => parseFloat(i.style.width))")
    assert widths[1] / widths[2] == pytest.approx(60 / 125, rel=0.01)
    assert page.complaints == []


COLOURS = "Object.fromEntries(['good', 'bad'].map((css) => [css, [...document.querySelectorAll('.' + css)].filter((e) => e.checkVisibility()).length]))"


def test_the_headline_says_whether_a_contract_is_violated(serve):
    rows = [contract("acme", 2, demanding_seconds=100, met_seconds=100, objective_ratio=0.99), contract("globex", 4)]
    page = serve({"contracts": rows, "ports": [{"name": "wan0", "up": True}]})
    wait_for(lambda: page.text("#headline") == "None of 2 contracts is violated now.")
    assert page.evaluate(COLOURS) == {"good": 1, "bad": 0}
    rows[1].update(met=False, demanding_seconds=10_000, met_seconds=9899, objective_ratio=0.99)
    wait_for(lambda: page.text("#headline") == "1 of 2 contracts violated now: globex1 below the objective: globex")
    assert page.rows("contracts")[0]["conformance"] == "98.99 %"
    colours = page.evaluate(COLOURS)
    assert colours["good"] == 0 and colours["bad"] == 4, "nothing green beside red"
    rows[1].update(met=True, met_seconds=9900)
    wait_for(lambda: page.text("#headline") == "None of 2 contracts is violated now.")
    rows += [contract(f"many-{number}", 1) for number in range(20)]
    wait_for(lambda: page.text("#headline") == "20 of 22 contracts violated now: many-0, many-1, many-2, many-3, many-4 and 15 more")
    page.evaluate("document.querySelector('#contracts details').open = false")
    del rows[2:]
    page.server.tables["ports"][0]["up"] = False
    wait_for(lambda: page.text("#headline") == "None of 2 contracts is violated now.1 port down: wan0")
    assert page.evaluate(COLOURS) == {"good": 0, "bad": 2}
    rows.clear()
    wait_for(lambda: page.text("#headline") == "No contract is in use.1 port down: wan0")
    assert page.complaints == []


def test_headings_say_what_they_mean(serve):
    page = serve({"contracts": [contract("acme", 2, objective_ratio=0.99, held_back_seconds=3, held=1, direction="up", delivered_in_bytes_per_second=1,
                                         demanding_seconds=1, met_seconds=1, dropped_conditioner=1, dropped_queue=1, dropped_other=1)],
                  "interfaces": [{"name": "acme.1", "customer": "acme", "shape_bytes_per_second": 1e6}]})
    wait_for(lambda: len(page.rows("contracts")) == 2)
    silent = page.evaluate("[...document.querySelectorAll('#contracts th button')].filter(({title}) => title.length < 20).map((b) => b.textContent)")
    assert silent == [] and len(page.rows("contracts")[0]) > 14


def test_a_customers_page(serve):
    hours = {"demanding_seconds": [0] * 22 + [3600, 600], "met_seconds": [0] * 22 + [3600, 597], "held_back_seconds": [0] * 23 + [4],
             "delivered_bytes": [0] * 22 + [450_000_000, 75_000_000]}
    kept = {"customer": "acme & sons", "service": "silver", "contract": "10.1.0.7", "demanding_seconds": 4200, "met_seconds": 4197, "held_back_seconds": 4}
    missed = {"fields": {**kept, "committed_bytes_per_second": 125_000.0, "delivered_in_bytes_per_second": 100_000.0, "reason": "overflow"}}
    elses = {"number": 9, "time": "2026-11-27T12:00:00.000Z", "age_seconds": 9.0, "kind": "promise_missed", "fields": {**missed["fields"], "customer": "else"}}
    page = serve({
        "contracts": [contract("acme & sons", 7, objective_ratio=0.999, reason="overflow", direction="up"), contract("else", 8)],
        "interfaces": [{"name": "sons", "customer": "acme & sons", "port": "lan0", "rx_bytes": 1, "tx_bytes": 1, "shape_bytes_per_second": 2_500_000.0}],
        "history": [{**kept, "hours": hours}],
        "events": [{"number": 1, "time": "2026-11-27T10:00:00.000Z", "age_seconds": 7300.0, "kind": "promise_missed", **missed},
                   {"number": 2, "time": "2026-11-27T10:00:40.000Z", "age_seconds": 7260.0, "kind": "promise_kept", **missed},
                   {"number": 3, "time": "2026-11-27T12:01:00.000Z", "age_seconds": 40.0, "kind": "promise_missed", **missed}, elses]})
    wait_for(lambda: any(row.get("direction") == "down" for row in page.rows("contracts")))
    page.evaluate("[...document.querySelectorAll('#contracts td a')].find((a) => a.textContent === 'acme & sons').click()")
    page.until("document.querySelector('#customer').checkVisibility() && !document.querySelector('#main').checkVisibility()")
    assert page.text("#customer h2") == "acme & sons"
    wait_for(lambda: len(page.rows("plan")) == 2 and page.rows("day") and page.rows("violations"))
    up, down = page.rows("plan")
    assert (up["direction"], up["committed"], up["now"], up["conformance, 24 h"]) == ("up", "1 Mbit/s", "violated: overflow", "99.92 %")
    assert (down["direction"], down["contract"], down["committed"]) == ("down", "sons", "20 Mbit/s")
    last, before = page.rows("day")
    assert (last["conformance"], last["violated"], last["held back"]) == ("99.50 %", "3 s", "4 s")
    assert (before["conformance"], before["violated"], before["delivered"]) == ("100.00 %", "0 s", "450 MB")
    open_one, over = page.rows("violations")
    assert (open_one["lasted"], over["lasted"], over["reason"]) == ("", "40 s", "overflow")
    assert page.text("#headline").startswith("1 of 2 contracts violated now: acme & sons")
    page.until("Chart.getChart(document.querySelector('#plan canvas'))")
    page.evaluate("document.querySelector('#customer a').click()")
    page.until("document.querySelector('#main').checkVisibility()")
    page.evaluate("location.hash = '#customer=acme%20%26%20sons'")
    wait_for(lambda: page.text("#customer h2") == "acme & sons" and len(page.rows("plan")) == 2)
    page.window(360, 740)
    assert page.too_wide() <= 0
    page.window(1280, 800)
    assert page.complaints == []


def test_ten_thousand_subscribers(serve):
    states = ["conforms", "violated", "suspended", None]
    rows = [{"name": f"s{n}", "plan": ["gold", "silver"][n % 2], "owner": "radius", "place": f"lan0 10.9.{n // 256}.{n % 256}/32", "suspended": n % 4 == 2,
             "committed_bytes_per_second": 125_000.0, "offered_bytes_per_second": 1.0 * n, "delivered_bytes_per_second": 1.0 * n, "rx_bytes": n, "tx_bytes": n,
             **({"state": states[n % 4]} if states[n % 4] else {})} for n in range(10_000)]
    page = serve({"contracts": [contract("s9", 125)], "subscribers": rows})
    wait_for(lambda: len(page.rows("subscribers")) == 200)
    first = page.rows("subscribers")[0]
    assert first["state"] == "violated" and (first["plan"], first["owner"], first["committed"]) == ("silver", "radius", "1 Mbit/s")
    assert "and 9,800 more" in page.text("#subscribers")
    silent = page.evaluate("[...document.querySelectorAll('#subscribers th button')].filter(({title}) => title.length < 20).map((b) => b.textContent)")
    assert silent == []
    page.sort("subscribers", "delivered")
    assert page.rows("subscribers")[0]["subscriber"] == "s9999"
    page.search("10.9.3.7/")
    assert [row["subscriber"] for row in page.rows("subscribers")] == ["s775"]
    page.search("")
    page.evaluate("location.hash = '#customer=s2'")
    wait_for(lambda: page.text("#customer .terms") == "plan gold, lan0 10.9.0.2/32, owner radius: suspended")
    page.evaluate("location.hash = ''")
    rows.clear()
    page.evaluate("source.asked = {}")  # not in five seconds
    page.until("!document.querySelector('#subscribers').checkVisibility()")
    assert page.complaints == []


def test_every_name_is_text(serve):
    rows = [contract(name, number, service=name, contract=name) for number, name in enumerate(HOSTILE)]
    page = serve({"router": [{"name": name, "version": name, "uptime_seconds": 1, "flows": 1, "routes": 1} for name in HOSTILE[:1]],
                  "contracts": rows, "domains": [{"name": name, "alpha_ratio": 0.5} for name in HOSTILE],
                  "events": [{"level": "info", "kind": name, name: name} for name in HOSTILE]})
    wait_for(lambda: len(page.rows("contracts")) == len(HOSTILE) and page.rows("events") and page.lines("domains"))
    for heading in ("customer", "service", "contract"):
        assert {row[heading] for row in page.rows("contracts")} == set(HOSTILE)
    assert [row["kind"] for row in page.rows("events")] == HOSTILE[::-1], "the last one first"
    assert page.text("#title") == HOSTILE[0]
    assert page.evaluate("'hacked' in window || document.querySelectorAll('main script, main img, header script').length > 0") is False
    page.window(360, 740)
    assert page.too_wide() <= 0
    page.window(1280, 800)
    assert page.too_wide() <= 0
    page.search("script>")
    assert [row["customer"] for row in page.rows("contracts")] == HOSTILE[:1]
    assert page.complaints == []


def test_ten_thousand_contracts(serve):
    page = serve({"contracts": [contract(f"customer-{number}", number) for number in range(10_000)]})
    wait_for(lambda: len(page.rows("contracts")) == 200)
    assert "and 9,800 more" in page.text("#contracts")
    page.sort("contracts", "delivered")
    assert page.rows("contracts")[0]["customer"] == "customer-9999"
    page.search("customer-777")
    assert {row["customer"] for row in page.rows("contracts")} == {"customer-777", *(f"customer-777{digit}" for digit in range(10))}
    assert page.complaints == []


def test_what_a_router_does_not_have_is_told(serve):
    page = serve({"ports": []})
    page.until("document.getElementById('events').textContent.includes('This router has no table of events.')")
    assert "There are none." in page.text("#ports")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    directory = tmp_path_factory.mktemp("report")
    subprocess.run([LAB, "run", EDGE, "--seeds", "2", "--report", directory], check=True, capture_output=True, timeout=120)
    return directory


def test_a_lab_run_is_opened_as_a_file(browser, report):
    browser.complaints.clear()
    page = browser.read((report / "index.html").as_uri())
    recorded = json.loads((report / "data.js").read_text().partition("const recording = ")[2])
    assert page.text("#title") == "lab-edge" and "seed" in page.text("#about")
    rows = page.rows("contracts")
    assert len(rows) == len(recorded["tables"]["contracts"]) == 33
    assert [row["end to end"] for row in rows] == sorted(row["end to end"] for row in rows if row["end to end"]) + [""]
    assert {row["now"] for row in rows if row["customer"] == "office"} == {"conforms"}, "the router drops no IN packet; TCP loses tokens"
    page.until("document.querySelectorAll('#over-time canvas').length === 4 && Chart.getChart(document.querySelector('#over-time canvas'))")
    throughput = page.lines("over-time")[0]
    offices = [row["over_time"]["throughput_bytes_per_second"] for row in recorded["tables"]["contracts"] if row["customer"] == "office"]
    assert throughput["office × 30: greatest"] == [max(values) for values in zip(*offices)]
    assert 125_000 in throughput["committed: office"]
    queue = next(lines for lines in page.lines("queues") if "average IN" in lines)
    theirs = next(row for row in recorded["tables"]["queues"] if row["rio"])
    assert queue["average IN"] == theirs["over_time"]["average_in"] and queue["IN max"][0] == theirs["in"]["max"]
    assert page.complaints == []


def test_a_labs_tables_are_those_of_its_text(browser, report):
    page = browser.read((report / "index.html").as_uri())
    recorded = json.loads((report / "data.js").read_text().partition("const recording = ")[2])
    titles = [table["title"] for table in recorded["results"]]
    assert {"Flows", "Queues", "Delivered, over the seeds", "Links"} <= set(titles)
    assert page.evaluate("[...document.querySelectorAll('.result h2')].map((title) => title.textContent)") == titles
    assert [list(row.values()) for row in page.rows_of(".result")] == [[cell.replace("+-", "±") for cell in row]
                                                                       for row in recorded["results"][0]["rows"]]
    assert page.evaluate("document.querySelectorAll('.result .bad').length > 0 && document.querySelectorAll('.good').length === 0")
    page.sort_in(".result", "delivered")
    delivered = [row["delivered"] for row in page.rows_of(".result")]
    sizes = {"": 1, "k": 1e3, "M": 1e6}
    rates = [float(found[1]) * sizes[found[2]] for found in (re.match(r"([\d.]+)(?: ± [\d.]+)? ([kM]?)bit/s", text) for text in delivered) if found]
    assert len(rates) > 30 and rates == sorted(rates, reverse=True)


def test_a_report_on_a_telephone_in_the_dark(browser, report):
    browser.window(360, 740, dark=True)
    page = browser.read((report / "index.html").as_uri())
    assert page.too_wide() <= 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
    page.window(1280, 800)
