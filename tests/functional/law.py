# SPDX-License-Identifier: BSD-3-Clause
"""The law of router/pipeline/counters.h that every scrape of /metrics obeys."""
EGRESS_STAGES = {"aggregate", "queue"}


def drops_of(m, port, egress):
    return sum(value for labels, value in m.select("surety_drops_total", port=port)
               if (labels["stage"] in EGRESS_STAGES) == egress)


def law(m):
    """received + fragments = transmitted + drops + queued + held + punted + signals: per port, and from ingress to egress."""
    for port in m.ports():
        def count(name):
            return m.value(f"surety_port_{name}", port=port)

        punted = m.sum("surety_punted_packets_total", port=port)
        assert count("rx_packets_total") + count("fragments_total") == (drops_of(m, port, egress=False) + punted + count("held_packets") +
                                             count("forwarded_packets_total") +
                                             count("signals_total")), f"ingress of {port}"
        assert count("enqueued_packets_total") == (drops_of(m, port, egress=True) + count("queued_packets") +
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
