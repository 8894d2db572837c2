# SPDX-License-Identifier: BSD-3-Clause
"""Every alert once, by real routers and a real Prometheus: it fires while its cause is there, and goes away. The rules are those of
deploy/prometheus with durations divided (rules_text.py, tested in test_prometheus_rules.py), but for a promise that is missed, which is to be
known within a minute: that one is as it is."""
import re
import time

import pytest

from harness import wait_for
from prometheus import Prometheus
from rules_text import dashboards, rules
from troubles import TARGETS, Troubles

pytestmark = pytest.mark.alone("three routers of which one wants a whole core, and Prometheus")

ALERTS = rules("alert")
SHOWN = sorted({command for rule in ALERTS.values() for command in re.findall(r"`(surety show [^`]+)`", rule["annotations"]["description"])})
PATIENCE = 60  # s


# Of dashboards, what may find nothing here, and why.
EMPTY = {
    ("signalling", "Most throttled paths: alpha"): "takes a second router that signals with the right key: test_signalling.py",
    ("signalling", "Aggregates: rate permitted to IN packets"): "no aggregate is configured",
    ("signalling", "Aggregates: remarked OUT, dropped"): "no aggregate is configured",
}
VARIABLES = {"$__rate_interval": "5s", "$router": ".*", "$port": ".*", "$queue": ".*", "$customer": "lan0"}


def questions(dashboard):
    """(what it is for, expression, a label that the answer must have) of panels and variables."""
    asked = [(panel["title"], target["expr"], None) for panel in dashboard["panels"] for target in panel["targets"]]
    for variable in dashboard["templating"]["list"]:
        expression, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
        asked.append((variable["name"], expression, label))
    for title, expression, label in asked:
        for name, value in VARIABLES.items():
            expression = expression.replace(name, value)
        yield title, expression, label


class Story:
    """What Prometheus has said of which alert, and to which question."""

    def __init__(self, prometheus):
        self._prometheus = prometheus
        self.texts, self.seconds, self.left, self.unanswered = {}, {}, set(ALERTS), {}
        self.began = time.monotonic()

    def until(self, condition):
        """Waits, and goes on without it after a while: the tests say what is missing."""
        until = time.monotonic() + PATIENCE
        while not condition() and time.monotonic() < until:
            self._look()
            time.sleep(0.2)

    def _look(self):
        for alert in self._prometheus.alerts():
            name = alert["labels"]["alertname"]
            self.texts.setdefault(name, alert["annotations"])
            self.seconds.setdefault(name, time.monotonic() - self.began)

    def fires(self, alert):
        self.until(lambda: alert in self.texts)

    def ask(self):
        """All that dashboards ask."""
        for name, dashboard in dashboards().items():
            self.unanswered[name] = {(title, expression) for title, expression, label in questions(dashboard)
                                     if not any(label is None or labels.get(label) for labels, _ in self._prometheus.query(expression))}


@pytest.fixture(scope="module")
def story():
    with Troubles() as troubles, Prometheus(troubles.router, TARGETS) as prometheus:
        wait_for(lambda: len(prometheus.query("count_over_time(up[1m]) > 3")) == len(TARGETS))
        told = Story(prometheus)
        told.before = {alert["labels"]["alertname"] for alert in prometheus.alerts()}
        troubles.cause(told.fires)
        told.until(lambda: set(told.texts) == set(ALERTS))
        told.ask()
        told.commands = {command: troubles.edge.show(*command.split()[2:], check=False) for command in SHOWN}
        mended = time.monotonic()
        troubles.mend()
        told.until(lambda: not prometheus.alerts())
        told.left = {alert["labels"]["alertname"] for alert in prometheus.alerts()}
        print({name: round(seconds, 1) for name, seconds in told.seconds.items()}, f"gone {time.monotonic() - mended:.1f} s after the mending")
    return told


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_fires_and_goes_away(story, alert):
    assert alert in story.texts
    assert alert not in story.left


def test_a_missed_promise_is_known_within_a_minute(story):
    """Of a customer whose IN packets die in the queue behind his conditioner."""
    assert story.seconds["SuretyPromiseMissed"] < 60


def test_nothing_fires_before_its_cause(story):
    """What is sold shows in the configuration, and who is fed has no time from the start."""
    assert story.before <= {"SuretyOversold", "SuretyWorkerBusy"}


def test_its_texts_are_whole(story):
    for texts in story.texts.values():
        assert set(texts) == {"summary", "description"}
        assert not re.search(r"<no value>|<error|\{\{", " ".join(texts.values()))


@pytest.mark.parametrize("command", SHOWN)
def test_what_an_alert_advises_can_be_asked(story, command):
    done = story.commands[command]
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", dashboards())
def test_every_question_of_a_dashboard_finds_data(story, name):
    unanswered = {title for title, _ in story.unanswered[name]}
    assert unanswered == {title for dashboard, title in EMPTY if dashboard == name}, story.unanswered[name]
