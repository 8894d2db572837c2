# SPDX-License-Identifier: BSD-3-Clause
"""One scrape of /metrics, and the law of router/counters.h that every scrape obeys."""
import re

SERIES = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
EGRESS_STAGES = {"aggregate", "queue"}


class Metrics:
    def __init__(self, text):
        self.series = []
        for line in text.splitlines():
            if line.startswith("#") or not line:
                continue
            name, labels, value = SERIES.match(line).groups()
            number = float(value)
            self.series.append((name, dict(LABEL.findall(labels or "")),
                                int(number) if number.is_integer() else number))

    def select(self, name, **labels):
        return [(have, value) for series, have, value in self.series
                if series == name and all(have.get(k) == v for k, v in labels.items())]

    def sum(self, name, **labels):
        return sum(value for _, value in self.select(name, **labels))

    def value(self, name, **labels):
        found = self.select(name, **labels)
        assert len(found) == 1, f"{name}{labels}: {len(found)} series"
        return found[0][1]

    def ports(self):
        return [labels["port"] for labels, _ in self.select("surety_port_rx_packets_total")]

    def drops(self, port=None):
        """The reasons that occurred: {reason: packets}."""
        found = {}
        for labels, value in self.select("surety_drops_total", **({"port": port} if port else {})):
            if value:
                found[labels["reason"]] = found.get(labels["reason"], 0) + value
        return found

    def punts(self, port=None):
        found = {}
        for labels, value in self.select("surety_punted_packets_total", **({"port": port} if port else {})):
            if value:
                found[labels["reason"]] = found.get(labels["reason"], 0) + value
        return found

    def _drops_of(self, port, egress):
        return sum(value for labels, value in self.select("surety_drops_total", port=port)
                   if (labels["stage"] in EGRESS_STAGES) == egress)


def law(m):
    """received = transmitted + drops + queued + held + punted + signals: per port, and from ingress to egress."""
    for port in m.ports():
        def count(name):
            return m.value(f"surety_port_{name}", port=port)

        punted = m.sum("surety_punted_packets_total", port=port)
        assert count("rx_packets_total") == (m._drops_of(port, egress=False) + punted + count("held_packets") +
                                             count("forwarded_packets_total") +
                                             count("signals_total")), f"ingress of {port}"
        assert count("enqueued_packets_total") == (m._drops_of(port, egress=True) + count("queued_packets") +
                                                   count("tx_packets_total")), f"egress of {port}"
    # The workers' readings are not of one moment: what one has handed over since shows as handover.
    assert (m.sum("surety_port_forwarded_packets_total") + m.sum("surety_port_originated_packets_total") ==
            m.sum("surety_port_enqueued_packets_total") + m.sum("surety_port_handover_packets"))
    signals_law(m)


def signals_law(m):
    """Signals that ended here were believed (counted by port) or refused (dropped as `signal`)."""
    received = m.sum("surety_csa_signals_total", direction="received")
    assert received == (m.sum("surety_port_signals_total") +
                        m.sum("surety_drops_total", reason="signal")), "signals received"
