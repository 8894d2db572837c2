# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces, the veth pairs between them, and what runs inside."""
import ctypes
import os
import pathlib
import signal
import subprocess
import threading
import time

CLONE_NEWNET = 0x40000000


def sh(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"`{' '.join(command)}` failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def create(name):
    sh("ip", "netns", "add", name)
    sh("ip", "-n", name, "link", "set", "lo", "up")


def offloads_off(namespace, interface):
    # An AF_XDP socket sees what the sender's stack left to a NIC: checksums not computed, segments of 64 kB.
    features = [word for f in ("tx", "rx", "tso", "gso", "gro") for word in (f, "off")]
    sh("ip", "netns", "exec", namespace, "ethtool", "-K", interface, *features)


def connect(router, interface, other, address, gateway):
    """A veth pair: `interface` in the router's namespace, eth0 with `address` in the other one."""
    sh("ip", "-n", router, "link", "add", interface, "type", "veth", "peer", "name", "eth0", "netns", other)
    sh("ip", "-n", other, "address", "add", f"{address}/24", "dev", "eth0")
    for namespace, name in ((router, interface), (other, "eth0")):
        offloads_off(namespace, name)
        sh("ip", "-n", namespace, "link", "set", name, "up")
    sh("ip", "-n", other, "route", "add", "default", "via", gateway)


def start(namespace, command, log):
    """A process of its own session (a Ctrl-C is for the trial, which then ends it), its output in `log`."""
    with open(log, "ab") as out:
        return subprocess.Popen(["ip", "netns", "exec", namespace, *command], stdin=subprocess.DEVNULL, stdout=out,
                                stderr=out, start_new_session=True)


def prefer(process):
    """Before other programs on this machine, where that is allowed: a router is expected to have a core."""
    try:
        os.setpriority(os.PRIO_PROCESS, process.pid, -20)
    except PermissionError:
        pass


def inside(namespace, action):
    """What `action()` returns when called inside the namespace; a thread of its own enters it."""
    result = []

    def enter():
        try:
            with open(f"/run/netns/{namespace}") as file:
                if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
                    raise OSError(ctypes.get_errno(), f"cannot enter namespace {namespace}")
            result.append((action(), None))
        except Exception as e:  # noqa: BLE001  handed over to the caller
            result.append((None, e))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    value, error = result[0]
    if error:
        raise error
    return value


def pids(name):
    return [int(p) for p in sh("ip", "netns", "pids", name).split()]


def end_processes(names, patience=10):
    """Everything inside the namespaces: asked to end, then ended. True when all of it did as asked."""
    names = [n for n in names if pathlib.Path(f"/run/netns/{n}").exists()]
    deadline = time.monotonic() + patience
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for pid in (p for n in names for p in pids(n)):
            try:
                os.kill(pid, sign)
            except ProcessLookupError:
                pass
        while any(pids(n) for n in names) and (sign == signal.SIGKILL or time.monotonic() < deadline):
            time.sleep(0.05)
        if not any(pids(n) for n in names):
            return sign == signal.SIGTERM
    return False


def remove(names):
    for name in names:
        if pathlib.Path(f"/run/netns/{name}").exists():
            sh("ip", "netns", "delete", name)


def with_prefix(prefix):
    directory = pathlib.Path("/run/netns")
    return sorted(p.name for p in directory.glob(f"{prefix}-*")) if directory.exists() else []
