# SPDX-License-Identifier: BSD-3-Clause
"""Case D of CSA's Table 3 far away, with `out_from_backlog`: two routers and the kernel's Reno get what the lab gets."""
import json
import pathlib
import shutil
import statistics

import pytest

from border_core import BorderCore
from endpoint import Network
from namespaces import sh
from signalling_table import CASES, CONTRACTS, measure, rows

LAB = pathlib.Path(__file__).parents[2] / "build/release/bin/surety-lab"
SCENARIO = pathlib.Path(__file__).parents[1] / "lab/papers/scenarios/csa-scenario2.yaml"
pytestmark = [pytest.mark.alone("65 TCP connections"), pytest.mark.skipif(not shutil.which("iperf3"), reason="needs iperf3"),
              pytest.mark.long("100 s each; test_lab_papers.py has the lab's")]


def in_lab(rtt):
    """kbit/s and RoS of both classes."""
    counts = (f"hosts.{host}.times={n}" for host, n in zip(("af1", "af3", "be"), CASES["D"]))
    delays = (f"links.{link}.delay={rtt / 4:g} ms" for link in ("edge.up~core.assured", "plain.up~core.plain", "core.out~sink"))
    backlog = (f"routers.edge.services.{phb}.out_from_backlog=on" for phb in ("phb1", "phb3"))
    settings = (word for s in (*counts, *delays, *backlog) for word in ("--set", s))
    flows = json.loads(sh(LAB, "run", SCENARIO, "--json", "--seed", "1", *settings, timeout=600).stdout)["flows"]
    return [(statistics.fmean(f["delivered_bps"] for f in own) / 1000, 100 * statistics.fmean(f["ros"] for f in own))
            for own in ([f for f in flows if f["name"].startswith(name)] for name in ("af1#", "af3#"))]


@pytest.mark.parametrize("rtt", [130, 230])
def test_a_committed_rate_is_kept_far_away(rtt):
    with Network() as network:
        with BorderCore(backlog=True, contracts=CONTRACTS, apart=True, out_link=lambda *ends: network.impaired(*ends, "--delay", f"{rtt / 2}ms")) as lab:
            for host in (lab.af1, lab.af3, lab.be, lab.sink):
                host.namespace.run("sysctl", "-q", "net.ipv4.tcp_timestamps=0", "net.ipv4.tcp_sack=0")
            flows, seconds, *_ = measure(lab, "act", CASES["D"], 60, 30)
    for (name, _, kbps, ros), (lab_kbps, lab_ros) in zip(rows(flows, seconds, CASES["D"]), in_lab(rtt)):
        print(f"RTT {rtt} ms, {name}: {kbps:.1f} kbit/s, RoS {ros:.1f} %; in the lab {lab_kbps:.1f}, {lab_ros:.1f} %")
        assert kbps == pytest.approx(lab_kbps, rel=0.03) and ros == pytest.approx(lab_ros, abs=3) and ros >= 97, name
