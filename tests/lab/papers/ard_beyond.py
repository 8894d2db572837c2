# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the ARD paper: two customers' agreements in one class, one of whom marks four times what it has bought."""
from .lab import Case
from .rows import Experiment, delivered, row

own = Case("ard-agreements")
TOGETHER = {"all": {"port": "up", "queue": "assured", "rate": "2400 kbit/s", "packet": "1000 B"}}
together = own.set({"routers.er.aggregates": TOGETHER})


def remarked(name):
    """Of the IN packets that came to the marker, in percent, dropped ones too."""
    def value(run):
        a = run.aggregate(name)
        return 100 * (a["remarked"] + a["dropped"]) / (a["passed_in"] + a["remarked"] + a["dropped"])
    return value


def in_part(run):
    """Of acme's packets as they arrive, in percent."""
    flows = run.flows("a#*")
    return 100 * sum(f["in_throughput_bps"] for f in flows) / sum(f["throughput_bps"] for f in flows)


AGREEMENTS = Experiment("ard-agreements", __doc__.splitlines()[0], [
    *(row(f"{name}: IN packets remarked or dropped", "%", remarked(name), own) for name in ("acme", "bolt")),
    row("one marker for both: IN packets remarked or dropped", "%", remarked("all"), together),
    *(row(f"{name}, {what} of acme's flows", unit, value, case)
      for name, case in (("a marker each", own), ("one marker", together), ("none", own.set({"routers.er.aggregates": None})))
      for what, unit, value in (("throughput", "kbit/s", delivered("a#*")), ("IN part", "%", in_part))),
], seeds=(20, 2), beyond=True)
