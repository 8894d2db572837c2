# SPDX-License-Identifier: BSD-3-Clause
"""Every question of router/operate/observe/README.md's table of an operator's night is answered by the command that stands beside it."""
import re
import shlex
import threading

import pytest

from harness import ROOT, SURETY, Router, UdpSink, UdpSource, wait_for
from pair import Pair, ports

YAML = ports(wan="shape: 20 Mbit/s, queues: uplink") + """
queues:
  uplink:
    - name: assured
      dscp: {in: [AF11], out: [BE]}
      limit: 200 packets
      count: packets
      rio: {in: {min: 70, max: 120, pmax: 0.01}, out: {min: 10, max: 60, pmax: 0.2}}
services:
  silver: {conditioner: csa, alpha: {max: 0.4}, rate: 4 Mbit/s, in_bucket: 40 packets, out_bucket: 1 packets, mark: {in: AF11, out: BE}, objective: 99 %}
classify:
  - {match: {port: lan0}, service: silver, per: source}
metrics: {report: kept, top_flows: 5}
"""


def questions():
    text = (ROOT / "router/operate/observe/README.md").read_text()
    table = text[text.index("## An operator's night"):]
    rows = re.findall(r"^\| (.+\?) \| `surety (.+?)`", table, re.MULTILINE)
    assert len(rows) >= 15
    return rows


@pytest.fixture(scope="module")
def lab():
    with Pair() as pair:
        yield pair


@pytest.fixture(scope="module")
def router(lab, tmp_path_factory):
    with Router(lab.router, YAML, directory=tmp_path_factory.mktemp("night")) as running:
        lab.meet()
        with UdpSink(lab.b, "10.2.0.1", 5004), UdpSource(lab.a, "10.2.0.1", 5004) as source:
            stop = threading.Event()

            def send():
                while not stop.wait(0.004):  # 1 Mbit/s: a quarter of the rate, so that its seconds count
                    source.send(bytes(500))
            thread = threading.Thread(target=send)
            thread.start()
            running.until(lambda m: m.sum("surety_contract_demanding_seconds_total") > 2)
            yield running
            stop.set()
            thread.join()


@pytest.mark.parametrize("question,command", questions(), ids=[q for q, _ in questions()])
def test_is_answered(lab, router, directory, question, command):
    words = shlex.split(command.replace("FILE", str(directory / "file")).replace("CUSTOMER", "10.1.0.1").replace("EDGE", str(router.path)))
    if words[0] == "report":
        words += ["--directory", str(router.path.parent / "kept")]

    def answered():
        done = lab.router.run(SURETY, *words, check=False, timeout=120)
        return done if done.returncode == 0 else None
    done = wait_for(answered)
    written = [file.read_bytes() for file in directory.glob("file*")]
    assert done.stdout or any(written), f"{question}: {done.stderr}"
