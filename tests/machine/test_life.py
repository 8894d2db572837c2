# SPDX-License-Identifier: BSD-3-Clause
"""The life of one machine with NICs of three kinds: the image boots, `surety setup` takes what is free, it reboots and forwards."""
import re
import shlex

import pytest
from law import law
from metrics import Metrics
from vm import Nic, Peer, Vm, passed, wait_for

KINDS = ["e1000e", "virtio-net-pci,mq=on", "vmxnet3"]
NIC_ROW = re.compile(r"^(\S+)\s+(0000:\S+)\s+(\S+)\s.*?([0-9a-f:]{17})\s+(.*)$", re.M)
METRICS = r"exec 3<>/dev/tcp/127.0.0.1/9464 && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && sed '1,/^\r$/d' <&3"


def nics_of(text):
    """{MAC: (name, PCI address, driver, use)} of setup's table."""
    return {mac: (name, pci, driver, use) for name, pci, driver, mac, use in NIC_ROW.findall(text)}


def metrics(vm):
    return Metrics(vm(f"bash -c {shlex.quote(METRICS)}"))


@pytest.fixture(scope="module")
def vm(tmp_path_factory):
    peers = [Peer(f"10.10.{n}.2", f"52:54:00:00:01:{n:02x}") for n in range(2 * len(KINDS))]
    with Vm(tmp_path_factory.mktemp("vm"), [Nic(kind, peers[2 * k + end]) for k, kind in enumerate(KINDS) for end in (0, 1)]) as made:
        made.until("systemctl is-active surety")
        yield made


@pytest.fixture(scope="module")
def planned(vm):
    return vm("surety setup --dry-run")


@pytest.fixture(scope="module")
def set_up(vm, planned):
    """The output of setup."""
    said = vm("surety setup --yes")
    found = nics_of(planned)
    ports = "".join(f"  p{n}: {{device: pci {found[nic.mac][1]}, addresses: [10.10.{n}.1/24]}}\n" for n, nic in enumerate(vm.nics))
    vm.write("/etc/surety/surety.yaml", f"version: 1\nrouter: {{name: surety}}\nports:\n{ports}")
    vm("surety check /etc/surety/surety.yaml")
    return said


@pytest.fixture(scope="module")
def forwarding(vm, set_up):
    vm("update-grub")  # as after a new kernel
    vm.reboot()
    vm.until("surety show ports")
    return vm


def test_image_has_an_idle_router_and_a_console(vm):
    assert vm("cat /proc/cmdline").split("console=")[1:]
    assert vm("systemctl is-system-running --wait", check=False).strip() == "running"
    vm.until("systemctl is-active serial-getty@ttyS0")
    wait_for(lambda: "login:" in vm.said() and "surety setup" in vm.said(), 60, vm.said)
    assert vm("readlink /var/lib/dbus/machine-id").strip() == "/etc/machine-id"  # its own, made at the boot
    assert int(vm("df --output=size -B1G / | tail -1")) > 6  # of a disk of 8 GB; the image has 4
    vm("getent hosts deb.debian.org || resolvectl status | grep 10.0.2.3")
    assert "(none)" in vm("surety show ports")


def test_setup_never_takes_the_way_to_the_machine(vm, planned):
    found = nics_of(planned)
    name, _, driver, use = next(row for mac, row in found.items() if mac not in {nic.mac for nic in vm.nics})
    assert driver == "e1000e" and "never taken" in use
    assert all(found[nic.mac][3] == "free" for nic in vm.nics), planned


def test_setup_gives_the_nics_of_each_kind_to_dpdk(vm, planned, set_up):
    for nic in vm.nics:
        _, pci, _, _ = nics_of(planned)[nic.mac]
        assert vm(f"basename $(readlink /sys/bus/pci/devices/{pci}/driver)").strip() == "vfio-pci", f"{nic.kind}: {set_up}"


@pytest.mark.parametrize("pair", range(len(KINDS)), ids=KINDS)
def test_forwards_after_a_reboot_without_a_hand(forwarding, pair):
    left, right = (forwarding.nics[2 * pair + end].peer for end in (0, 1))
    assert passed(left, f"10.10.{2 * pair}.1", right) == 200
    assert passed(right, f"10.10.{2 * pair + 1}.1", left) == 200
    law(metrics(forwarding))


def test_no_error_is_logged(forwarding):
    said = forwarding("journalctl -b -u surety -o cat")
    assert "surety forwards between 6 ports" in said
    assert not re.search(r"EAL:|error|fail|cannot", said, re.I), said


def test_a_link_that_goes_down_and_up_is_logged_and_counted(forwarding):
    def changes():
        return metrics(forwarding).value("surety_port_link_changes_total", port="p0")
    before = changes()
    for up in (False, True):
        forwarding.ask("set_link", name=forwarding.nics[0].id, up=up)
        forwarding.until(f"journalctl -b -u surety -o cat | tail -1 | grep 'port p0: link {'up' if up else 'down'}'")
    # /metrics shows the last reading of the control thread, which comes after the event.
    wait_for(lambda: changes() == before + 2, 30, lambda: f"{before} changes before, {changes()} now")


def test_a_nic_that_is_unplugged_costs_no_other_its_port(forwarding):
    process = forwarding("systemctl show -p MainPID surety")
    forwarding.ask("device_del", id=f"device-{forwarding.nics[5].id}")
    forwarding.until("surety show ports | grep p5 | grep missing")
    assert passed(forwarding.nics[0].peer, "10.10.0.1", forwarding.nics[1].peer) == 200
    assert forwarding("systemctl show -p MainPID surety") == process


def test_a_nic_that_the_kernel_uses_costs_no_other_its_port(forwarding, planned):
    """As after a setup whose binding was lost."""
    pci = nics_of(planned)[forwarding.nics[3].mac][1]
    forwarding("systemctl stop surety")
    assert forwarding("systemctl show -p Result surety") == "Result=success\n"
    device = f"/sys/bus/pci/devices/{pci}"
    forwarding(f"echo >{device}/driver_override; echo {pci} >{device}/driver/unbind; echo {pci} >/sys/bus/pci/drivers_probe")
    forwarding("systemctl start surety")
    forwarding.until("surety show ports | grep p3 | grep missing")
    assert "the kernel uses PCI device" in forwarding("journalctl -b -u surety -o cat")
    assert passed(forwarding.nics[0].peer, "10.10.0.1", forwarding.nics[1].peer) == 200


def test_power_is_cut_while_it_forwards(forwarding):
    forwarding.power_cut()
    forwarding.boot()
    forwarding.until("surety show ports | grep p3 | grep up")
    left, right = (nic.peer for nic in forwarding.nics[:2])
    assert passed(left, "10.10.0.1", right) == 200


def test_undo_gives_all_back(forwarding, planned):
    forwarding("systemctl stop surety")
    assert forwarding("journalctl -b -u surety -o cat | grep -E 'PANIC|EAL:'", check=False) == ""
    assert "Undone." in forwarding("surety setup --undo")

    def drivers(text):
        return {mac: row[1:3] for mac, row in nics_of(text).items()}
    wait_for(lambda: drivers(forwarding("surety setup --dry-run")) == drivers(planned), 60, lambda: forwarding("surety setup --dry-run"))
