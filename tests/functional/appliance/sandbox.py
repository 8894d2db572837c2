# SPDX-License-Identifier: BSD-3-Clause
"""What a unit's [Service] section does to a process, as far as it can be done without systemd: in a mount namespace of its own.

Sandbox(unit, call_sets()) says in `left_out` what cannot; enter() is for the manager, once; confine() for the service's process before exec.
"""
import collections
import contextlib
import ctypes
import os
import pathlib
import resource
import subprocess

libc = ctypes.CDLL(None, use_errno=True)
seccomp = ctypes.CDLL("libseccomp.so.2")
seccomp.seccomp_init.restype = ctypes.c_void_p
PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_NOATIME, MS_BIND, MS_REC, MS_RELATIME = 1, 2, 4, 8, 32, 1024, 4096, 1 << 14, 1 << 21
ALLOW, EPERM = 0x7FFF0000, 0x00050000 | 1
EQUAL, NOT_EQUAL, MASKED = 4, 1, 7
PROT_WRITE, PROT_EXEC = 2, 4
NAMESPACES = 0x7E020000 | 0x80  # CLONE_NEW*
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17, "AF_XDP": 44}
CAPABILITIES = {name: number for number, name in enumerate(
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST "
    "NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE "
    "SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM "
    "BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE".split())}
# Of no effect on the process, or not to be had without systemd.
OF_THE_MANAGER = {"Type", "NotifyAccess", "ExecStart", "ExecReload", "WatchdogSec", "TimeoutStartSec", "TimeoutStopSec", "Restart",
                  "RestartSec", "RestartSteps", "RestartMaxDelaySec", "RuntimeDirectoryPreserve", "SystemCallErrorNumber"}
APPLIED = {"RuntimeDirectory", "StateDirectory", "ConfigurationDirectory", "UnsetEnvironment", "UMask", "OOMScoreAdjust", "LimitMEMLOCK",
           "LimitNOFILE", "LimitCORE", "CapabilityBoundingSet", "NoNewPrivileges", "ProtectSystem", "ReadWritePaths", "ProtectHome",
           "TemporaryFileSystem", "PrivateMounts", "ProtectKernelModules", "ProtectKernelLogs", "ProtectControlGroups", "LockPersonality",
           "MemoryDenyWriteExecute", "RestrictNamespaces", "RestrictRealtime", "RestrictAddressFamilies", "SystemCallArchitectures",
           "SystemCallFilter", "CPUAffinity", "Environment"}


class Argument(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class Filter:
    def __init__(self, default):
        self.context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(default)))

    def rule(self, action, name, *arguments):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0 and seccomp.seccomp_rule_add_array(self.context, ctypes.c_uint32(action), number, len(arguments),
                                                          (Argument * len(arguments))(*arguments)) != 0:
            raise RuntimeError(f"no rule for {name}")

    def load(self):
        if seccomp.seccomp_load(self.context) != 0:
            raise RuntimeError("no system call filter")


def read(unit):
    """{section: {key: [value, ...]}}"""
    sections, section = collections.defaultdict(lambda: collections.defaultdict(list)), None
    for line in pathlib.Path(unit).read_text().splitlines():
        if line.startswith("["):
            section = sections[line.strip("[]")]
        elif line and not line.startswith("#"):
            key, value = line.split("=", 1)
            section[key].append(value)
    return sections


def call_sets():
    """{"@name": [call or "@name", ...]}, as this machine's systemd has them."""
    sets, current = {}, None
    for line in subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("@"):
            current = sets.setdefault(line.strip(), [])
        elif current is not None and line.startswith("    ") and not line.strip().startswith("#"):
            current.append(line.strip())
    return sets


def calls_of(words, sets):
    """The names that a SystemCallFilter= means."""
    names, waiting = {"execve"}, [*words, "@default"]
    while waiting:
        word = waiting.pop()
        if word.startswith("@"):
            waiting.extend(sets[word])
        else:
            names.add(word)
    return names


def mount(source, target, kind, flags, options=""):
    if libc.mount(source.encode(), str(target).encode(), kind.encode() if kind else None, flags, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"cannot mount {target}")


def mounts():
    """{path: flags that a remount has to keep}, the uppermost of each."""
    kept = {"nosuid": MS_NOSUID, "nodev": MS_NODEV, "noexec": MS_NOEXEC, "noatime": MS_NOATIME, "relatime": MS_RELATIME}
    found = {}
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        found[fields[4]] = sum(kept.get(word, 0) for word in fields[5].split(","))
    return found


class Sandbox:
    def __init__(self, unit, sets):
        self.service = read(unit)["Service"]
        self.left_out = sorted(set(self.service) - OF_THE_MANAGER - APPLIED)
        self.calls = calls_of(self.words("SystemCallFilter"), sets)

    def value(self, key, default=None):
        return self.service[key][-1] if key in self.service else default

    def on(self, key):
        return self.value(key) == "yes"

    def words(self, key):
        return [word for value in self.service.get(key, []) for word in value.split()]

    def environment(self):
        made = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **dict(word.split("=", 1) for word in self.words("Environment"))}
        for kind, place in (("Runtime", "/run"), ("State", "/var/lib"), ("Configuration", "/etc")):
            if directories := self.words(f"{kind}Directory"):
                made[f"{kind.upper()}_DIRECTORY"] = ":".join(f"{place}/{d}" for d in directories)
        return {k: v for k, v in made.items() if k not in self.words("UnsetEnvironment")}

    def enter(self):
        """The mounts. systemd makes them for each process of the service; here they are the manager's, too."""
        writable = [pathlib.Path(p.lstrip("-")) for p in self.words("ReadWritePaths")]
        for kind, place in (("Runtime", "/run"), ("State", "/var/lib"), ("Configuration", "/etc")):
            for name in self.words(f"{kind}Directory"):
                os.makedirs(f"{place}/{name}", 0o755, exist_ok=True)
                if kind != "Configuration":
                    writable.append(pathlib.Path(f"{place}/{name}"))
        for path, _, options in (word.partition(":") for word in self.words("TemporaryFileSystem")):
            mount("tmpfs", path, "tmpfs", 0, options)
            writable.append(pathlib.Path(path))
        hidden = (["/home", "/root", "/run/user"] if self.on("ProtectHome") else []) + \
            (["/usr/lib/modules"] if self.on("ProtectKernelModules") else [])
        for path in filter(os.path.isdir, hidden):
            mount("tmpfs", path, "tmpfs", MS_RDONLY, "mode=000")
        if self.on("ProtectKernelLogs") and os.path.exists("/dev/kmsg"):
            mount("/dev/null", "/dev/kmsg", None, MS_BIND)
        if self.value("ProtectSystem") == "strict":
            for path in writable:
                mount(str(path), path, None, MS_BIND | MS_REC)
            # Of the kernel's own file systems only what ProtectControlGroups= says.
            for path, flags in mounts().items():
                free = path.startswith(("/dev", "/proc", "/sys"))
                if self.on("ProtectControlGroups") and path.startswith("/sys/fs/cgroup"):
                    free = False
                if not free and not any(pathlib.Path(path).is_relative_to(w) for w in writable):
                    mount("", path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags)

    def confine(self):
        for key in ("MEMLOCK", "NOFILE", "CORE"):
            if value := self.value(f"Limit{key}"):
                what = getattr(resource, f"RLIMIT_{key}")
                limit, most = resource.RLIM_INFINITY if value == "infinity" else int(value), resource.getrlimit(what)[1]
                if most != resource.RLIM_INFINITY:  # a container may not raise it
                    limit = most if limit == resource.RLIM_INFINITY else min(limit, most)
                resource.setrlimit(what, (limit, limit))
        with contextlib.suppress(PermissionError):  # the same
            pathlib.Path("/proc/self/oom_score_adj").write_text(self.value("OOMScoreAdjust", "0"))
        first, last = self.value("CPUAffinity", "0-1023").split("-")
        os.sched_setaffinity(0, range(int(first), int(last) + 1))
        os.umask(int(self.value("UMask", "0022"), 8))
        kept = {CAPABILITIES[word.removeprefix("CAP_")] for word in self.words("CapabilityBoundingSet")}
        for capability in set(CAPABILITIES.values()) - kept:
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
        if self.on("NoNewPrivileges"):
            libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        self.filter_calls()

    def filter_calls(self):
        denied = Filter(ALLOW)
        if self.on("MemoryDenyWriteExecute"):
            denied.rule(EPERM, "mmap", Argument(2, MASKED, PROT_WRITE | PROT_EXEC, PROT_WRITE | PROT_EXEC))
            denied.rule(EPERM, "mprotect", Argument(2, MASKED, PROT_EXEC, PROT_EXEC))
            denied.rule(EPERM, "pkey_mprotect", Argument(2, MASKED, PROT_EXEC, PROT_EXEC))
        if self.on("RestrictNamespaces"):
            denied.rule(EPERM, "unshare")
            denied.rule(EPERM, "setns")
            for bit in (1 << n for n in range(32) if NAMESPACES >> n & 1):
                denied.rule(EPERM, "clone", Argument(0, MASKED, bit, bit))
        if self.on("RestrictRealtime"):
            for policy in (1, 2, 6):
                denied.rule(EPERM, "sched_setscheduler", Argument(1, EQUAL, policy, 0))
        if self.on("LockPersonality"):
            denied.rule(EPERM, "personality", Argument(0, NOT_EQUAL, 0, 0))
        allowed = Filter(EPERM)
        for name in sorted(self.calls - {"socket"}):
            allowed.rule(ALLOW, name)
        for family in self.words("RestrictAddressFamilies"):
            allowed.rule(ALLOW, "socket", Argument(0, EQUAL, FAMILIES[family], 0))
        denied.load()
        allowed.load()
