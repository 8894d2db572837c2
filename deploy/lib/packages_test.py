# SPDX-License-Identifier: BSD-3-Clause
"""What the installation of packages leaves behind: no service that nobody asked for, and none taken away."""
import os
import pathlib
import subprocess

import pytest

PACKAGES_SH = pathlib.Path(__file__).resolve().parent / "packages.sh"
# Instead of Debian's: what is installed, and what the units look like at the moment of an installation.
DPKG_QUERY = """#!/bin/sh
for p in $INSTALLED; do printf 'installed=%s ' "$p"; done
"""
APT_GET = """#!/bin/sh
case "$*" in *install*) echo "$*" >>"$HERE/apt"; ls -l "$UNITS" >"$HERE/then" 2>/dev/null || : ;; esac
"""


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


class Machine:
    def __init__(self, here):
        self.here, self.units = here, here / "systemd"
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET)):
            (here / name).write_text(text)
            (here / name).chmod(0o755)

    def install(self, *packages, installed=()):
        script = f"""set -euo pipefail
say() {{ :; }}
. {PACKAGES_SH}
SYSTEMD_UNITS={self.units}
with_services_off() {{ "$@"; }}
install_packages {" ".join(packages)}"""
        subprocess.run(["bash", "-c", script], check=True, timeout=20, stdin=subprocess.DEVNULL,
                       env={"PATH": f"{self.here}:{os.environ['PATH']}", "INSTALLED": " ".join(installed), "HERE": str(self.here),
                            "UNITS": str(self.units)})

    def masked(self):
        return {p.name for p in self.units.glob("*") if p.is_symlink() and os.readlink(p) == "/dev/null"}


def test_new_services_are_masked_before_they_are_installed(machine):
    machine.install("frr", "jq", "keepalived", "prometheus")
    assert machine.masked() == {"frr.service", "keepalived.service", "prometheus.service"}
    assert (machine.here / "then").read_text().count("-> /dev/null") == 3


def test_what_was_installed_before_keeps_its_service(machine):
    machine.install("frr", "prometheus", installed=["frr"])
    assert machine.masked() == {"prometheus.service"}
    assert "frr" not in (machine.here / "apt").read_text()


def test_nothing_missing_touches_nothing(machine):
    machine.install("frr", "prometheus", installed=["frr", "prometheus"])
    assert not machine.units.exists() and not (machine.here / "apt").exists()


def test_a_unit_of_the_operators_own_stays(machine):
    machine.units.mkdir()
    (machine.units / "frr.service").write_text("[Unit]\n")
    machine.install("frr")
    assert (machine.units / "frr.service").read_text() == "[Unit]\n"
