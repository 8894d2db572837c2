# SPDX-License-Identifier: BSD-3-Clause
"""The verdict of deploy/try decides about contracts: its arithmetic, exactly."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import metrics  # noqa: E402
import verdict  # noqa: E402
from customers import Customer  # noqa: E402

GOLD = Customer("gold", 1, 8, "reno")  # 1,000,000 bytes a second
FIRST = verdict.Sample(100.0, {"gold": 5_000}, {"gold": 7_000}, {"gold": 0}, lost_in=3, seconds={"gold": (3, 2)})


def last(got, counted, met):
    return verdict.Sample(110.0, {"gold": 5_000 + got}, {"gold": 9_000}, {"gold": 0}, lost_in=3, seconds={"gold": (counted, met)})


@pytest.mark.parametrize("got, counted, met, share, kept", [
    (10_000_000, 10, 10, 1.0, True),
    (9_500_000, 10, 9, 0.95, True),  # just
    (9_499_999, 10, 10, 0.9499999, False),
    (12_000_000, 10, 8, 1.2, False),  # the rate alone is not the promise
    (10_000_000, 0, 0, 1.0, False),  # nothing was guaranteed: the contract took no packet
])
def test_promise(got, counted, met, share, kept):
    result = verdict.judge(GOLD, FIRST, last(got, counted, met))
    assert result.share == pytest.approx(share, abs=1e-12)
    assert (result.counted, result.met) == (counted, met)
    assert result.kept is kept


def test_a_payload_is_counted_as_the_packets_that_carried_it():
    assert verdict.ip_bytes(1448 * 7) == 1500 * 7


def test_lines():
    kept = verdict.Result("gold", 8, 8.93, 25, 25)
    broken = verdict.Result("gold", 8, 2.95, 24, 9)
    assert verdict.line(kept, True) == "gold: committed 8.00, delivered 8.93 Mbit/s (112%), conformance 100.00 %: conforms"
    assert verdict.line(broken, True) == "gold: committed 8.00, delivered 2.95 Mbit/s (37%), conformance 37.50 %: VIOLATED"
    assert verdict.line(verdict.Result("gold", 8, 2.95, 24, 24), True).endswith("conformance 100.00 %: BELOW THE RATE")
    assert verdict.line(broken, False) == "gold: committed 8.00, delivered 2.95 Mbit/s (37%): starved"
    assert verdict.line(kept, False) == "gold: committed 8.00, delivered 8.93 Mbit/s (112%): not starved"


def test_link_line_tells_a_busy_machine_and_losses():
    def carried(n):
        return verdict.Sample(110.0, {}, {}, {}, lost_in=5, carried=n)
    assert verdict.link_line(20, FIRST, carried(24_000_000), True) == "link: 19.20 of 20 Mbit/s carried, 2 IN packets dropped"
    assert verdict.link_line(20, FIRST, carried(12_500_000), False) == (
        "link: 10.00 of 20 Mbit/s carried; this machine was too busy to give the router its core, so repeat the trial")


def test_all_promises_or_none():
    kept, broken = verdict.Result("gold", 8, 8, 9, 9), verdict.Result("silver", 4, 1, 9, 0)
    assert verdict.shown([kept, kept], True)
    assert not verdict.shown([kept, broken], True)
    assert verdict.shown([broken, broken], False)
    assert not verdict.shown([kept, broken], False)


SCRAPED = """\
# HELP surety_drops_total Packets dropped
surety_service_delivered_bytes_total{service="gold",precedence="in"} 1500
surety_service_delivered_bytes_total{service="gold",precedence="out"} 30
surety_drops_total{port="wan",stage="queue",reason="early",group="policy"} 2
surety_drops_total{port="gold",stage="queue",reason="early",group="policy"} 1
surety_drops_total{port="gold",stage="condition",reason="buffer",group="policy"} 0
surety_queue_early_drops_total{port="wan",queue="assured",precedence="in"} 4
surety_queue_forced_drops_total{port="wan",queue="assured",precedence="out"} 9
surety_queue_overflow_drops_total{port="wan",queue="assured",precedence="in"} 1
surety_csa_alpha_ratio{domain="wan/assured/silver"} 0.1
surety_csa_alpha_ratio{domain="wan/assured/gold"} 0.2
surety_mempool_available 1e+05
"""


def test_metrics():
    m = metrics.Metrics(SCRAPED, 1.0)
    assert m.service_bytes("gold", "in") == 1500
    assert m.drops() == {"early": 3}
    assert m.lost_in_packets() == 5
    assert m.alpha("gold") == 0.2
    assert m.sum("surety_mempool_available") == 100_000
    assert metrics.Metrics("", 1.0).alpha("gold") is None
