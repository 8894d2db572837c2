# SPDX-License-Identifier: BSD-3-Clause
"""deploy/prometheus by promtool: its files, and each alert on series that it is for and on series that it is not."""
import collections
import re
import shutil

import pytest
import yaml

from harness import sh
from rules_text import FILES, PROMETHEUS, hurried, rules

pytestmark = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool (Debian package prometheus) is missing")

ALERTS = rules("alert")
JOB = 'job="surety",instance="r1:9464"'
H, DAY = 3600, 86400
# promtool evaluates all groups at one interval; of these it is a minute.
LEAST = {"SuretyObjectiveFastBurn": 60, "SuretyObjectiveSlowBurn": 60}


def promtool(*arguments):
    done = sh("promtool", *arguments, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def series(name, values, **labels):
    more = "".join(f',{key}="{value}"' for key, value in labels.items())
    return {"series": f"{name}{{{JOB}{more}}}", "values": values}


class Case:
    """Series, and of an alert how many fire at which second."""
    all = []

    def __init__(self, name, alert, inputs, counts, step=5):
        """`step`: seconds between scrapes."""
        self.name, self.alert, self.inputs, self.counts, self.step = name, alert, inputs, counts, step
        Case.all.append(self)

    def document(self):
        """As `promtool test rules` reads it."""
        checks = [{"expr": f'count(ALERTS{{alertname="{self.alert}",alertstate="firing"}}) or vector(0)', "eval_time": f"{at}s",
                   "exp_samples": [{"labels": "{}", "value": n}]} for at, n in self.counts.items()]
        return {"rule_files": [str(PROMETHEUS / f) for f in FILES], "evaluation_interval": f"{max(self.step, LEAST.get(self.alert, 0))}s",
                "tests": [{"name": self.name, "interval": f"{self.step}s", "input_series": self.inputs, "promql_expr_test": checks}]}


def contract(demanding, met, objective=None, **labels):
    names = {"customer": "acme", "service": "gold", "contract": "cpe7", **labels}
    more = [series("surety_contract_objective_ratio", f"{objective}x99999", **names)] if objective else []
    return [series("surety_contract_demanding_seconds_total", demanding, **names), series("surety_contract_met_seconds_total", met, **names)] + more


def gauge(name, values, alert, counts, **labels):
    Case(f"{name} {values}", alert, [series(name, values, **labels)], counts)


def promises():
    """Five minutes well, then as it is said; the text of `values`: start + step x times."""
    well = "0+5x60"
    Case("a customer's IN packets die, then no more", "SuretyPromiseMissed", contract("0+5x180", f"{well} 300+0x59 305+5x60"),
         {300: 0, 310: 0, 360: 1, 595: 1, 660: 0, 900: 0})
    Case("one second of ten", "SuretyPromiseMissed", contract("0+5x180", "0+4.5x180"), {60: 0, 300: 0, 900: 0})
    Case("who asks for nothing misses nothing", "SuretyPromiseMissed", contract(f"{well} 300+0x60", f"{well} 300+0x60"), {360: 0, 600: 0})
    Case("who stops to ask is not told any more", "SuretyPromiseMissed", contract("0+5x60 300+0x60", "0+0x120"), {300: 1, 360: 0})
    Case("the router restarts", "SuretyPromiseMissed", contract(f"{well} _x5 0+5x60", f"{well} _x5 0+5x60"), {310: 0, 330: 0, 345: 0, 600: 0})
    Case("it restarts while somebody misses his", "SuretyPromiseMissed", contract(f"{well} _x5 0+5x60", "0+0x60 _x5 0+0x60"), {300: 1, 400: 1})
    Case("six seconds that count, all of them missed", "SuretyPromiseMissed", contract(f"{well} 301+1x60", f"{well} 300+0x60"), {300: 0, 360: 1})
    names = {"customer": "acme", "service": "gold", "contract": "cpe7"}
    Case("OUT packets are lost below the rate", "SuretyHeldBack",
         [series("surety_contract_held_back_seconds_total", "0+0x60 0+4x120 480+0x120", **names)], {300: 0, 600: 1, 1290: 0})
    Case("now and then", "SuretyHeldBack", [series("surety_contract_held_back_seconds_total", "0+2x200", **names)], {900: 0})
    Case("of two, one", "SuretyPromiseMissed", contract("0+5x60", "0+0x60") + contract("0+5x60", "0+5x60", customer="globex"), {120: 1})
    strange = "a 'b' {{ c }} 😀 " + 1000 * "long"
    Case("his name is of no matter", "SuretyPromiseMissed", contract("0+5x60", "0+0x60", customer=strange), {120: 1})


def objectives():
    fast, slow = "SuretyObjectiveFastBurn", "SuretyObjectiveSlowBurn"
    fifth = contract("0+5x800", "0+4x480 1925+5x319", 0.99)  # 20 % missed for 40 minutes
    Case("a fifth missed of 99 %", fast, fifth, {240: 0, 1800: 1, 2400: 1, 2820: 0, 3900: 0})
    Case("which is no missed promise", "SuretyPromiseMissed", fifth, {1800: 0})
    Case("a tenth missed of 99 %", fast, contract("0+5x800", "0+4.5x800", 0.99), {1800: 0, 3900: 0})
    Case("all missed of an objective of a half", fast, contract("0+5x800", "0+0x800", 0.5), {900: 1})
    Case("any missed of 100 %", fast, contract("0+5x800", "0+4.9x800", 1.0), {900: 1})
    Case("nothing missed of 100 %", fast, contract("0+5x800", "0+5x800", 1.0), {900: 0, 3600: 0})
    Case("without an objective", fast, contract("0+5x800", "0+0x800"), {900: 0, 3600: 0})
    Case("who asked for four minutes", fast, contract("0+5x48 240+0x200", "0+0x300", 0.99), {300: 0, 900: 0})
    Case("the router restarts", fast, contract("0+5x120 _x5 0+5x120", "0+5x120 _x5 0+5x120", 0.99), {600: 0, 660: 0, 1200: 0})
    Case("a twentieth missed of 99 %", slow, contract("0+30x400", "0+28.5x400", 0.99), {240: 0, 7200: 1, 12000: 1}, step=30)
    Case("which is not fast", fast, contract("0+30x400", "0+28.5x400", 0.99), {7200: 0, 12000: 0}, step=30)
    Case("a hundredth missed of 99 %", slow, contract("0+30x400", "0+29.7x400", 0.99), {7200: 0, 12000: 0}, step=30)
    Case("mended", slow, contract("0+30x700", "0+28.5x400 11430+30x299", 0.99), {12000: 1, 12000 + 3 * H // 2: 0}, step=30)
    away = "0+30x240 _x2880"  # Prometheus, for a day; what was missed meanwhile nobody has seen
    for alert in (fast, slow, "SuretyPromiseMissed"):
        Case("Prometheus was away for a day", alert, contract(f"{away} 93600+30x120", f"{away} 7200+30x120", "0.99"),
             {7200 + DAY + 90: 0, 7200 + DAY + H: 0}, step=30)
    Case("and finds somebody who misses his", fast, contract(f"{away} 93600+30x120", f"{away} 7200+15x120", 0.99),
         {7200 + DAY: 0, 7200 + DAY + 900: 1}, step=30)


def queues():
    def queue(lost, kind="early", precedence="in", **labels):
        kinds = {k: lost if k == kind else "0+0x120" for k in ("early", "forced", "overflow")}
        where = {"port": "wan0", "queue": "assured", "precedence": precedence, **labels}
        return [series("surety_queue_arrivals_total", "0+500x120", **where),
                *(series(f"surety_queue_{k}_drops_total", values, **where) for k, values in kinds.items())]
    for kind in ("early", "forced", "overflow"):
        Case(f"IN, {kind}", "SuretyInDropped", queue("0+0x24 0+50x24 1200+0x72", kind), {120: 0, 240: 1, 400: 0})
    Case("OUT", "SuretyInDropped", queue("0+50x120", precedence="out"), {240: 0})
    Case("one of a thousand", "SuretyInDropped", queue("0+0.5x120"), {240: 0})
    Case("a template and its members", "SuretyInDropped", queue("0+50x120", interface="homes") + queue("0+50x120", interface="homes.5", of="homes"),
         {240: 1})
    Case("the router restarts", "SuretyInDropped", queue("9000+0x24 0+0x95"), {130: 0, 180: 0, 240: 0})
    where = {"port": "wan0", "interface": "", "group": "", "queue": "assured", "direction": "down"}
    for sold, fires in ((100, 0), (101, 1)):
        Case(f"{sold} of 100 sold", "SuretyOversold", [series("surety_sold_bytes_per_second", f"{sold}x60", **where),
                                                      series("surety_capacity_bytes_per_second", "100x60", **where)], {120: fires})


def machine():
    gauge("up", "1x12 0x12 1x12", "SuretyRouterDown", {60: 0, 70: 0, 90: 1, 130: 0})
    Case("another job", "SuretyRouterDown", [{"series": 'up{job="node"}', "values": "0x60"}], {120: 0})
    gauge("surety_port_rx_missed_total", "0x24 0+5x24 120x24", "SuretyRxMissed", {120: 0, 200: 1, 350: 0}, port="wan0")
    gauge("surety_port_rx_missed_total", "9000x24 0x24", "SuretyRxMissed", {130: 0, 200: 0}, port="wan0")
    for free, fires in ((1638, 1), (1639, 0)):
        Case(f"{free} buffers", "SuretyPoolLow", [series("surety_mempool_available", f"{free}x24"), series("surety_mempool_size", "16384x24")],
             {10: 0, 100: fires})
    gauge("surety_worker_busy_ratio", "0.5x24 1x36 0.5x24", "SuretyWorkerBusy", {120: 0, 180: 0, 270: 1, 360: 0}, worker="1")
    gauge("surety_config_last_reload_successful", "1x24 0x24 1x24", "SuretyReloadFailed", {120: 0, 150: 1, 260: 0})


def network():
    gauge("surety_port_up", "1x24 0x24 1x24", "SuretyLinkDown", {120: 0, 125: 0, 150: 1, 260: 0}, port="wan0")
    gauge("surety_port_link_changes_total", "0x24 0+1x12 12x240", "SuretyLinkFlapping", {120: 0, 180: 1, 900: 0}, port="wan0")
    gauge("surety_port_link_changes_total", "0x24 1x24 2x240", "SuretyLinkFlapping", {180: 0, 300: 0}, port="wan0")
    gauge("surety_port_link_changes_total", "9x24 _x6 0x240", "SuretyLinkFlapping", {180: 0, 300: 0}, port="wan0")
    gauge("surety_neighbors", "2x24 1x24 2x24", "SuretyNeighborsLost", {120: 0, 200: 1, 260: 0})
    gauge("surety_neighbors", "3x24 2x48", "SuretyNeighborsLost", {200: 0, 300: 0})
    gauge("surety_neighbors", "0x60", "SuretyNeighborsLost", {200: 0})
    gauge("surety_routes", "1000x24 799x24 1000x24", "SuretyRoutesLost", {120: 0, 200: 1, 260: 0})
    gauge("surety_routes", "1000x24 801x24", "SuretyRoutesLost", {200: 0})
    gauge("surety_routes", "1000x24 _x4 300 900 1000x60", "SuretyRoutesLost", {145: 0, 160: 0, 200: 0})
    for result, fires in (("stale", 1), ("forged", 1), ("unknown_key", 1), ("from_customer", 0), ("applied", 0)):
        gauge("surety_csa_signals_total", "0x24 0+5x24 120x24", "SuretySignalsRefused", {120: 0, 200: fires, 350: 0}, direction="received",
              result=result)
    gauge("surety_csa_signals_total", "9000x24 0x24", "SuretySignalsRefused", {130: 0, 200: 0}, direction="received", result="stale")


for section in (promises, objectives, queues, machine, network):
    section()


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_fires_when_it_should_and_only_then(alert, tmp_path):
    cases = [case for case in Case.all if case.alert == alert]
    counts = collections.Counter(bool(n) for case in cases for n in case.counts.values())
    assert counts[True] and counts[False]
    by_step = collections.defaultdict(list)
    for case in cases:
        by_step[case.step].append(case.document())
    for step, documents in by_step.items():
        together = {**documents[0], "tests": [test for document in documents for test in document["tests"]]}
        (tmp_path / f"{step}.yml").write_text(yaml.safe_dump(together))
        promtool("test", "rules", tmp_path / f"{step}.yml")


def test_rules_and_configurations_are_right():
    promtool("check", "rules", *(PROMETHEUS / f for f in FILES))
    promtool("check", "config", PROMETHEUS / "prometheus.yml")


def test_what_is_commented_out_is_right_too(tmp_path):
    """TLS, the password, the Alertmanager."""
    text = re.sub(r"^( *)# (?=(alerting|scheme|tls_config|basic_auth): )", r"\1", (PROMETHEUS / "prometheus.yml").read_text(), flags=re.M)
    assert set(yaml.safe_load(text)["scrape_configs"][0]) >= {"scheme", "tls_config", "basic_auth"} and "alerting" in yaml.safe_load(text)
    for file in FILES:
        shutil.copy(PROMETHEUS / file, tmp_path)
    (tmp_path / "prometheus.yml").write_text(text)
    promtool("check", "config", "--syntax-only", tmp_path / "prometheus.yml")


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_says_what_to_do(alert):
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"]["summary"] and re.search(r"`surety \w+", rule["annotations"]["description"])
    assert "$labels" not in "".join(re.findall(r"`[^`]*`", rule["annotations"]["description"])), "a name is not for a shell"


def test_rules_in_a_hurry_are_the_same_rules(tmp_path):
    """What test_alerts.py has Prometheus evaluate: but for durations nothing is another, and the promises are as they are."""
    def timeless(group):
        return re.sub(r"\[[\w:]+\]|(?<=increase1h > )\d+|'(for|interval)': '\w+'", "", str(group))
    for file in FILES:
        text = (PROMETHEUS / file).read_text()
        quick = hurried(text, 600, 4)
        (tmp_path / file).write_text(quick)
        promtool("check", "rules", tmp_path / file)
        for old, new in zip(yaml.safe_load(text)["groups"], yaml.safe_load(quick)["groups"], strict=True):
            assert timeless(old) == timeless(new) and (old == new) == (old["name"] == "surety-promises")
    text = "groups: [{name: g, interval: 1m, rules: [{alert: A, for: 1h, expr: 'f(x[1d:1h]) > g(y[5m]) and a_seconds:increase1h > 6000'}]}]"
    group = yaml.safe_load(hurried(text, 600, 4))["groups"][0]
    assert group == {"name": "g", "interval": "1s", "rules": [{"alert": "A", "for": "6s", "expr": "f(x[144s:6s]) > g(y[4s]) and a_seconds:increase1h > 10"}]}
