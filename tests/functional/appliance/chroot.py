# SPDX-License-Identifier: BSD-3-Clause
"""A Debian of this machine's release with nothing else, and packages that come into it and go."""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import time

from harness import ROOT, sh

KEPT = ROOT / "build/chroot"  # from one run to the next
RELEASE = platform.freedesktop_os_release()["VERSION_CODENAME"]  # packages are for the release that they are made on
BASE = KEPT / RELEASE  # half a minute to make
ARCHIVES = KEPT / "archives"  # Debian's packages, once they are here
MIRROR = "http://deb.debian.org/debian"
LISTS_LAST = 24 * 3600  # seconds until Debian's lists of packages are fetched again
NAMES = ["surety", "surety-common", "surety-endpoint", "surety-lab"]
OLD, NEW = "0.1.0+1.old", "0.1.0+2.new"
# What apt and dpkg keep for themselves, what is made of other files, and what netbase leaves behind.
OF_DPKG = ("var/lib/dpkg/", "var/lib/apt/", "var/cache/", "var/log/", "etc/ld.so.cache", "etc/hosts", "run/", "tmp/", "root/", "proc", "sys", "dev/",
           "usr/share/info/dir", "var/lib/systemd/deb-systemd")
APT = ["apt-get", "-qq", "-y", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0", "-o", "Dpkg::Options::=--force-confold"]


@contextlib.contextmanager
def kept(name):
    """What other tests, and other runs, share: one makes it, the others wait."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with open(KEPT / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield KEPT / name


def base():
    with kept(BASE.name):
        if not BASE.exists():
            new = BASE.with_suffix(".new")
            shutil.rmtree(new, ignore_errors=True)
            sh("debootstrap", "--variant=minbase", RELEASE, new, MIRROR, timeout=600)
            new.rename(BASE)
        fetched = KEPT / "lists-fetched"
        if not fetched.exists() or time.time() - fetched.stat().st_mtime > LISTS_LAST:
            run_in(BASE, "apt-get", "-qq", "update")
            fetched.touch()
    return BASE


def build(to, version):
    """Packages of what build/release has. Compressed in no time: other programs than deploy/package's own have no part in it."""
    sh(ROOT / "deploy/package", "--from", ROOT / "build/release", "--version", version, "--to", to, timeout=600,
       env={**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "xz", "DPKG_DEB_COMPRESSOR_LEVEL": "0"})
    return sorted(to.glob(f"*_{version}_*.deb"))


def sources():
    """A digest of what packages are made of: every file of the tree and of build/release that is not a product of it, by size and time."""
    digest = hashlib.sha256()
    for top, names, files in os.walk(ROOT):
        names[:] = sorted(set(names) - ({"build", ".git", "__pycache__"} if top == str(ROOT) else {"__pycache__"}))
        for file in sorted(files):
            stat = os.stat(os.path.join(top, file))
            digest.update(f"{top}/{file} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    for file in sorted((ROOT / "build/release/bin").iterdir()):
        digest.update(f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}\n".encode())
    digest.update(sh("git", "-c", "safe.directory=*", "-C", ROOT, "rev-parse", "HEAD", check=False).stdout.encode())
    return digest.hexdigest()


def packages():
    """{version: [file, ...]}, built where the tree is another one than last time; the old ones are the new ones by another version."""
    with kept("packages") as directory:
        made_of, now = directory / "sources", sources()
        if not made_of.exists() or made_of.read_text() != now:
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            for deb in build(directory, NEW):
                tree = directory / "tree"
                sh("dpkg-deb", "--raw-extract", deb, tree)
                control = tree / "DEBIAN/control"
                control.write_text(control.read_text().replace(NEW, OLD))
                sh("dpkg-deb", "--build", "-Znone", tree, directory / deb.name.replace(NEW, OLD))
                shutil.rmtree(tree)
            made_of.write_text(now)
        return {version: sorted(directory.glob(f"*_{version}_*.deb")) for version in (OLD, NEW)}


def run_in(root, *command, check=True, before="", timeout=300):
    """In that system; `before`: a line of shell outside, first, in the mount namespace of this command alone ($R: the root)."""
    script = """set -e
        for d in proc sys dev; do mount --rbind /$d $R/$d; done
        mount -t tmpfs tmpfs $R/run; mount -t tmpfs tmpfs $R/tmp; mount --bind $A $R/var/cache/apt/archives
        """ + before + '\nexec chroot $R "$@"'
    ARCHIVES.mkdir(parents=True, exist_ok=True)
    # Without descriptors of ours, by which a killed dpkg's children could keep us waiting.
    return sh("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *command, check=check, timeout=timeout,
              stdin=subprocess.DEVNULL,
              env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive",
                   "LC_ALL": "C", "R": str(root), "A": str(ARCHIVES)})


class Chroot:
    """`with Chroot(directory) as chroot:`; laid over base(), in memory, where no fsync of dpkg's waits for a disk."""

    def __init__(self, directory):
        self._directory = pathlib.Path(directory)
        self.root = self._directory / "root"
        lower = base()
        sh("mount", "-t", "tmpfs", "tmpfs", self._directory)
        for name in ("root", "upper", "work"):
            (self._directory / name).mkdir()
        sh("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={lower},upperdir={self._directory}/upper,workdir={self._directory}/work", self.root)
        (self.root / "packages").mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for mounted in (self.root, self._directory):
            sh("umount", "--lazy", mounted)

    def run(self, *command, **more):
        return run_in(self.root, *command, **more)

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
