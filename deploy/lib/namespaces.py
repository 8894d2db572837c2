# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces, the veth pairs between them, and what runs inside: deploy/try's and the functional tests'.

What has no other name is called sf-<pid>-<number>-..., so that processes do not meet."""
import contextlib
import ctypes
import fcntl
import itertools
import os
import pathlib
import signal
import socket
import struct
import subprocess
import time

CLONE_NEWNET = 0x40000000
SIOCGIFHWADDR, SIOCGIFFLAGS, SIOCSIFFLAGS, SIOCETHTOOL = 0x8927, 0x8913, 0x8914, 0x8946
IFF_UP, MNT_DETACH = 1, 2
# An AF_XDP socket sees what the sender's stack left to a NIC: checksums not computed, segments of 64 kB. The commands of
# linux/ethtool.h that switch off the checksums of transmission (ETHTOOL_STXCSUM) and reception, scatter-gather, TSO, GSO,
# GRO; ETHTOOL_SFLAGS with none set switches off VLAN tags.
OFFLOADS = [0x17, 0x15, 0x19, 0x1f, 0x24, 0x2c, 0x26]
# Addresses are usable at once, and nothing talks unless it is told to: what multicast listeners report is over in a
# millisecond, not in two times up to one second that begin while a test looks on.
QUIET = ["net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0",
         "net.ipv6.conf.default.accept_ra=0", "net.ipv6.conf.default.router_solicitations=0",
         "net.ipv6.conf.default.mldv2_unsolicited_report_interval=1"]
PATIENCE = 60  # seconds
PREFERRED = -20  # nice

_numbers = itertools.count()
_libc = ctypes.CDLL(None, use_errno=True)


def sh(*command, check=True, timeout=PATIENCE, **options):
    """Runs a command; its failure shows what it said."""
    words = [str(c) for c in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, **options)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"`{' '.join(words)}` has not ended within {timeout} s") from None
    if check and done.returncode != 0:
        raise RuntimeError(f"`{' '.join(words)}` failed ({done.returncode}):\n{done.stdout}{done.stderr}".strip())
    return done


class Namespace:
    def __init__(self, label, prefix=None):
        self.name = f"{prefix or f'sf-{os.getpid()}-{next(_numbers)}'}-{label}"
        sh("ip", "netns", "add", self.name)
        self.set_up("lo")
        self.sysctl(*QUIET)

    @classmethod
    def called(cls, name):
        """One that another process has made."""
        found = cls.__new__(cls)
        found.name = name
        return found

    def command(self, *arguments):
        """Runs a program with this namespace's /sys, too."""
        return ["ip", "netns", "exec", self.name, *map(str, arguments)]

    def run(self, *command, **options):
        """A child inherits the namespace of the thread that starts it: one program instead of two. /sys is not the namespace's."""
        with self.entered():
            return sh(*command, **options)

    def popen(self, *command):
        """A process that goes on; its output is a pipe."""
        with self.entered():
            return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ip(self, *arguments, **options):
        return self.run("ip", *arguments, **options)

    def batch(self, *lines):
        """Several commands of ip(8), by one process; the first that fails ends it."""
        self.ip("-batch", "-", input="".join(f"{line}\n" for line in lines))

    def sysctl(self, *settings):
        """`name=value` each; /proc/sys/net is the one of the thread that opens it."""
        with self.entered():
            for name, value in (s.split("=") for s in settings):
                pathlib.Path("/proc/sys", *name.split(".")).write_text(value)

    def start(self, command, log):
        """A process of its own session (a Ctrl-C is for who started it, and he then ends it), its output in `log`."""
        with open(log, "ab") as out:
            return subprocess.Popen(self.command(*command), stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

    @contextlib.contextmanager
    def entered(self):
        """The calling thread is in this namespace; sockets made meanwhile stay there for good."""
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{self.name}") as there:
            _setns(there)
            try:
                yield
            finally:
                _setns(home)

    def socket(self, *arguments):
        with self.entered():
            return socket.socket(*arguments)

    def add_address(self, interface, address):
        self.batch(_address(interface, address))

    def configure(self, interface, addresses, gateways):
        """Addresses of an interface, and default routes."""
        lines = [*(_address(interface, a) for a in addresses), *(f"route add default via {g}" for g in gateways)]
        if lines:
            self.batch(*lines)

    def mac(self, interface):
        """By ioctl, because /sys shows the namespace of whoever mounted it."""
        with self.socket() as s:
            return fcntl.ioctl(s, SIOCGIFHWADDR, struct.pack("256s", interface.encode()))[18:24].hex(":")

    def set_up(self, interface):
        with self.socket() as s:
            flags, = struct.unpack_from("H", fcntl.ioctl(s, SIOCGIFFLAGS, struct.pack("40s", interface.encode())), 16)
            fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH22x", interface.encode(), flags | IFF_UP))

    def without_offloads(self, interface):
        with self.socket() as s:
            for command in OFFLOADS:
                off = ctypes.create_string_buffer(struct.pack("II", command, 0), 8)
                fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP16x", interface.encode(), ctypes.addressof(off)))

    def remove(self):
        """As `ip netns del` does."""
        path = f"/run/netns/{self.name}"
        _libc.umount2(path.encode(), MNT_DETACH)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _address(interface, address):
    return f"address add {address} dev {interface}{' nodad' if ':' in address else ''}"


def _setns(file):
    if _libc.setns(file.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def connect(a, a_interface, b, b_interface):
    """A veth pair without offloads: what is sent is what is on the wire."""
    sh("ip", "link", "add", a_interface, "netns", a.name, "type", "veth",
       "peer", "name", b_interface, "netns", b.name)
    for namespace, interface in ((a, a_interface), (b, b_interface)):
        namespace.without_offloads(interface)
        namespace.set_up(interface)


class Host:
    """A station behind one port of the router: its interface is `eth0`."""

    def __init__(self, label, router_namespace, port, addresses, gateways, prefix=None):
        self.namespace = Namespace(label, prefix)
        self.addresses = [a.split("/")[0] for a in addresses]
        connect(router_namespace, port, self.namespace, "eth0")
        self.namespace.configure("eth0", addresses, gateways)
        self.mac = self.namespace.mac("eth0")

    def reaches(self, address):
        """the host gets an answer to a ping; ping(8) gives up at the first neighbour that does not answer, which a busy machine has"""
        return self.namespace.run("ping", "-n", "-c", 1, "-i", 0.2, "-w", 20, address, check=False).returncode == 0

    def address(self, family):
        return next(a for a in self.addresses if (":" in a) == (family == 6))


def prefer(pid):
    """Before other programs on this machine, where that is allowed: a router is expected to have a core. Niceness alone is a share: whoever
    runs keeps the core for some milliseconds, once for each packet that wakes the other. For programs that sleep while nothing happens."""
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, PREFERRED)
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))
    if os.getsid(pid) == pid:
        prefer_session(pid, PREFERRED)


def prefer_session(pid, nice):
    """Where the kernel groups processes by session (sched_autogroup_enabled), niceness compares processes of one session only."""
    with contextlib.suppress(OSError):  # not allowed, or a kernel without groups
        pathlib.Path(f"/proc/{pid}/autogroup").write_text(str(nice))


def pids(name):
    return [int(p) for p in sh("ip", "netns", "pids", name).stdout.split()]


def end_processes(names, patience=10):
    """Everything inside the namespaces: asked to end, then ended. True when all of it did as asked."""
    deadline = time.monotonic() + patience
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for pid in (p for n in names for p in pids(n)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sign)
        while any(pids(n) for n in names) and (sign == signal.SIGKILL or time.monotonic() < deadline):
            time.sleep(0.05)
        if not any(pids(n) for n in names):
            return sign == signal.SIGTERM
    return False


def with_prefix(prefix):
    directory = pathlib.Path("/run/netns")
    return sorted(p.name for p in directory.glob(f"{prefix}-*")) if directory.exists() else []


def remove(prefix):
    """Ends what runs in the namespaces of that prefix and removes them, whoever left them; False if it had to be killed."""
    names = with_prefix(prefix)
    ended = not names or end_processes(names)
    for name in names:
        sh("ip", "netns", "delete", name)
    return ended
