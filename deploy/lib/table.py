# SPDX-License-Identifier: BSD-3-Clause
"""The live table: what happened in the last interval."""
import verdict

HEAD = f"{'customer':<9}{'tcp':<7}{'service':<8}{'committed':>10}{'delivered':>11}{'conformance':>13}{'IN':>8}{'OUT':>8}{'dropped':>9}{'alpha':>7}"


def row(customer, before, now, metrics, dropped, qos):
    seconds = now.at - before.at
    name = customer.name
    rates = [verdict.mbits(new[name], old[name], seconds) for new, old in
             ((now.got, before.got), (now.in_bytes, before.in_bytes), (now.out_bytes, before.out_bytes))]
    text = f"{name:<9}{customer.congestion_control:<7}{'csa' if qos else '-':<8}{customer.mbits:>10.2f}{rates[0]:>11.2f}"
    if not qos:
        return text
    alpha = metrics.alpha(name)
    return (f"{text}{verdict.percent(*now.seconds[name]):>13}{rates[1]:>8.2f}{rates[2]:>8.2f}{dropped:>9.0f}"
            f"{'-' if alpha is None else f'{alpha:.2f}':>7}")


def footer(before, now, metrics, earlier):
    seconds = now.at - before.at
    drops = metrics.drops()
    past = earlier.drops()
    reasons = "  ".join(f"{reason} {(n - past.get(reason, 0)) / seconds:.0f}/s" for reason, n in sorted(drops.items())
                        if n > past.get(reason, 0))
    averages = {labels["precedence"]: value for labels, value in metrics.select("surety_queue_average_packets", port="wan")}
    queued = metrics.sum("surety_port_queued_packets", port="wan")
    queue = f"queue: {queued:.0f} packets"
    if averages:
        queue += f", averages IN {averages.get('in', 0):.1f}, all {averages.get('total', 0):.1f}"
    carried = verdict.mbits(now.carried, before.carried, seconds)
    return [f"flood    delivered {verdict.mbits(now.flood, before.flood, seconds):.2f} Mbit/s; link {carried:.2f} Mbit/s", queue,
            f"drops: {reasons or 'none'}"]


def render(elapsed, customers, before, now, metrics, earlier, qos):
    def dropped(c):
        name = "surety_service_dropped_packets_total"
        return metrics.sum(name, service=c.name) - earlier.sum(name, service=c.name)
    title = f"after {elapsed:.0f} s (Mbit/s; dropped: by the conditioner, in this interval)"
    rows = [row(c, before, now, metrics, dropped(c), qos) for c in customers]
    return [title, HEAD, *rows, *footer(before, now, metrics, earlier)]
