# SPDX-License-Identifier: BSD-3-Clause
"""The console of a running router, in a browser: the router's own numbers as they move; and who may not see it."""
import json
import pathlib
import socket
import threading
import time

import pytest

from console_page import ConsolePage
from harness import Router, UdpSource, wait_for
from metrics import ADDRESS, scrape
from pair import Pair, ports

YAML = ports(wan="shape: 5 Mbit/s, burst: 30 kB, queues: uplink") + """
queues:
  uplink:
    - name: assured
      dscp: {in: [AF11], out: [AF12], red: [AF13, BE]}
      limit: 300 packets
      count: packets
      rio: {average: 0.05, in: {min: 150, max: 250, pmax: 0.02}, out: {min: 40, max: 90, pmax: 0.2}, red: {min: 20, max: 80, pmax: 0.2}}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 1 Mbit/s, in_bucket: 20 kB, out_bucket: 20 kB, mark: {in: AF11, out: AF12}}
  other: {conditioner: none, mark: {in: BE}}
classify:
  - {match: {port: lan0, protocol: udp, destination_port: 5010}, service: silver, per: source}
  - {match: {port: lan0}, service: other}
"""
MEMBERS = {"arrivals": "arrivals", "early": "early_drops"}  # of `surety show queues`, by the column of the console
NULL_PORTS = "ports:\n  p0: {device: null}\n  p1: {device: null}\n"


class Senders:
    """1 Mbit/s to port 5010 and 8 to 5011, which are more than the link has, until they are stopped."""

    def __init__(self, lab):
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self._send, args=(lab, *how), daemon=True) for how in ((5010, 125), (5011, 1000))]
        for thread in self.threads:
            thread.start()

    def _send(self, lab, port, rate):
        with UdpSource(lab.a, "10.2.0.1", port) as source:
            while not self.stopped.is_set():
                source.pace(bytes(972), rate, rate // 5)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join(30)


@pytest.fixture(scope="module")
def busy():
    """(router, page, senders)"""
    with Pair() as pair, Router(pair.router, YAML) as router, ConsolePage(pair.router) as page:
        pair.meet()
        senders = Senders(pair)
        try:
            yield router, page.read(), senders
        finally:
            senders.stop()


def shown(router, table):
    return json.loads(router.show(table, "--json").stdout)


def test_lines_move(busy):
    router, page, _ = busy
    page.until("document.querySelectorAll('#queues canvas').length === 1 && document.querySelectorAll('#drops canvas').length === 1")
    queue = wait_for(lambda: next((lines for lines in page.lines("queues") if len(lines["average of all"]) >= 3), None))
    levels = {"IN min": 150, "IN max": 250, "OUT min": 40, "OUT max": 90, "red min": 20, "red max": 80}
    assert set(queue) == {"average IN", "average of all", *levels}
    assert {name: queue[name][0] for name in levels} == levels
    def charted():
        """the queue's average is above the threshold of red, red packets are dropped, and alpha has a line"""
        drops = {reason: values for lines in page.lines("drops") for reason, values in lines.items()}
        averages = page.lines("queues")[0]["average of all"]
        alphas = [line for lines in page.lines("domains") for line in lines.values()]
        return max(averages) > 20 and any(value and value > 10 for value in drops.get("wan0: early", [])) and any(map(len, alphas))
    wait_for(charted)
    def delivering():
        """the customer's line is at about what he sends"""
        values = [y for lines in page.lines("contracts") for y in lines["delivered"]]
        return len(values) > 2 and 60_000 < max(values) < 250_000
    wait_for(delivering)
    def sending():
        """the ports' rates are those of the shaper and of the senders"""
        rates = {row["port"]: row["sent"] for row in page.rows("ports")}
        return "Mbit/s" in rates.get("wan0", "") and 4 < float(rates["wan0"].split()[0]) < 6
    wait_for(sending)
    assert page.complaints == []


def test_numbers_are_the_routers(busy):
    router, page, senders = busy
    senders.stop()
    router.settle()

    def agree():
        """queues, services, drops and ports are as `surety show` has them"""
        queues = {(row["port"], row["name"]): row for row in shown(router, "queues")}
        for row in (rows := page.rows("queues")):
            theirs = queues[row["port"], row["queue"]]
            for counter in ("arrivals", "early"):
                if row[counter] != f"{sum(theirs.get(p, {}).get(MEMBERS[counter], 0) for p in ('in', 'out', 'red')):,}":
                    return False
        drops = {(row["port"], row["reason"], f"{row['packets']:,}") for row in shown(router, "drops") if row["packets"]}
        if [row["contract"] for row in page.rows("contracts")] != [row["contract"] for row in shown(router, "contracts")]:
            return False
        names = [row["name"] for row in shown(router, "services")]
        return (len(rows) == len(queues) and {(r["port"], r["reason"], r["packets"]) for r in page.rows("drops")} == drops
                and [row["service"] for row in page.rows("services")] == names
                and [row["port"] for row in page.rows("ports")] == [row["name"] for row in shown(router, "ports")])
    wait_for(agree)
    assured = next(row for row in page.rows("queues") if row["queue"] == "assured")
    assert [assured[f"{p} min – max"] for p in ("IN", "OUT", "red")] == ["150 – 250", "40 – 90", "20 – 80"]
    assert page.text("#title") == router.name
    assert page.complaints == []


def test_tables_sort_and_are_searched(busy):
    _, page, _ = busy
    page.sort("queues", "arrivals")
    arrivals = [int(row["arrivals"].replace(",", "")) for row in page.rows("queues")]
    assert arrivals == sorted(arrivals, reverse=True) and arrivals[0] > arrivals[-1]
    page.sort("queues", "port")
    assert [row["port"] for row in page.rows("queues")] == ["lan0", "wan0"]
    page.sort("queues", "port")
    assert [row["port"] for row in page.rows("queues")] == ["wan0", "lan0"]
    page.search("ASSURED")
    assert [row["queue"] for row in page.rows("queues")] == ["assured"] and page.rows("services") == []
    page.search("")
    assert len(page.rows("queues")) == 2


def test_a_telephone_and_a_dark_room(busy):
    _, page, _ = busy
    page.window(360, 740, dark=True)
    page.until("Chart.defaults.color === getComputedStyle(document.documentElement).getPropertyValue('--faint').trim()")
    assert page.too_wide() <= 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
    page.window(1280, 800)
    page.until("getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'")
    assert page.too_wide() <= 0


def test_what_is_closed_is_not_asked_for(busy):
    _, page, _ = busy
    assert page.rows("exceptions") == page.rows("workers") == []
    page.evaluate("document.querySelector('#workers details').open = true")
    page.until("document.querySelectorAll('#workers tbody tr').length > 0")
    assert page.evaluate("'exceptions' in source.tables") is False


def test_a_router_that_goes_and_comes_back(namespace):
    with ConsolePage(namespace) as page:
        with Router(namespace, NULL_PORTS) as router:
            page.read().until(f"document.getElementById('title').textContent === '{router.name}'")
        page.until("document.getElementById('status').textContent.startsWith('No answer since') && !document.getElementById('status').hidden")
        with Router(namespace, NULL_PORTS) as router:
            page.until(f"document.getElementById('title').textContent === '{router.name}' && document.getElementById('status').hidden")


def test_the_history_outlives_the_router(namespace, directory):
    """It comes from the files of `surety report`: here those of another run, an hour ago."""
    router = Router(namespace, NULL_PORTS, directory=directory)
    hour = int(time.time()) // 3600 - 1
    kept = pathlib.Path(router.state) / router.name
    kept.mkdir(parents=True)
    (kept / time.strftime("%Y-%m-%dT%H.jsonl", time.gmtime(3600 * hour))).write_text(
        f'["n",0,"acme","gold","acme.1",0.99]\n[{60 * hour + 59},0,1000000,900,700,20,3,4,60,57,2]\n')
    with router, ConsolePage(namespace) as page:
        rows = wait_for(lambda: json.loads(get(namespace, "/api/history")[1]))
        assert [(row["customer"], row["demanding_seconds"], row["met_seconds"], row["held_back_seconds"]) for row in rows] == [("acme", 60, 57, 2)]
        assert rows[0]["hours"]["met_seconds"][-2:] in ([57, 0], [0, 57]), "an hour may have begun meanwhile"
        page.read("http://127.0.0.1:9464/#customer=acme")
        row, = wait_for(lambda: page.rows("day"))
        assert (row["conformance"], row["violated"], row["delivered"]) == ("95.00 %", "3 s", "720 B")
        assert page.complaints == []


def get(namespace, path, *options):
    """(status, text)"""
    done = namespace.run("curl", "-s", "--max-time", "20", "-w", "\n%{http_code}", *options, f"http://127.0.0.1:9464{path}")
    text, _, status = done.stdout.rpartition("\n")
    return int(status), text


def test_beyond_this_machine_it_needs_a_password(namespace, directory):
    with Router(namespace, NULL_PORTS + 'metrics: {listen: "0.0.0.0:9464"}\n'):
        for path in ("/", "/page.js", "/api/ports"):
            status, text = get(namespace, path)
            assert (status, text.count("\n")) == (403, 1) and "password_file" in text
        assert get(namespace, "/metrics")[0] == 200
    password = directory / "password"
    password.touch(0o600)
    password.write_text("me:open-sesame")
    guarded = Router(namespace, NULL_PORTS + f'metrics: {{listen: "0.0.0.0:9464", password_file: {password}}}\n')
    guarded._metrics_off = True  # to who does not know the password
    with guarded as router:
        def listens():
            """what `show` answers before does not say that /metrics is there yet"""
            return "/metrics" in router.stderr()
        wait_for(listens)
        assert get(namespace, "/api/ports")[0] == 401
        status, text = get(namespace, "/api/ports", "-u", "me:open-sesame")
        assert status == 200 and json.loads(text) == shown(router, "ports")


def test_it_may_be_off(namespace):
    with Router(namespace, NULL_PORTS + "metrics: {console: off}\n"):
        assert get(namespace, "/")[0] == get(namespace, "/api/ports")[0] == 404
        assert get(namespace, "/metrics")[0] == 200


def test_ten_tabs_and_slow_links_hold_up_no_scrape(namespace):
    with Router(namespace, NULL_PORTS):
        stopped, slow = threading.Event(), []
        def tab():
            while not stopped.is_set():
                for table in ("router", "ports", "drops", "queues", "exceptions"):
                    assert get(namespace, f"/api/{table}")[0] == 200
        tabs = [threading.Thread(target=tab) for _ in range(10)]
        for thread in tabs:
            thread.start()
        try:
            for _ in range(10):
                s = namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                s.connect(ADDRESS)
                s.sendall(20 * b"GET /api/exceptions HTTP/1.1\r\nHost: localhost\r\n\r\n")
                slow.append(s)
            taken = []
            for _ in range(5):
                before = time.monotonic()
                assert scrape(namespace).select("surety_build_info")
                taken.append(time.monotonic() - before)
            assert sorted(taken)[2] < 1, taken
        finally:
            stopped.set()
            for s in slow:
                s.close()
            for thread in tabs:
                thread.join(60)
