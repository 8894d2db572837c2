# SPDX-License-Identifier: BSD-3-Clause
"""A Debian 12 with nothing else, and packages that come into it and go."""
import pathlib
import shutil
import subprocess

from harness import ROOT, sh

BASE = ROOT / "build/chroot/bookworm"  # kept: half a minute to make
ARCHIVES = ROOT / "build/chroot/archives"  # Debian's packages, once they are here
MIRROR = "http://deb.debian.org/debian"
# What apt and dpkg keep for themselves, and what is made of other files.
OF_DPKG = ("var/lib/dpkg/", "var/lib/apt/", "var/cache/", "var/log/", "etc/ld.so.cache", "run/", "tmp/", "root/", "proc", "sys", "dev/",
           "usr/share/info/dir", "var/lib/systemd/deb-systemd")
APT = ["apt-get", "-qq", "-y", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0", "-o", "Dpkg::Options::=--force-confold"]


def base():
    if not BASE.exists():
        new = BASE.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        sh("debootstrap", "--variant=minbase", "bookworm", new, MIRROR, timeout=600)
        new.rename(BASE)
    return BASE


class Chroot:
    def __init__(self, directory):
        self.root = pathlib.Path(directory)
        sh("cp", "-a", f"{base()}/.", self.root)
        ARCHIVES.mkdir(parents=True, exist_ok=True)
        (self.root / "packages").mkdir()
        self.run("apt-get", "-qq", "update")

    def run(self, *command, check=True, before="", timeout=300):
        """In there; `before`: a line of shell outside, first, in the mount namespace of this command alone ($R: the root)."""
        script = """set -e
            for d in proc sys dev; do mount --rbind /$d $R/$d; done
            mount -t tmpfs tmpfs $R/run; mount -t tmpfs tmpfs $R/tmp; mount --bind $A $R/var/cache/apt/archives
            """ + before + '\nexec chroot $R "$@"'
        # Without descriptors of ours, by which a killed dpkg's children could keep us waiting.
        return sh("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *command, check=check, timeout=timeout,
                  stdin=subprocess.DEVNULL,
                  env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive",
                       "LC_ALL": "C", "R": str(self.root), "A": str(ARCHIVES)})

    def put(self, debs):
        for deb in debs:
            shutil.copy(deb, self.root / "packages")
        return [f"/packages/{deb.name}" for deb in debs]

    def install(self, debs, **more):
        """By apt, their dependencies from the mirror."""
        return self.run(*APT, "--allow-downgrades", "install", *self.put(debs), **more)

    def unpack(self, debs, *before_dpkg, **more):
        """By dpkg alone: all that they need is there."""
        return self.run(*before_dpkg, "dpkg", "--force-confold", "-i", *self.put(debs), **more)

    def version(self, package):
        """Installed as a whole, or none."""
        said = self.run("dpkg-query", "-W", "-f=${db:Status-Status} ${Version}", package, check=False).stdout.split()
        return said[1] if said and said[0] == "installed" else None

    def files(self):
        """All that is not dpkg's own."""
        found = set()
        for path in self.root.rglob("*"):
            name = str(path.relative_to(self.root))
            if not name.startswith((*OF_DPKG, "packages")):
                found.add(name)
        return found
