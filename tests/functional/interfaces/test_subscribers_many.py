# SPDX-License-Identifier: BSD-3-Clause
"""Ten thousand subscribers come, change their plans and go beside iperf3, which loses nothing."""
import json
import time

import pytest

from edge import EdgeRouter
from harness import SURETY, law
from pair import Pair, ports

pytestmark = pytest.mark.long("a gigabyte of memory; test_interface_queues.py changes subscribers under load, test_subscriber_prefixes.py has their rates")

MANY = 10_000
YAML = ports() + """
include: subscribers/*.yaml
services:
  gold: {conditioner: police, rate: 200 Mbit/s, bucket: 500 kB}
  up: {conditioner: police, rate: 200 Mbit/s, bucket: 500 kB}
classify: [{match: {source: 10.1.0.1}, service: up}]
plans: {gold: {service: gold, shape: 50 Mbit/s}, silver: {service: gold, shape: 5 Mbit/s}}
dpdk: {hugepages: off, max_routes: 32768, mbufs: 300000}
"""
SECONDS = 20


def listed(plan, count=MANY):
    return json.dumps({f"c{n}": {"plan": plan, "port": "lan0", "prefixes": [f"10.9.{n // 256}.{n % 256}"]} for n in range(count)})


def test_an_import_of_ten_thousand_loses_no_packet_of_others():
    with Pair() as lab, EdgeRouter(lab.router, YAML) as router:
        lab.meet()
        server = lab.b.namespace.popen("iperf3", "-s", "-1", "-J")
        time.sleep(0.5)
        client = lab.a.namespace.popen("iperf3", "-c", "10.2.0.1", "-u", "-b", "20M", "-l", "1000", "-t", SECONDS, "-J")
        time.sleep(1)

        def subscribers(*words, given=None):
            began = time.monotonic()
            lab.router.run(SURETY, "subscribers", *words, "--name", router.name, input=given)
            print(f"{' '.join(words[:2])}: {time.monotonic() - began:.2f} s")
        subscribers("import", "-", given=listed("gold"))
        subscribers("import", "-", given=listed("silver"))
        subscribers("set", "c77", "plan=gold")
        subscribers("suspend", "c78")
        subscribers("import", "-", "--allow-removals", "100", given=listed("silver", 1))
        got = json.loads(client.communicate()[0])["end"]["sum"]
        server.communicate()
        # Two cores are short for a router, a change and iperf3: it does not always read its socket in time.
        unread = lab.b.namespace.run("nstat", "-asz", "UdpRcvbufErrors").stdout.split()[-2]
        assert got["packets"] > 0.9 * SECONDS * 2500 and got["lost_packets"] == float(unread)
        law(router.metrics())
        assert not sum(router.metrics().drops("lan0").values())
