#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes Grafana's dashboards into dashboards/, one panel per line. What all panels have in common is defined here, once."""
import json
import pathlib

SOURCE = {"type": "prometheus", "uid": "surety"}
MADE = pathlib.Path(__file__).resolve().parent / "dashboards"
BITS, PACKETS, SHARE, COUNT, SECONDS, BYTES = "bps", "pps", "percentunit", "short", "s", "bytes"


def panel(title, unit, *queries, kind="timeseries", wide=12, high=8, shares=()):
    """`queries`: (legend, expression), of a table (column, expression); `shares`: columns in another unit."""
    targets = [{"refId": chr(65 + n), "datasource": SOURCE, "expr": expression, "legendFormat": legend,
                **({"instant": True} if kind in ("table", "stat") else {}), **({"format": kind} if kind in ("table", "heatmap") else {})}
               for n, (legend, expression) in enumerate(queries)]
    made = {"type": kind, "title": title, "datasource": SOURCE, "targets": targets, "gridPos": {"w": wide, "h": high},
            "fieldConfig": {"defaults": {"unit": unit}, "overrides": [
                {"matcher": {"id": "byName", "options": column}, "properties": [{"id": "unit", "value": SHARE}]} for column in shares]}}
    if kind == "heatmap":  # rows are buckets, by their bounds
        made["options"] = {"calculate": False, "yAxis": {"unit": unit}}
    if kind == "table":  # a row for each set of labels
        columns = {f"Value #{t['refId']}" if len(targets) > 1 else "Value": t["legendFormat"] for t in targets}
        made["transformations"] = [{"id": "merge", "options": {}},
                                   {"id": "organize", "options": {"renameByName": columns, "excludeByName": {"Time": True}}}]
    return made


def stat(title, unit, expression):
    return panel(title, unit, ("", expression), kind="stat", wide=4, high=4)


def variable(name, query, many=True):
    return {"name": name, "type": "query", "datasource": SOURCE, "query": {"query": query, "refId": name}, "refresh": 2, "sort": 1,
            "multi": many, "includeAll": many, **({"allValue": ".*"} if many else {})}


def on(name, labels=""):
    """The series of the selected routers."""
    return f'{name}{{instance=~"$router"{labels and "," + labels}}}'


def total(name, labels="", by=""):
    return f"sum by ({by}) ({on(name, labels)})"


def rate(name, labels="", by=""):
    """The rate of a counter."""
    return f"sum by ({by}) (rate({on(name, labels)}[$__rate_interval]))"


def bits(expression):
    return f"8 * {expression}"


def share(part, whole):
    """A part of a whole, absent if the whole is 0."""
    return f"{part} / ({whole} > 0)"



def rates_of(of, labels="", by=""):
    """Committed, offered and delivered rates of services or contracts."""
    return (("committed", bits(total(f"surety_{of}_committed_bytes_per_second", labels, by))),
            ("offered", bits(rate(f"surety_{of}_offered_bytes_total", labels, by))),
            ("delivered", bits(rate(f"surety_{of}_delivered_bytes_total", labels, by))),
            ("delivered IN", bits(rate(f"surety_{of}_delivered_bytes_total", f'{IN}{labels and "," + labels}', by))))


def conformance(labels="", by=""):
    """Conformance over the last hour."""
    return share(total("contract:surety_met_seconds:increase1h", labels, by), total("contract:surety_demanding_seconds:increase1h", labels, by))


IN = 'precedence="in"'
ROUTER = variable("router", "label_values(surety_build_info, instance)")
SURETY = 'job="surety"'
VIOLATED = on("ALERTS", 'alertname="SuretyPromiseMissed",alertstate="firing"')
RUNS = f"{on('surety_uptime_seconds')} * on (job, instance) group_left (router, version, config_hash) surety_build_info"
OVERVIEW = [
    stat("Routers", COUNT, f"sum({on('up', SURETY)})"),
    stat("Contracts", COUNT, total("surety_service_contracts")),
    stat("Contracts violated now", COUNT, f"count({VIOLATED}) or vector(0)"),
    stat("Committed", BITS, rates_of("service")[0][1]),
    stat("Delivered", BITS, rates_of("service")[2][1]),
    stat("Dropped", PACKETS, rate("surety_drops_total")),
    panel("Alerts", COUNT, ("firing", on("ALERTS", 'alertstate="firing"')), kind="table", high=6),
    panel("Running routers", SECONDS, ("up", RUNS), kind="table", high=6),
    panel("Committed, offered and delivered", BITS, *rates_of("service")),
    panel("Delivered of guaranteed, ten seconds", SHARE, ("{{service}}", on("surety_service_respect_ratio"))),
    panel("Ports", BITS, ("{{port}} received", bits(rate("surety_port_rx_bytes_total", by="instance, port"))),
          ("{{port}} sent", bits(rate("surety_port_tx_bytes_total", by="instance, port")))),
    panel("Utilization: committed of capacity", SHARE, ("{{port}} {{interface}} {{group}} {{queue}} {{direction}}",
                                           f"topk(20, {on('surety_sold_bytes_per_second')} / surety_capacity_bytes_per_second)")),
    panel("Drops by configuration (group policy)", PACKETS, ("{{reason}}", rate("surety_drops_total", 'group="policy"', "reason") + " > 0")),
    panel("Drops by defects (group error)", PACKETS, ("{{reason}}", rate("surety_drops_total", 'group="error"', "reason") + " > 0")),
]

LOST = 'place=~"queue|other"'
CUSTOMERS = [
    panel("Customers", BITS, *rates_of("contract", by="customer, service"), ("conformance", conformance(by="customer, service")), kind="table", wide=24,
          high=12, shares=["conformance"]),
    panel("Violated share of five minutes' demanding seconds", SHARE, ("{{customer}} {{service}} {{contract}}", f"topk(20, {on('contract:surety_missed:ratio5m')}) > 0")),
    panel("Held back: seconds of each second", COUNT, ("{{customer}} {{service}} {{contract}}",
                                                       f"topk(20, {rate('surety_contract_held_back_seconds_total', by='customer, service, contract')})")),
    panel("Dropped behind the conditioner", PACKETS, ("{{customer}}", f"topk(20, {rate('surety_contract_dropped_packets_total', LOST, 'customer')}) > 0")),
    panel("Offered", BITS, ("{{customer}}", bits(f"topk(20, {rate('surety_contract_offered_bytes_total', by='customer')})"))),
    panel("Delivered IN of the committed rate", SHARE,
          ("{{customer}}", "bottomk(20, " + share(rate("surety_contract_delivered_bytes_total", IN, "customer"),
                                                  total("surety_contract_committed_bytes_per_second", by="customer")) + ")")),
    panel("Services: delivered IN", BITS, ("{{service}}", bits(rate("surety_service_delivered_bytes_total", IN, "service"))),
          ("{{service}} committed", bits(total("surety_service_committed_bytes_per_second", by="service")) + " > 0")),
    panel("Services: conformance", SHARE,
          ("{{service}}", share(rate("surety_service_met_seconds_total", by="service"), rate("surety_service_demanding_seconds_total", by="service"))),
          ("{{service}} objective", f"max by (service) ({on('surety_service_objective_ratio')})")),
]

HIS = 'customer="$customer"'
CONTRACT = "{{service}} {{contract}}"
CUSTOMER = [
    *(stat(title[0].upper() + title[1:], BITS, expression) for title, expression in rates_of("contract", HIS)),
    stat("Conformance, one hour", SHARE, conformance(HIS)),
    stat("Objective", SHARE, f"max({on('surety_contract_objective_ratio', HIS)})"),
    panel("Committed, offered and delivered", BITS, *rates_of("contract", HIS), wide=24, high=10),
    panel("Delivered IN", BITS, (CONTRACT, bits(rate("surety_contract_delivered_bytes_total", f"{IN},{HIS}", "service, contract")))),
    panel("Dropped by place", PACKETS, ("{{place}}", rate("surety_contract_dropped_packets_total", HIS, "place"))),
    panel("Violated share of the demanding seconds", SHARE, (f"{CONTRACT}, five minutes", on("contract:surety_missed:ratio5m", HIS)),
          (f"{CONTRACT}, an hour", on("contract:surety_missed:ratio1h", HIS)), (f"{CONTRACT}, allowed", f"1 - {on('surety_contract_objective_ratio', HIS)}")),
    panel("Held in input buffers", COUNT, (CONTRACT, on("surety_contract_held_packets", HIS))),
    panel("Interfaces", BITS, ("{{interface}} received", bits(rate("surety_interface_rx_bytes_total", HIS, "interface"))),
          ("{{interface}} sent", bits(rate("surety_interface_tx_bytes_total", HIS, "interface")))),
]

THIS = 'port=~"$port",queue=~"$queue",of=""'
PLACE = "instance, port, interface, queue"
QUEUE = "{{port}} {{interface}} {{queue}}"
FATES = {"early": "early_drops", "forced": "forced_drops", "overflow": "overflow_drops", "marked CE": "ecn_marks"}


def average(title, precedence, judged):
    thresholds = on("surety_queue_threshold_packets", f'{THIS},precedence="{judged}"')
    return panel(title, COUNT, (QUEUE, on("surety_queue_average_packets", f'{THIS},precedence="{precedence}"')), (f"{QUEUE} {{{{bound}}}}", thresholds))


def fates(precedence):
    return panel(f"{precedence.upper()} dropped or marked", PACKETS,
                 *((name, rate(f"surety_queue_{fate}_total", f'{THIS},precedence="{precedence}"')) for name, fate in FATES.items()))


SOJOURN = rate("surety_queue_sojourn_seconds_bucket", THIS, "le")
QUEUES = [
    average("RIO's average of IN packets, and its thresholds", "in", "in"),
    average("RIO's average of all packets, and its thresholds for OUT", "total", "out"),
    panel("Packets in the queue, and the limit", COUNT, (QUEUE, total("surety_queue_depth_packets", THIS, PLACE)),
          (f"{QUEUE} limit", f"max by ({PLACE}) ({on('surety_queue_limit_packets', THIS)})")),
    panel("Sent", BITS, (QUEUE + " {{precedence}}", bits(rate("surety_queue_departed_bytes_total", THIS, f"{PLACE}, precedence")))),
    fates("in"),
    fates("out"),
    panel("IN dropped of IN received", SHARE, (QUEUE, on("queue:surety_in_drops:ratio_rate1m", THIS))),
    panel("Sojourn time", SECONDS, *((name, f"histogram_quantile({q}, {SOJOURN})") for name, q in (("p50", 0.5), ("p99", 0.99)))),
    panel("Sojourn time, distribution", SECONDS, ("{{le}}", SOJOURN), kind="heatmap", wide=24),
]

SIGNALLING = [
    panel("Alpha: OUT rate as a share of the committed rate", SHARE, ("{{instance}} {{domain}}", on("surety_csa_alpha_ratio"))),
    panel("Most throttled paths: alpha", SHARE, ("{{path}} {{domain}}", f"bottomk(20, {on('surety_csa_path_alpha_ratio')})")),
    panel("Congested queues", COUNT, (QUEUE, on("surety_queue_congested", 'of=""') + " > 0")),
    panel("Throttled paths", COUNT, ("{{instance}}", on("surety_csa_paths"))),
    panel("Signals sent", PACKETS, ("{{result}}", rate("surety_csa_signals_total", 'direction="sent"', "result"))),
    panel("Signals received", PACKETS, ("{{result}}", rate("surety_csa_signals_total", 'direction="received"', "result") + " > 0")),
    panel("Aggregates: rate permitted to IN packets", BITS, ("{{aggregate}}", bits(on("surety_ard_tpr_bytes_per_second")))),
    panel("Aggregates: remarked OUT, dropped", PACKETS, ("{{aggregate}} remarked", rate("surety_ard_remarked_total", by="aggregate")),
          ("{{aggregate}} dropped", rate("surety_ard_dropped_total", by="aggregate"))),
]

EACH, EACH_PORT = "{{instance}}", "{{instance}} {{port}}"
CARRIES = "(surety_port_shape_bytes_per_second or surety_port_speed_bytes_per_second)"
MACHINE = [
    panel("Workers: busy share", SHARE, ("{{instance}} {{worker}}", on("worker:surety_busy:ratio1m"))),
    panel("Cycles per packet, by stage", COUNT,
          ("{{stage}}", share(rate("surety_stage_cycles_total", by="stage"), rate("surety_stage_packets_total", by="stage")))),
    panel("Packet buffers free", SHARE, (EACH, f"{on('surety_mempool_available')} / surety_mempool_size")),
    panel("Dropped before the router received them", PACKETS, (EACH_PORT, rate("surety_port_rx_missed_total", by="instance, port"))),
    panel("Flows of capacity", SHARE, (EACH, f"{total('surety_worker_flows', by='job, instance')} / on (job, instance) surety_flow_table_capacity")),
    panel("Forwarded as best effort instead of by service", PACKETS, ("{{reason}}", rate("surety_degraded_packets_total", by="reason"))),
    panel("Processor", SHARE, (EACH, rate("process_cpu_seconds_total", SURETY, "instance"))),
    panel("Memory", BYTES, (EACH, on("process_resident_memory_bytes", SURETY))),
    panel("Files open", COUNT, (EACH, on("process_open_fds", SURETY))),
    panel("Routes and neighbors", COUNT, ("{{instance}} routes", on("surety_routes")), ("{{instance}} neighbors", on("surety_neighbors")),
          ("{{instance}} routes without room", on("surety_routes_rejected"))),
    panel("Ports: sent of shape or speed", SHARE, (EACH_PORT, f"rate({on('surety_port_tx_bytes_total')}[$__rate_interval]) / {CARRIES}")),
    panel("Links up", COUNT, (EACH_PORT, on("surety_port_up"))),
    panel("Link changes in ten minutes", COUNT, (EACH_PORT, f"increase({on('surety_port_link_changes_total')}[10m])")),
    panel("Last reload", SECONDS, (EACH, on("surety_config_reload_seconds"))),
    panel("Reloads refused", COUNT, (EACH, on("surety_config_reload_failures_total"))),
    panel("Punted to the kernel", PACKETS, ("{{reason}}", rate("surety_punted_packets_total", by="reason"))),
    panel("Frames to the kernel that are limited (dropped)", PACKETS, ("{{class}}", rate("surety_kernel_frames_total", 'result="limited"', "class"))),
]

DEPTH = "surety_queue_depth_packets"
DASHBOARDS = {
    "overview": ("Overview", OVERVIEW, []),
    "customers": ("Customers", CUSTOMERS, []),
    "customer": ("One customer", CUSTOMER,
                 [variable("customer", f"label_values({on('surety_contract_committed_bytes_per_second')}, customer)", many=False)]),
    "queues": ("Queues", QUEUES, [variable("port", f"label_values({on(DEPTH)}, port)"),
                                  variable("queue", "label_values(" + on(DEPTH, 'port=~"$port"') + ", queue)")]),
    "signalling": ("Signalling", SIGNALLING, []),
    "machine": ("Machine", MACHINE, []),
}


def placed(panels):
    """From left to right, then below: Grafana's grid is 24 wide."""
    x = y = below = 0
    for number, p in enumerate(panels, 1):
        w, h = p["gridPos"]["w"], p["gridPos"]["h"]
        if x + w > 24:
            x, y = 0, below
        below = max(below, y + h)
        yield {"id": number, **p, "gridPos": {"x": x, "y": y, "w": w, "h": h}}
        x += w


def text(name):
    title, panels, variables = DASHBOARDS[name]
    frame = {"uid": f"surety-{name}", "title": f"Surety: {title}", "tags": ["surety"], "schemaVersion": 38, "version": 1, "refresh": "10s",
             "time": {"from": "now-1h", "to": "now"}, "templating": {"list": [ROUTER, *variables]},
             "links": [{"type": "dashboards", "tags": ["surety"], "title": "Surety", "asDropdown": False, "includeVars": True, "keepTime": True}]}
    lines = [f"  {json.dumps(p)}" for p in placed(panels)]
    return json.dumps(frame)[:-1] + ', "panels": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    for name in DASHBOARDS:
        (MADE / f"{name}.json").write_text(text(name))
