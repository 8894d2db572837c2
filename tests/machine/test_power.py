# SPDX-License-Identifier: BSD-3-Clause
"""The power is cut at random instants of what changes a machine: it comes up with one whole configuration, forwards, and SSH stays."""
import random
import time

import pytest
from vm import HERE, Nic, Peer, Vm, passed

CUTS = 6  # of each step
SEED = 20261129
FILE = "/etc/surety/surety.yaml"
# What the power is cut in; before it, and after it has ended by itself.
STEPS = {
    "install": ("true", "dpkg -i /root/surety*.deb", "dpkg --configure -a; dpkg -i /root/surety*.deb"),
    "setup": ("systemctl stop surety && surety setup --undo", "surety setup --yes", f"surety setup --yes && cp /root/a.yaml {FILE}"),
    "apply": ("surety apply /root/a.yaml", "surety apply /root/b.yaml", "true"),
    "upgrade": ("true", "surety upgrade", "true"),
    "rollback": ("surety apply /root/b.yaml", "surety rollback", "true"),
}
pytestmark = pytest.mark.long("a boot for each of thirty cuts; test_life.py has one")


def configuration(first, more):
    """The ports of setup's first configuration with addresses; `more`: a second one for each."""
    ports = [line.replace("}", f", addresses: [10.10.{n}.1/24" + (f", 10.9.{n}.1/24]}}" if more else "]}"))
             for n, line in enumerate(line for line in first.splitlines() if "device:" in line)]
    return "version: 1\nrouter: {name: surety}\nports:\n" + "\n".join(ports) + "\n"


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """It forwards by a.yaml; and the texts of all its configurations."""
    with Vm(tmp_path_factory.mktemp("vm"), [Nic("e1000e", Peer(f"10.10.{n}.2", f"52:54:00:00:02:{n:02x}")) for n in range(2)]) as vm:
        vm.put(*sorted((HERE / "packages").glob("surety[-_][0-9c]*.deb")))
        texts = {"package's": vm(f"cat {FILE}")}
        vm("surety setup --yes")
        texts["setup's"] = vm(f"cat {FILE}")
        for name in "a", "b":
            texts[name] = configuration(texts["setup's"], name == "b")
            vm.write(f"/root/{name}.yaml", texts[name])
        vm(f"cp /root/a.yaml {FILE} && systemctl restart surety")
        vm.until("surety show ports | grep p1")
        yield vm, texts


@pytest.mark.parametrize("step", STEPS)
def test_power_is_cut_in_a_change(machine, step):
    vm, texts = machine
    before, during, after = STEPS[step]
    vm(before, check=False)
    began = time.monotonic()
    vm(during)
    duration = time.monotonic() - began
    if step == "setup":
        vm(after)
        vm("systemctl restart surety")
    vm.until("surety show router")
    chance = random.Random(f"{SEED} {step}")
    for cut in range(CUTS):
        vm(before, check=False)
        vm.start(during)
        at = chance.uniform(0, duration)
        time.sleep(at)
        vm.power_cut()
        vm.boot()
        said = f"cut {cut + 1}: {step}, after {at:.1f} of {duration:.1f} s"
        found = next((name for name, text in texts.items() if text == vm(f"cat {FILE}")), None)
        assert found in (("package's", "setup's", "a", "b") if step == "setup" else ("a", "b")), f"{said}: {vm(f'cat {FILE}')}"
        print(said, "came up with", found)
        if step == "setup":
            vm(after)
            vm("systemctl restart surety")
        vm.until("surety show ports | grep p1")
        assert passed(vm.nics[0].peer, "10.10.0.1", vm.nics[1].peer, 40) == 40, said
        if step != "setup":
            vm(after)
