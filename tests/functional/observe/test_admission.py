# SPDX-License-Identifier: BSD-3-Clause
"""What is sold against what there is: told, or refused at the start and on a reload; in `show` and in the metrics."""
import json

from harness import SURETY, Router
from test_reload import Reloaded


def yaml(contracts, admission="refuse"):
    return f"""ports:
  lan0: {{device: null}}
  wan0: {{device: null, trust: core, shape: 10 Mbit/s, queues: uplink}}
admission: {admission}
queues:
  uplink:
    - {{name: assured, weight: 3, dscp: {{in: [AF11], out: [AF12]}}}}
    - {{name: rest}}
services:
  silver: {{conditioner: token-bucket, rate: 1 Mbit/s, bucket: 16 kB, mark: {{in: AF11, out: AF12}}}}
classify:
  - {{match: {{port: lan0}}, service: silver, per: source, contracts: {contracts}}}
"""


REFUSED = "rules up to here commit 8 Mbit/s in queue `assured` of port `wan0`, more than its guaranteed 7500 kbit/s"


def test_a_router_that_sells_too_much_does_not_start(namespace):
    router = Router(namespace, yaml(8))
    status, said = router.fails()
    assert status != 0
    assert ": error: " in said and REFUSED in said, said
    assert "- {match: {port: lan0}, service: silver" in said, "the line of the source"
    with Router(namespace, yaml(8, "warn")) as warned:
        assert REFUSED in warned.stderr()


def test_a_reload_that_sells_too_much_changes_nothing(namespace):
    with Reloaded(namespace, yaml(7)) as router:
        before = router.metrics()
        hash_of = lambda m: m.select("surety_build_info")[0][0]["config_hash"]  # noqa: E731
        assert before.value("surety_config_reload_failures_total") == 0
        assert not before.select("surety_config_reload_seconds"), "there was no reload"
        router.refuse(yaml(8), ": error: ", REFUSED)
        after = router.metrics()
        assert hash_of(after) == hash_of(before)
        assert after.value("surety_config_reload_failures_total") == 1
        assert after.value("surety_config_reload_seconds") > 0
        stamp = "surety_config_last_reload_timestamp_seconds"
        assert after.value(stamp) == before.value(stamp), "of what is in force"
        fewer = router.reload(yaml(3))
        assert fewer.value(stamp) > before.value(stamp)
        assert fewer.value("surety_sold_bytes_per_second", queue="assured") == 3 * 125_000


def test_show_and_metrics_say_the_same(namespace):
    with Router(namespace, yaml(8, "warn")) as router:
        queue = {"port": "wan0", "queue": "assured", "direction": "up"}
        m = router.metrics()
        assert m.value("surety_sold_bytes_per_second", **queue) == 1_000_000
        assert m.value("surety_capacity_bytes_per_second", **queue) == 937_500
        rows = json.loads(router.show("commitments", "--json").stdout)
        found, = [row for row in rows if queue.items() <= row.items()]
        assert (found["sold_bytes_per_second"], found["capacity_bytes_per_second"], found["oversold"]) == (1e6, 937_500, True)
        text = router.show("commitments").stdout
        assert "107 %" in text or "106.7 %" in text
        assert router.show("sold").stdout == text, "the alias"


def test_check_refuses_it_too(namespace, directory):
    path = directory / "router.yaml"
    path.write_text("version: 1\n" + yaml(8))
    done = namespace.run(SURETY, "check", path, check=False)
    assert done.returncode == 1
    assert REFUSED in done.stdout
    path.write_text("version: 1\n" + yaml(8, "warn"))
    assert "queue assured of port wan0  up         8 Mbit/s   7500 kbit/s  oversubscribed" in namespace.run(SURETY, "check", path).stdout
