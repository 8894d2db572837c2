# SPDX-License-Identifier: BSD-3-Clause
"""A machine with a wrong clock, NICs that share an IOMMU group or a MAC address, one without a driver of DPDK; then without hugepages,
with a full disk, a locked kernel, a disk that cannot be written; and the package removed."""
import re
import time

import pytest
from law import law
from test_life import metrics
from vm import Nic, Peer, Vm, passed

TWIN = "52:54:00:00:03:ff"
FILE = "/etc/surety/surety.yaml"
DRIVERS = "for d in /sys/bus/pci/devices/*; do case $(cat $d/class) in 0x02*) basename $(readlink $d/driver) ;; esac; done"


@pytest.fixture(scope="module")
def vm(tmp_path_factory):
    peers = [Peer(f"10.10.{n}.2", f"52:54:00:00:03:{n:02x}") for n in range(6)]
    nics = [Nic("e1000e", peers[0], mac=TWIN), Nic("e1000e", peers[1], mac=TWIN),  # ports p0, p1
            Nic("e1000", peers[2], bridge="pair"), Nic("e1000", peers[3], bridge="pair"),  # p2, p3
            Nic("e1000", peers[4], bridge="with-another"), Nic("rtl8139", peers[5], bridge="with-another")]  # p4, p5: DPDK drives the first alone
    with Vm(tmp_path_factory.mktemp("vm"), nics, memory=4096, more=["-rtc", "base=2001-02-03T04:05:06"]) as made:
        made.until("systemctl is-active surety")
        yield made


@pytest.fixture(scope="module")
def set_up(vm):
    """The output of setup; the router has its ports, by the MAC addresses of their NICs."""
    table = [(line.split()[0], line.split()[1], nic.mac) for line in vm("surety setup --dry-run").splitlines() for nic in vm.nics[1:] if nic.mac in line]
    said = vm("surety setup --yes")
    devices = re.findall(r"device: (\w+) ([\w:.]+)", vm(f"cat {FILE}"))
    ports = ""
    for n, nic in enumerate(vm.nics):
        # The first of the twins has the lower address.
        places = sorted((pci, name) for name, pci, mac in table if mac == nic.mac)
        place = places[min(n, len(places) - 1)]
        kind, device = next(found for found in devices if found[1] in place)
        ports += f"  p{n}: {{device: {kind} {device}, addresses: [10.10.{n}.1/24]}}\n"
    vm.write(FILE, f"version: 1\nrouter: {{name: surety}}\nports:\n{ports}")
    restart(vm)
    return said


def restart(vm):
    vm("systemctl restart surety")
    vm.until("surety show ports | grep -E 'p5 .* up'")


def forwards(vm, *ports):
    for port in ports or (0, 2, 4):
        left, right = (nic.peer for nic in vm.nics[port:port + 2])
        assert passed(left, f"10.10.{port}.1", right, 40) == 40, (port, vm("surety show ports; surety show drops", check=False))
    law(metrics(vm))


def test_a_wrong_clock_does_not_keep_it_from_starting(vm):
    assert int(vm("date +%s")) < time.time() - 86400  # systemd lets it be no earlier than its own build
    assert vm("systemctl is-system-running --wait", check=False).strip() == "running"


def test_a_group_is_given_to_dpdk_as_a_whole_or_not_at_all(vm, set_up):
    assert sorted(vm(DRIVERS).split()) == sorted(["e1000e", *["vfio-pci"] * 4, "e1000", "8139cp"]), set_up
    assert "is in the same IOMMU group and stays with the kernel: DPDK has no driver that replaces 8139cp" in set_up


def test_forwards_by_all_of_them(vm, set_up):
    forwards(vm)


def test_the_clock_is_set_while_it_forwards(vm, set_up):
    vm("date -s 2026-11-30")
    forwards(vm, 0)
    vm("date -s 2020-01-01")
    forwards(vm, 0)


def test_both_nics_of_one_mac_address_are_bound_at_the_boot(vm, set_up):
    vm.reboot()
    vm.until("surety show ports | grep -E 'p5 .* up'")
    forwards(vm)


def test_the_program_is_replaced(vm, set_up):
    process = vm("systemctl show -p MainPID surety")
    vm("surety upgrade")
    assert vm("systemctl show -p MainPID surety") != process
    forwards(vm)


def test_it_says_how_to_get_hugepages_and_starts_by_itself_then(vm, set_up):
    vm("systemctl stop surety; echo 0 >/proc/sys/vm/nr_hugepages")
    vm("systemctl start --no-block surety")
    said = vm.until("journalctl -u surety -o cat | grep 'a PCI device needs hugepages: 0 hugepages of 2 MB are free'")
    vm(re.search(r"`(echo \d+ > /proc/sys/vm/nr_hugepages)`", said)[1])
    vm.until("surety show ports | grep -E 'p5 .* up'")
    forwards(vm, 0)


@pytest.fixture
def fill(vm):
    """Fills the disk, again where somebody has made room."""
    def fill_again():
        vm("dd if=/dev/zero of=/var/filled bs=64k conv=notrunc oflag=append", check=False)
        assert vm("df --output=avail / | tail -1").strip() == "0"
    vm("journalctl --rotate --vacuum-size=1M; fallocate -l $(($(df --output=avail -B1 / | tail -1) * 9 / 10)) /var/filled")
    fill_again()
    yield fill_again
    vm("rm -f /var/filled")


def test_on_a_full_disk_it_starts_and_forwards(vm, set_up, fill):
    restart(vm)
    forwards(vm)
    before = vm(f"cat {FILE}")
    vm(f"sed 's,10.10.4.1/24,10.10.4.1/24; 10.11.4.1/24,; s/;/,/' {FILE} >/run/new.yaml")
    fill()
    refused = vm.run("surety apply /run/new.yaml")
    assert refused.status != 0 and "space" in refused.output, refused
    assert vm(f"cat {FILE}") == before
    vm("rm /var/filled")
    vm("surety apply /run/new.yaml")
    forwards(vm)


def test_a_locked_kernel_costs_nothing(vm, set_up):
    """As with Secure Boot (kernel_lockdown(7))."""
    vm("echo integrity >/sys/kernel/security/lockdown")
    restart(vm)
    forwards(vm)


def test_on_a_disk_that_cannot_be_written_it_starts_and_forwards(vm, set_up):
    vm("sync; echo u >/proc/sysrq-trigger")
    vm.until("! touch /root/written")
    restart(vm)
    forwards(vm)


def test_the_package_leaves_nothing_behind(vm, set_up):
    vm.power_cut()
    vm.boot()
    vm.until("surety show ports | grep -E 'p5 .* up'")
    vm("surety upgrade && systemctl stop surety && surety setup --undo && apt-get -y purge surety surety-common")
    assert vm("pgrep -a surety", check=False) == ""
    assert vm("ls -d /etc/surety /var/lib/surety /run/surety* /sys/fs/bpf/surety* 2>/dev/null", check=False) == ""
    assert vm("systemctl is-system-running --wait", check=False).strip() == "running"
