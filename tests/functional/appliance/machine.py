# SPDX-License-Identifier: BSD-3-Clause
"""Machines for `surety setup` and `surety doctor`: a tree of files, and a network namespace with /etc of its own."""
import contextlib
import os
import pathlib
import stat

from harness import SURETY, Namespace, sh

# A work directory for each: the kernel empties it as it mounts, and commands run beside each other.
LAID_OVER = 'work=$(mktemp -d -p "$0/work") && mount -t overlay overlay -o "lowerdir=/etc,upperdir=$0/etc,workdir=$work" /etc && exec "$@"'


def tree(root):
    """eth0 has the default route, eth1 and eth2 are free; programs answer, and are written down in commands/log."""
    def put(path, text):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for number, name in enumerate(("eth0", "eth1", "eth2")):
        pci = f"sys/bus/pci/devices/0000:0{number}:00.0"
        for path, text in {"class": "0x020000", "driver_override": "(null)"}.items():
            put(f"{pci}/{path}", text)
        (root / pci / "subsystem").symlink_to("/sys/bus/pci")
        (root / pci / "driver").symlink_to("/sys/bus/pci/drivers/ixgbe")
        for path, text in {"type": "1", "address": f"02:00:00:00:00:0{number}", "queues/rx-0/x": "", "flags": "0x1003", "carrier": "1"}.items():
            put(f"sys/class/net/{name}/{path}", text)
        (root / f"sys/class/net/{name}/device").symlink_to(f"/{pci}")
    put("sys/bus/pci/drivers/ixgbe/unbind", "")
    put("sys/devices/system/cpu/online", "0-3")
    put("sys/devices/system/node/node0/cpulist", "0-3")
    put("sys/devices/system/node/node0/meminfo", "Node 0 MemFree: 16000000 kB")
    put("sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "0")
    put("usr/sbin/update-grub", "")
    put("commands/update-grub", "")
    put("commands/ip_-j_-4_route_show_table_all", '[{"dst": "default", "dev": "eth0"}]')
    put("commands/ip_-j_-6_route_show_table_all", "[]")
    put("commands/ip_-j_link_show_type_veth", "[]")
    put("commands/ip_-j_address_show", "[]")
    put("etc/surety/surety.yaml", "version: 1\nports: {}\n")
    put("etc/hostname", "a machine\n")
    return root


def contents(root):
    """All files and modes, but what setup keeps and what was written down."""
    return {str(p.relative_to(root)): (p.read_text(), p.stat().st_mode) for p in root.rglob("*")
            if p.is_file() and not p.is_symlink() and p.name != "lock" and p != root / "commands/log"}


class Machine:
    """A namespace whose NICs are veths, with /etc laid over this machine's and a state directory."""

    def __init__(self, directory, nics=("eth1", "eth2", "eth3")):
        self.namespace, self.peer = Namespace("m"), Namespace("p")
        self.directory = pathlib.Path(directory)
        for name in ("etc", "work", "state"):
            (self.directory / name).mkdir()
        os.mknod(self.directory / "etc/frr", stat.S_IFCHR)  # this machine's is not there for it (overlayfs)
        for nic in nics:
            self.peer.ip("link", "add", nic, "type", "veth", "peer", "name", nic, "netns", self.namespace.name)
            self.peer.ip("link", "set", nic, "up")
            self.namespace.ip("link", "set", nic, "up")

    def command(self, *words):
        return self.namespace.command("sh", "-c", LAID_OVER, self.directory, *words)

    def surety(self, *arguments, check=False, **environment):
        kept = {k: v for k, v in os.environ.items() if k != "SSH_CONNECTION"}
        return sh(*self.command(SURETY, *arguments), check=check,
                  env={**kept, "SURETY_STATE": str(self.directory / "state"), **environment})

    def etc(self, name):
        return self.directory / "etc" / name

    def configure(self, text):
        self.etc("surety").mkdir(exist_ok=True)
        self.etc("surety/surety.yaml").write_text("version: 1\n" + text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for namespace in (self.namespace, self.peer):
            with contextlib.suppress(RuntimeError):
                namespace.remove()
