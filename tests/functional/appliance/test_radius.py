# SPDX-License-Identifier: BSD-3-Clause
"""RADIUS: a real FreeRADIUS, to which radclient speaks as a BNG does, and a router. surety_radius_test.py has the sessions."""
import contextlib
import json
import pathlib
import shutil
import subprocess

import pytest

from harness import ROOT, SURETY, Namespace, wait_for
from managed import Managed

MODULES = pathlib.Path("/usr/lib/freeradius")
pytestmark = pytest.mark.skipif(not shutil.which("freeradius") or not shutil.which("radclient") or not (MODULES / "rlm_rest.so").exists(),
                                reason="needs freeradius, freeradius-rest and freeradius-utils")

PLANS = """include: subscribers/*.yaml
plans: {gold: {service: gold}, silver: {service: gold, shape: 5 Mbit/s}}
"""
SERVER = """
prefix = /usr
libdir = {modules}
logdir = {top}
run_dir = {top}
pidfile = {top}/radiusd.pid
log {{
  destination = stdout
}}
thread pool {{
  start_servers = 1
  max_servers = 4
  min_spare_servers = 1
  max_spare_servers = 2
}}
modules {{
  $INCLUDE {ours}/mods-surety
}}
client bng {{
  ipaddr = 127.0.0.1
  secret = testing123
}}
$INCLUDE {ours}/sites-surety
"""
SETTINGS = """
[router]
port = lan
name = {name}
interval = 0.1
state = {top}/sessions.json
[plans]
fast = gold
[rates]
10/50 = gold
[default]
plan = silver
"""


class Radius:
    """FreeRADIUS and the adapter in a namespace, beside a router."""

    def __init__(self, router):
        self.router, self.namespace = router, Namespace("radius")
        self.top = router.top / "radius"
        self.top.mkdir()
        (self.top / "radiusd.conf").write_text(SERVER.format(modules=MODULES, top=self.top, ours=ROOT / "deploy/radius/freeradius"))
        (self.top / "radius.ini").write_text(SETTINGS.format(name=router.name, top=self.top))
        self._processes = []

    def start(self, port, *command):
        """Until it listens on that port."""
        log = self.top / f"{pathlib.Path(command[0]).name}.log"
        with open(log, "a") as file:
            process = subprocess.Popen(self.namespace.command(*command), stdout=file, stderr=file, env=self.router.environment)
        self._processes.append(process)

        def listens():
            """it listens"""
            assert process.poll() is None, log.read_text()
            return self.namespace.run("ss", "-Hlunt", f"sport = :{port}").stdout
        wait_for(listens)
        return process

    def start_adapter(self):
        return self.start(9466, "/usr/bin/python3", ROOT / "deploy/radius/surety_radius.py", "--settings", self.top / "radius.ini", "--surety", SURETY)

    def say(self, kind, port=1813, tries=1, **attributes):
        """A request; whether it was answered."""
        lines = "".join(f'{key.replace("_", "-")} = "{value}"\n' for key, value in {"NAS_Identifier": "bng1", **attributes}.items())
        return self.namespace.run("radclient", "-r", tries, "-t", 2, f"127.0.0.1:{port}", kind, "testing123", input=lines, check=False).returncode == 0

    def account(self, status, user, session, **attributes):
        return self.say("acct", Acct_Status_Type=status, User_Name=user, Acct_Session_Id=session, **attributes)

    def __enter__(self):
        self.start(1813, "freeradius", "-f", "-l", "stdout", "-d", self.top)
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.kill()
            process.wait()
        self.namespace.remove()


@pytest.fixture
def router():
    with Managed() as managed:
        managed.write(managed.file, more=PLANS)
        yield managed.start()


@pytest.fixture
def radius(router):
    with contextlib.ExitStack() as stack:
        yield stack.enter_context(Radius(router))


def subscribers(router):
    return {row["name"]: (row["plan"], row["owner"], row["place"]) for row in json.loads(router.run("subscribers", "list", "--json").stdout)}


def test_a_bng_accounts_and_a_plan_is_changed(router, radius):
    def becomes(wanted):
        """The router has these subscribers."""
        wait_for(lambda: subscribers(router) == wanted)

    ann, bob = ("silver", "radius", "lan 10.1.0.7"), ("gold", "radius", "lan 10.1.0.8 2001:db8:8::/56")
    adapter = radius.start_adapter()
    assert radius.account("Start", "ann", "1", Framed_IP_Address="10.1.0.7")
    becomes({"ann": ann})
    assert radius.account("Start", "bob", "2", Framed_IP_Address="10.1.0.8", Delegated_IPv6_Prefix="2001:db8:8::/56",
                          WISPr_Bandwidth_Max_Up=10_000_000, WISPr_Bandwidth_Max_Down=50_000_000)
    becomes({"ann": ann, "bob": bob})
    assert radius.say("coa", 3799, User_Name="ann", Filter_Id="fast")
    ann = ("gold", *ann[1:])
    becomes({"ann": ann, "bob": bob})
    adapter.kill()
    adapter.wait()
    assert not radius.account("Stop", "bob", "2"), "not stored, so not answered"
    assert subscribers(router) == {"ann": ann, "bob": bob}
    radius.start_adapter()
    assert radius.account("Stop", "bob", "2") and radius.account("Stop", "bob", "2")
    becomes({"ann": ann})
    assert radius.account("Interim-Update", "ann", "1", Framed_IP_Address="10.1.0.7")
    assert radius.account("Start", "carl", "3", Framed_IP_Address="10.1.0.7")
    becomes({"carl": ("silver", "radius", "lan 10.1.0.7")})
    assert radius.say("disconnect", 3799, User_Name="carl")
    becomes({})
