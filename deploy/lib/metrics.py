# SPDX-License-Identifier: BSD-3-Clause
"""The router's /metrics: scraped, parsed, and what deploy/try and the functional tests read out of it."""
import collections
import contextlib
import http.client
import time

try:
    from prometheus_client.parser import text_string_to_metric_families
except ModuleNotFoundError:
    raise SystemExit("python3-prometheus-client is missing: `deploy/install --deps-only` installs it") from None

ADDRESS = ("127.0.0.1", 9464)


class Metrics:
    def __init__(self, text, at=0.0):
        self.at = at  # seconds on the monotonic clock
        self._series = collections.defaultdict(list)
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                self._series[sample.name].append((sample.labels, sample.value))

    def select(self, name, **labels):
        """Those series of a family whose labels are at least `labels`: [(labels, value)]."""
        return [(own, value) for own, value in self._series[name] if labels.items() <= own.items()]

    def sum(self, name, **labels):
        """Without members of templates, which have their sum beside them, unless one is named."""
        return sum(value for own, value in self.select(name, **labels) if "interface" in labels or not own.get("of"))

    def value(self, name, **labels):
        found = self.select(name, **labels)
        assert len(found) == 1, f"{name}{labels}: {len(found)} series"
        return found[0][1]

    def _reasons(self, name, **labels):
        """{reason: packets}, those that happened."""
        sums = collections.Counter()
        for own, value in self.select(name, **labels):
            sums[own["reason"]] += value
        return {reason: value for reason, value in sums.items() if value}

    def drops(self, port=None):
        return self._reasons("surety_drops_total", **({"port": port} if port else {}))

    def punts(self, port=None):
        return self._reasons("surety_punted_packets_total", **({"port": port} if port else {}))

    def ports(self):
        return [labels["port"] for labels, _ in self.select("surety_port_rx_packets_total")]

    def service_bytes(self, service, precedence):
        """Delivered."""
        return self.sum("surety_service_delivered_bytes_total", service=service, precedence=precedence)

    def lost_in_packets(self):
        """IN packets that the queues dropped, of whichever service."""
        kinds = ("early", "forced", "overflow")
        return sum(self.sum(f"surety_queue_{kind}_drops_total", precedence="in") for kind in kinds)

    def alpha(self, service):
        """The alpha that binds a service: the smallest of its own domains and those that all services share."""
        return min((value for labels, value in self.select("surety_csa_alpha_ratio")
                    if labels["domain"].count("/") < 2 or labels["domain"].endswith(f"/{service}")), default=None)


def scrape(namespace, timeout=5, address=ADDRESS):
    """Of the router in that namespace."""
    with contextlib.closing(http.client.HTTPConnection(*address, timeout=timeout)) as connection:
        with namespace.entered():
            connection.connect()
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        if answer.status != 200:  # it listens already, a moment before it has anything to say
            raise ConnectionError(f"/metrics: {answer.status} {answer.reason}")
        return Metrics(answer.read().decode(), time.monotonic())
