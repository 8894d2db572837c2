# SPDX-License-Identifier: BSD-3-Clause
"""A machine emulated by QEMU, with systemd, an IOMMU and PCI NICs, and the peers at the other ends of their cables."""
import collections
import contextlib
import itertools
import json
import os
import pathlib
import select
import shlex
import signal
import socket
import subprocess
import time

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(os.environ.get("MACHINE", ROOT / "build/machine")).resolve()  # the image, its key, the packages
FIRMWARE = pathlib.Path("/usr/share/OVMF")
BOOT = 400  # s: 60 on an idle machine
COMMAND = 300
Done = collections.namedtuple("Done", "status output")
BOOTED = []  # a line for each machine: what it is
_numbers = itertools.count(1)


def wait_for(condition, patience, failure, every=1):
    """The first true value of condition(); after `patience` seconds it fails and says failure()."""
    end = time.monotonic() + patience
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {patience} s: {failure()}"
        time.sleep(every)
    return value


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Peer:
    """A host at the other end of a NIC's cable: each frame is a datagram. It answers ARP for its address."""

    def __init__(self, address, mac):
        self.address, self.mac = address, mac
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        self.local, self.remote = self._socket.getsockname()[1], free_port(socket.SOCK_DGRAM)

    def send(self, frame):
        self._socket.sendto(bytes(frame), ("127.0.0.1", self.remote))

    def frames(self, seconds):
        """What arrives meanwhile, as scapy's Ether; questions for this peer's address are answered."""
        until = time.monotonic() + seconds
        while select.select([self._socket], [], [], max(0.0, until - time.monotonic()))[0]:
            frame = Ether(self._socket.recv(65536))
            if ARP in frame and frame[ARP].op == 1 and frame[ARP].pdst == self.address:
                self.send(Ether(dst=frame.src, src=self.mac) / ARP(op=2, hwsrc=self.mac, psrc=self.address, hwdst=frame[ARP].hwsrc,
                                                                   pdst=frame[ARP].psrc))
            yield frame

    def mac_of(self, address, patience=60):
        """The router's, by ARP."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            self.send(Ether(dst="ff:ff:ff:ff:ff:ff", src=self.mac) / ARP(hwsrc=self.mac, psrc=self.address, pdst=address))
            for frame in self.frames(1):
                if ARP in frame and frame[ARP].op == 2 and frame[ARP].psrc == address:
                    return frame.src
        raise AssertionError(f"no answer from {address} to {self.address} in {patience} s")

    def close(self):
        self._socket.close()


class Nic:
    """kind: a device of QEMU, with its options (`virtio-net-pci,mq=on`). bridge: the name of one of the Vm's, behind which all devices
    have one IOMMU group; otherwise the NIC has a root port of its own."""

    def __init__(self, kind, peer, mac=None, bridge=None):
        self.kind, self.peer, self.id, self.bridge = kind, peer, f"nic{next(_numbers)}", bridge
        self.mac = mac or f"52:54:00:00:00:{int(self.id[3:]) % 256:02x}"

    def arguments(self, slot):
        peer, port = self.peer, f"port-{self.id}"
        queues = ",iommu_platform=on,disable-legacy=on" if self.kind.startswith("virtio") else ""
        place = f"bus={self.bridge},addr=0x{slot:x}" if self.bridge else f"bus={port}"
        return ["-netdev", f"socket,id={self.id},udp=127.0.0.1:{peer.local},localaddr=127.0.0.1:{peer.remote}",
                *([] if self.bridge else ["-device", f"pcie-root-port,id={port},chassis={slot},addr=0x{slot:x}"]),
                "-device", f"{self.kind}{queues},id=device-{self.id},netdev={self.id},mac={self.mac},{place},romfile="]


class Vm:
    """`with Vm(directory, nics) as vm: vm("surety --version")`. Its disk lies over the image, which stays as it is; `power_cut()` ends
    the machine at once, and `boot()` starts it again from its disk. `more`: arguments of QEMU."""

    def __init__(self, directory, nics=(), memory=3584, image=HERE / "disk.raw", more=()):
        self.directory, self.nics, self.memory, self.more = pathlib.Path(directory), list(nics), memory, list(more)
        self.disk = self.directory / "disk.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(image), str(self.disk), "8G"], check=True)
        self.variables = self.directory / "variables.fd"
        self.variables.write_bytes((FIRMWARE / "OVMF_VARS_4M.fd").read_bytes())
        self.process, self.boots = None, 0

    def arguments(self):
        words = ["qemu-system-x86_64", "-machine", "q35,accel=tcg,kernel-irqchip=off", "-cpu", "max", "-smp", "2", "-m", str(self.memory),
                 "-nodefaults", "-display", "none", "-device", "intel-iommu,intremap=on,caching-mode=on",
                 "-serial", f"file:{self.console}", "-qmp", f"unix:{self.monitor},server=on,wait=off",
                 "-drive", f"if=pflash,format=raw,readonly=on,file={FIRMWARE}/OVMF_CODE_4M.fd",
                 "-drive", f"if=pflash,format=raw,file={self.variables}",
                 "-drive", f"if=none,id=disk,format=qcow2,file={self.disk}", "-device", "virtio-blk-pci,drive=disk,addr=0x2,bootindex=1",
                 "-netdev", f"user,id=ssh,hostfwd=tcp:127.0.0.1:{self.port}-:22", "-device", "e1000e,netdev=ssh,addr=0x3,romfile=",
                 "-device", "virtio-rng-pci,addr=0x4", *self.more]
        for number, bridge in enumerate(dict.fromkeys(nic.bridge for nic in self.nics if nic.bridge), 24):
            words += ["-device", f"pcie-pci-bridge,id={bridge},addr=0x{number:x}"]
        for slot, nic in enumerate(self.nics, 8):
            words += nic.arguments(slot)
        return words

    def boot(self, ready=True):
        """Powers it on; returns when SSH answers, after so many seconds."""
        self.boots += 1
        self.console, self.monitor = self.directory / f"console{self.boots}", self.directory / f"monitor{self.boots}"
        self.port = free_port(socket.SOCK_STREAM)
        began = time.monotonic()
        self.process = subprocess.Popen(self.arguments(), stdin=subprocess.DEVNULL)
        if ready:
            self.wait_for_ssh()
        return time.monotonic() - began

    def _greets(self):
        assert self.process.poll() is None, f"QEMU ended: {self.process.returncode}\n{self.said()}"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 2) as s:
            s.settimeout(5)
            return s.recv(4) == b"SSH-"
        return False

    def wait_for_ssh(self):
        wait_for(self._greets, BOOT, lambda: f"no SSH\n{self.said()}")

    def said(self):
        return self.console.read_text(errors="replace")[-4000:] if self.console.exists() else ""

    def _ssh(self, program, port_option):
        return [program, "-q", "-i", str(HERE / "key"), port_option, str(self.port), "-o", "StrictHostKeyChecking=no", "-o",
                "UserKnownHostsFile=/dev/null", "-o", "ControlMaster=auto", "-o", f"ControlPath={self.directory}/ssh{self.boots}", "-o",
                "ControlPersist=600", "-o", "ServerAliveInterval=20", "-o", "ConnectTimeout=20"]

    def __call__(self, command, check=True, patience=COMMAND):
        """What `command` prints there, both streams; its exit status is 0, or it is not looked at."""
        done = self.run(command, patience)
        assert not check or done.status == 0, f"`{command}`: exit status {done.status}\n{done.output}"
        return done.output

    def run(self, command, patience=COMMAND):
        ran = subprocess.run([*self._ssh("ssh", "-p"), "root@127.0.0.1", f"{command}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=patience)
        return Done(ran.returncode, ran.stdout.decode(errors="replace"))

    def start(self, command):
        """Without waiting for its end."""
        self(f"nohup sh -c {shlex.quote(command)} >/tmp/started 2>&1 & true")

    def put(self, *files, to="/root/"):
        subprocess.run([*self._ssh("scp", "-P"), *map(str, files), f"root@127.0.0.1:{to}"], check=True, timeout=COMMAND)

    def write(self, path, text):
        subprocess.run([*self._ssh("ssh", "-p"), "root@127.0.0.1", f"cat >{shlex.quote(path)}"], input=text.encode(), check=True,
                       timeout=COMMAND)

    def until(self, command, patience=120):
        """Until `command` succeeds there; returns what it prints."""
        tried = []

        def succeeds():
            tried[:] = [self.run(command)]
            return tried[0].status == 0
        wait_for(succeeds, patience, lambda: f"`{command}`: {tried[0].output}\n{self('journalctl -b -u surety -n 30', check=False)}")
        return tried[0].output

    def ask(self, execute, **arguments):
        """A command of QEMU's monitor protocol."""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.monitor))
            lines = s.makefile("rw")
            lines.readline()
            for words in ({"execute": "qmp_capabilities"}, {"execute": execute, "arguments": arguments}):
                lines.write(json.dumps(words) + "\n")
                lines.flush()
                while "event" in (answer := json.loads(lines.readline())):
                    pass
        assert "return" in answer, answer
        return answer["return"]

    def reboot(self):
        """As an operator does it, by SSH."""
        before = self("cat /proc/sys/kernel/random/boot_id")
        self.start("sleep 1; systemctl reboot")  # SSH would wait for an answer that does not come
        self._leave()
        self.boots += 1  # another control socket

        def booted():
            self.wait_for_ssh()
            with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
                return self("cat /proc/sys/kernel/random/boot_id", patience=20) != before
            return False
        wait_for(booted, BOOT, lambda: f"no other boot\n{self.said()}")

    def _leave(self):
        subprocess.run([*self._ssh("ssh", "-p"), "-O", "exit", "root@127.0.0.1"], stdin=subprocess.DEVNULL, capture_output=True)

    def power_cut(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._leave()

    def __enter__(self):
        seconds = self.boot()
        system = self(". /etc/os-release; echo $PRETTY_NAME, kernel $(uname -r), $(systemctl --version | sed -n '1s/ (.*//p'), "
                      "$(dpkg-query -W -f '${Package} ${Version}, ' surety 'librte-eal*')").strip(" ,\n")
        BOOTED.append(f"{system}; {', '.join(nic.kind.split(',')[0] for nic in self.nics)}; {seconds:.0f} s until SSH")
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.power_cut()


def udp(source, router_mac, destination, number, size=200, dscp=0):
    return (Ether(dst=router_mac, src=source.mac) / IP(src=source.address, dst=destination.address, tos=dscp << 2) /
            UDP(sport=40000, dport=50000) / Raw(number.to_bytes(4, "big") + bytes(size)))


def passed(source, router, destination, count=200):
    """How many of so many packets the router forwards; `router` is its address on the source's side. The first ones go before they count,
    until the router knows the destination's MAC address."""
    mac, got = source.mac_of(router), set()

    def collect(seconds):
        for _ in source.frames(0):
            pass
        for frame in destination.frames(seconds):
            if UDP in frame and frame[UDP].dport == 50000 and frame[IP].src == source.address:
                got.add(int.from_bytes(bytes(frame[UDP].payload)[:4], "big"))

    until = time.monotonic() + 30
    while not got and time.monotonic() < until:
        source.send(udp(source, mac, destination, count))
        collect(1)
    for first in range(0, count, 20):
        for number in range(first, first + 20):
            source.send(udp(source, mac, destination, number))
        collect(0.3)
    collect(1)
    return len(got - {count})
