# SPDX-License-Identifier: BSD-3-Clause
"""The router's /metrics: scraped, parsed, and what the trial reads out of it."""
import re
import time
import urllib.request

URL = "http://127.0.0.1:9464/metrics"
_LINE = re.compile(r"^(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    def __init__(self, text, at):
        self.at = at  # seconds on the monotonic clock
        self._series = []
        for line in text.splitlines():
            if found := None if line.startswith("#") else _LINE.match(line):
                self._series.append((found["name"], dict(_LABEL.findall(found["labels"] or "")), float(found["value"])))

    def select(self, name, **labels):
        """Those series of a family whose labels are at least `labels`: [(labels, value)]."""
        return [(own, value) for family, own, value in self._series
                if family == name and labels.items() <= own.items()]

    def total(self, name, **labels):
        return sum(value for _, value in self.select(name, **labels))

    def service_bytes(self, service, precedence):
        return self.total("surety_service_bytes_total", service=service, precedence=precedence)

    def lost_in_packets(self):
        """IN packets that the queues dropped, of whichever service."""
        kinds = ("early", "forced", "overflow")
        return sum(self.total(f"surety_queue_{kind}_drops_total", precedence="in") for kind in kinds)

    def drops(self):
        """{reason: packets}, those that happened."""
        sums = {}
        for labels, value in self.select("surety_drops_total"):
            sums[labels["reason"]] = sums.get(labels["reason"], 0) + value
        return {reason: value for reason, value in sums.items() if value}

    def alpha(self, service):
        """The alpha that binds a service: the smallest of its own domains and those that all services share."""
        return min((value for labels, value in self.select("surety_csa_alpha_ratio")
                    if labels["domain"].count("/") < 2 or labels["domain"].endswith(f"/{service}")), default=None)


def scrape(timeout=2):
    """From the thread's own network namespace."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(URL, timeout=timeout) as answer:
        text = answer.read().decode()
    return Metrics(text, time.monotonic())
