# SPDX-License-Identifier: BSD-3-Clause
"""Completion in bash and zsh, typed into the real shells beside a running router."""
import os
import time

import pytest

import shells
from harness import ROOT, SURETY, Router, sh
from pair import Pair, ports

YAML = ports("af_packet") + """
services: {gold: {conditioner: token-bucket, rate: 8 Mbit/s, bucket: 100 kB, mark: {in: AF11, out: AF12}}}
interfaces:
  acme-hq: {port: lan0, vlan: 7, addresses: [10.7.0.254/24], customer: acme}
queues:
  uplink:
    - {name: assured, dscp: {in: [AF11], out: [AF12]}, weight: 3, limit: 100 packets}
    - {name: rest, dscp: [BE], weight: 1, limit: 100 packets}
classify: [{match: {interface: acme-hq}, service: gold, per: rule}]
"""
SCRIPTS = ROOT / "deploy/completion"


@pytest.fixture(scope="module")
def router():
    with Pair() as lab, Router(lab.router, YAML.replace("trust: core", "trust: core, shape: 20 Mbit/s, queues: uplink")) as router:
        yield router


@pytest.fixture(scope="module", params=["bash", "zsh"])
def shell(request, router, tmp_path_factory):
    work = tmp_path_factory.mktemp("work")
    (work / "edge.yaml").touch()
    environment = {"PATH": f"{SURETY.parent}:{os.environ['PATH']}", "HOME": str(work)}
    enter = router.namespace.command("env", "-C", str(work))
    made = shells.bash(SCRIPTS / "surety.bash", enter, environment) if request.param == "bash" else shells.zsh(SCRIPTS, enter, environment)
    yield made
    made.close()


@pytest.mark.parametrize("line, becomes", {
    "surety cap": "surety capture ",
    "surety report --form": "surety report --format ",
    "surety report --format c": "surety report --format csv ",
    "surety show q": "surety show queues ",
    "surety show queues po": "surety show queues port=",
    "surety show queues port=w": "surety show queues port=wan0 ",
    "surety show queues name=ass": "surety show queues name=assured ",
    "surety show queues --sort lim": "surety show queues --sort limit ",
    "surety show contracts --customer ac": "surety show contracts --customer acme ",
    "surety capture la": "surety capture lan0 ",
    "surety capture drops x.pcapng --reason filt": "surety capture drops x.pcapng --reason filtered ",
    "surety explain acme": "surety explain acme-hq ",
    "surety explain lan0 source=10.1.0.1 destination_p": "surety explain lan0 source=10.1.0.1 destination_port=",
    "surety check ed": "surety check edge.yaml ",
    "surety-gtcp att": "surety-gtcp attach ",
    "surety-endpoint run --tol": "surety-endpoint run --tolerance ",
    "surety-lab run --report ed": "surety-lab run --report edge.yaml ",
}.items(), ids=lambda words: words if words.startswith("surety") and not words.endswith((" ", "=")) else "")
def test_tab_finishes_a_word(shell, line, becomes):
    assert asked(lambda: shell.complete(line), lambda said: said == becomes) == becomes


def asked(ask, expected, patience=10):
    """The answer to ask(), which is repeated until it is as expected: what a router has not named within 200 ms is not offered, so that nobody
    waits while typing, and a busy machine may not give it that."""
    until = time.monotonic() + patience
    while not expected(said := ask()) and time.monotonic() < until:
        pass
    return said


def test_names_of_running_routers(shell, router):
    assert router.name in asked(lambda: shell.every("surety show ports --name "), lambda said: router.name in said)


def test_all_that_a_word_may_be(shell):
    def words(line, expected):
        return {word.removeprefix("name=") for word in asked(lambda: shell.every(line), lambda said: len(said) >= len(expected))}

    for line, expected in (("surety show queues name=", {"assured", "rest"}), ("surety ", {"run", "check", "show", "report", "explain", "capture", "bench"}),
                           ("surety capture ", {"lan0", "wan0", "acme-hq", "acme", "drops"})):
        assert expected <= words(line, expected)


def test_nobody_waits_for_a_router_that_does_not_answer(router):
    sh("kill", "-STOP", router.process.pid)
    try:
        began = time.monotonic()
        done = sh(*router.namespace.command(SURETY, "complete", "show", "queues", "--name", router.name, "port="))
        took = time.monotonic() - began
    finally:
        sh("kill", "-CONT", router.process.pid)
    assert done.stdout == ""
    assert took < 1.2, "200 ms, and the program's start on a busy machine"


def test_without_a_router_words_are_offered_still():
    assert sh(SURETY, "complete", "show", "ports", "--name", "nobody", "port=").stdout == ""
    assert "queues" in sh(SURETY, "complete", "show", "").stdout.split()


def test_the_scripts_are_installed_under_every_programs_name(directory):
    for component in ("router", "endpoint", "lab"):
        sh("cmake", "--install", SURETY.parent.parent, "--component", component, "--prefix", directory)
    for name in ("surety", "surety-endpoint", "surety-gtcp", "surety-lab"):
        assert (directory / "share/bash-completion/completions" / name).exists()
        assert (directory / f"share/zsh/vendor-completions/_{name}").read_text().startswith("#compdef")
