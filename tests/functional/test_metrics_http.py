# SPDX-License-Identifier: BSD-3-Clause
"""/metrics among those who should not have it: connections that say nothing, no password, no TLS."""
import json
import pathlib
import re
import signal
import socket

import pytest

from harness import Metrics, Router, sh, wait_for
from metrics import ADDRESS, scrape
from pair import Pair, ports
from router import within

NULL_PORTS = "ports:\n  p0: {device: null}\n  p1: {device: null}\n"
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: router\r\n\r\n"
LOGIN = "prometheus:correct-horse"


def opened(namespace, say=b"", source="127.0.0.1", window=None):
    """A connection to the router's /metrics that has said so much, and reads nothing."""
    s = namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
    if window:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
    s.settimeout(120)
    s.bind((source, 0))
    s.connect(ADDRESS)
    s.sendall(say)
    return s


def scraped_at_once(namespace):
    with within(1):
        assert scrape(namespace).select("surety_build_info")


def test_connections_that_say_nothing_keep_nobody_waiting(namespace):
    with Router(namespace, NULL_PORTS):
        held = [opened(namespace, REQUEST[:20]) for _ in range(50)]
        held += [opened(namespace, 20 * REQUEST, window=2048) for _ in range(10)]
        try:
            for _ in range(5):
                scraped_at_once(namespace)
            with within(20):
                assert held[0].recv(1) == b"", "nothing moves: closed by the router"
        finally:
            for s in held:
                s.close()


@pytest.mark.parametrize("listen", ["127.0.0.1:9464", "[::]:9464"])
def test_who_opens_many_loses_his_own(namespace, listen):
    with Router(namespace, NULL_PORTS + f'metrics: {{listen: "{listen}"}}\n'):
        ours = opened(namespace)
        others = [opened(namespace, REQUEST[:20], source="127.0.0.2") for _ in range(300)]
        try:
            ours.sendall(REQUEST)
            assert ours.recv(12) == b"HTTP/1.1 200"
            scraped_at_once(namespace)
            assert others[0].recv(1) == b""
        finally:
            for s in [ours, *others]:
                s.close()


class Guarded(Router):
    """With TLS and a password; each file in a directory of its own, beside that of the configuration."""

    def __init__(self, namespace, yaml=NULL_PORTS):
        super().__init__(namespace, yaml + 'metrics: {listen: "127.0.0.1:9464", tls: {cert_file: cert.pem/at, '
                         "key_file: key.pem/at}, password_file: password/at}\n")
        for name in ("cert.pem", "key.pem", "password"):
            self.file(name).parent.mkdir()
        self.certify("router.example")
        self.file("password").touch(0o600)
        self.file("password").write_text(LOGIN)

    def file(self, name):
        return self.path.parent / name / "at"

    def certify(self, name, days=1):
        sh("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", days, "-subj",
           f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", self.file("key.pem"), "-out", self.file("cert.pem"))
        self.file("key.pem").chmod(0o600)

    def curl(self, *options, name="router.example", scheme="https"):
        """(status, what came); status 0: no connection."""
        done = self.namespace.run("curl", "-s", "--max-time", "10", "--cacert", self.file("cert.pem"), "-w", "\n%{http_code}",
                                  "--connect-to", f"{name}:9464:127.0.0.1:9464", *options, f"{scheme}://{name}:9464/metrics",
                                  check=False)
        text, _, status = done.stdout.rpartition("\n")
        return int(status), text

    def metrics(self, login=LOGIN):
        status, text = self.curl("-u", login)
        if status != 200:
            raise ConnectionError(status)
        return Metrics(text)

    def reload(self, login, successful):
        before = self.stderr().count("the configuration is unchanged"), self.stderr().count("workers updated")
        self.process.send_signal(signal.SIGHUP)
        def told():
            """what became of the reload"""
            return (self.stderr().count("the configuration is unchanged"), self.stderr().count("workers updated")) == (
                before[0] + (not successful), before[1] + successful)
        wait_for(told)
        assert self.metrics(login).value("surety_config_last_reload_successful") == successful


def test_the_thread_that_serves_it_has_no_capability():
    """The one that a reload makes is as the one before it, though the thread that makes it has some."""
    with Pair() as pair, Guarded(pair.router, ports("af_packet")) as router:
        wait_for(lambda: "forwards between" in router.stderr())
        for login in (LOGIN, "prometheus:battery-staple"):
            router.file("password").write_text(login)
            router.reload(login, successful=True)
            for task in pathlib.Path(f"/proc/{router.process.pid}/task").iterdir():
                shown = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
                for kind in ("CapEff", "CapPrm", "CapInh"):
                    assert int(shown[kind], 16) == 0 or int(task.name) == router.process.pid, (login, shown["Name"], kind)


def test_tls_and_a_password(namespace):
    with Guarded(namespace) as router:
        assert "https://127.0.0.1:9464/metrics" in router.stderr()
        status, text = router.curl("-u", LOGIN)
        assert status == 200 and "\nsurety_build_info{" in text
        for wrong in ([], ["-u", "prometheus:wrong"], ["-u", "root:correct-horse"]):
            status, text = router.curl(*wrong)
            assert status == 401 and "surety_" not in text
        assert router.curl("-u", LOGIN, scheme="http")[0] == 0
        assert router.curl("-u", LOGIN, name="elsewhere.example")[0] == 0, "the certificate is for another name"

        router.file("password").write_text("prometheus:battery-staple\n")
        router.reload("prometheus:battery-staple", successful=True)
        assert router.curl("-u", LOGIN)[0] == 401
        old = router.file("key.pem").read_text()
        router.certify("router.example")
        router.reload("prometheus:battery-staple", successful=True)
        router.file("key.pem").write_text(old)
        router.reload("prometheus:battery-staple", successful=False)
        assert re.search(r"cert\.pem/at:1:1: error: not a TLS certificate for the key", router.stderr())
        for secret in ("correct-horse", "battery-staple", "wrong", *old.splitlines()[1:-1]):
            assert secret not in router.stderr()


def test_prometheus_scrapes_it(namespace, directory):
    (directory / "login").write_text(LOGIN.partition(":")[2])
    with Guarded(namespace) as router:
        (directory / "prometheus.yml").write_text(f"""
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: surety
    scheme: https
    tls_config: {{ca_file: {router.file("cert.pem")}, server_name: router.example}}
    basic_auth: {{username: prometheus, password_file: {directory}/login}}
    static_configs: [{{targets: ["127.0.0.1:9464"]}}]
""")
        server = namespace.start(["prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/tsdb",
                                  "--web.listen-address=127.0.0.1:9090"], directory / "log")
        try:
            def up():
                """Prometheus has scraped the router"""
                done = namespace.run("curl", "-s", "-m", "10", "127.0.0.1:9090/api/v1/query?query=up", check=False)
                found = json.loads(done.stdout)["data"]["result"] if done.returncode == 0 and done.stdout.startswith("{") else []
                return found and found[0]["value"][1] == "1"
            wait_for(up)
        finally:
            server.terminate()
            server.wait(120)


@pytest.mark.parametrize("name", ["password", "key.pem"])
def test_a_secret_that_all_may_read_does_not_start(namespace, name):
    router = Guarded(namespace)
    router.file(name).chmod(0o644)
    status, text = router.fails()
    assert status == 1
    assert f"{router.file(name)}:1:1: error: every user of this machine may read or change it" in text
