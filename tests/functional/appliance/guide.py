# SPDX-License-Identifier: BSD-3-Clause
"""A page of deploy/guide as a reader follows it: block by block, by copy and paste, on a machine of its own.

What a fence says: `sh` is pasted into a shell; `yaml` whose first line is `# /a/path` is written there; `text` is what the commands before
it print, `...` standing for anything. A comment before a block says what a reader sees by himself:
  <!-- not here: why -->       what this machine cannot do; its syntax is looked at
  <!-- wait: words -->         after the block, until what runs in the background has said them
  <!-- exit status: 1 -->      of the block's last command; all others succeed
"""
import os
import re
import shutil
import signal
import subprocess
import time

import vlan_devices
from harness import ROOT, SURETY, sh
from namespaces import PREFERRED, prefer_session

GUIDE = ROOT / "deploy/guide"
BUILD = SURETY.parent.parent
PATIENCE = 120
# Nothing of the real one is touched: network, processes, /etc, /run and /var are its own, memory is not to be had; the product's files are
# where packages put them.
MACHINE = """
set -e
mount --make-rprivate /
for tree in usr etc var; do
  mount -t overlay overlay -o "lowerdir=/$tree,upperdir=$1/$tree,workdir=$1/work-$tree" "/$tree"
done
mount -t tmpfs run /run
mount -t tmpfs root /root
mount -t sysfs -o ro sysfs /sys
mount -t bpf bpf /sys/fs/bpf
mount --bind -o ro /proc/sys/vm /proc/sys/vm
mount -o remount,bind,ro /proc/sys/vm
rm -rf /var/lib/prometheus /etc/prometheus/*
mkdir -p /run/surety /run/lock /etc/surety /var/lib/surety /var/lib/prometheus /etc/prometheus
ip link set lo up
cd /root
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb bash --noprofile --norc "$2"
"""
# Reads paths of files and pastes them; says the exit status of each, and which command failed.
READER = """
trap 'case $BASH_COMMAND in source*) ;; *) failed+=("$BASH_COMMAND: exit status $?") ;; esac' ERR
while read -r -u 9 block; do
  failed=()
  source "$block" >"$block.out" 2>&1 9<&-
  status=$?
  printf '%s\\n' "status $status" "${failed[@]}" >"$block.done.new"
  mv "$block.done.new" "$block.done"
done 9<"$0.pipe"
"""


class Block:
    def __init__(self, page, line, kind, text, said):
        self.page, self.line, self.kind, self.text, self.said = page, line, kind, text, said

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def file(self):
        found = re.match(r"# (/\S+)\n", self.text)
        return found and found[1]


def blocks(page):
    """In their order, each with what the comments before it say."""
    found, said, inside = [], {}, None
    for number, line in enumerate((GUIDE / page).read_text().splitlines(), 1):
        if fence := re.match(r"```(\w*)$", line):
            if inside is None:
                inside, start, lines = fence[1], number + 1, []
            else:
                found.append(Block(page, start, inside, "".join(lines), said))
                inside, said = None, {}
        elif inside is not None:
            lines.append(line + "\n")
        elif comment := re.match(r"<!-- ([\w ]+): (.*) -->$", line):
            said.setdefault(comment[1], []).append(comment[2])
    assert inside is None, f"{page}: a block has no end"
    return found


def matches(expected, printed):
    """Whether what was printed is what the page shows, but for blanks: `...` in a line is anything in that line, alone any lines."""
    def lines(text):
        return [" ".join(line.split()) for line in text.strip().splitlines()]

    def any_text(line):
        words = re.escape(line).replace(r"\ \.\.\.\ ", " (?:.* )?").replace(r"\.\.\.\ ", "(?:.* )?").replace(r"\ \.\.\.", "(?: .*)?")
        return words.replace(r"\.\.\.", ".*?") + r"\n"
    parts = (r"(?:.*\n)*?" if line == "..." else any_text(line) for line in lines(expected))
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in lines(printed))) is not None


class Machine:
    """`with Machine(directory) as machine: machine.follow("01-first-hour.md")`"""

    def __init__(self, directory):
        self.directory, self.count, self.skipped = directory, 0, []

    def __enter__(self):
        base = self.directory / "machine"
        for tree in ("usr", "etc", "var"):
            (base / tree).mkdir(parents=True)
            (base / f"work-{tree}").mkdir()
        # Empty from the start: routers of other tests write to the real one, and it could not be removed meanwhile.
        (base / "var/lib/surety").mkdir(parents=True)
        os.setxattr(base / "var/lib/surety", "trusted.overlay.opaque", b"y")
        self._install(base)
        self.blocks = self.directory / "blocks"
        self.blocks.mkdir()
        reader = self.blocks / "reader"
        reader.write_text(READER)
        os.mkfifo(f"{reader}.pipe")
        # Before what else the machine does: nobody measures rates on a router that does not get its turn.
        self.process = subprocess.Popen(["nice", "-n", "-10", "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", MACHINE,
                                         "machine", str(base), str(reader)], start_new_session=True)
        prefer_session(self.process.pid, PREFERRED)
        self.pipe = os.open(f"{reader}.pipe", os.O_RDWR)
        self.paste("true")
        return self

    def __exit__(self, *_):
        os.close(self.pipe)
        self.process.send_signal(signal.SIGKILL)  # and with it all that runs there
        self.process.wait()

    def _install(self, destination):
        for component in ("router", "console", "monitoring", "system"):
            sh("cmake", "--install", BUILD, "--component", component, "--prefix", "/usr", env={**os.environ, "DESTDIR": str(destination)})
        if text := vlan_devices.shim():
            (destination / "usr/sbin/ip").write_text(text)
            (destination / "usr/sbin/ip").chmod(0o755)
        if not (destination / "usr/sbin/surety").exists():  # without install rules of its own
            shutil.copytree(SURETY.parent, destination / "usr/sbin", dirs_exist_ok=True)

    def paste(self, text, patience=PATIENCE):
        """Its exit status, commands that failed before, what was printed."""
        self.count += 1
        file = self.blocks / f"{self.count:03}"
        file.write_text(text)
        os.write(self.pipe, f"{file}\n".encode())
        done, until = file.with_name(f"{file.name}.done"), time.monotonic() + patience
        while not done.exists():
            assert self.process.poll() is None, "the machine is gone"
            assert time.monotonic() < until, f"not done within {patience} s:\n{text}\n{self._out(file)}"
            time.sleep(0.02)
        status, *failed = done.read_text().splitlines()
        return int(status.split()[1]), failed, self._out(file)

    def read(self, path):
        return self.paste(f"cat {path}")[2]

    def follow(self, *pages):
        for page in pages:
            self.go_through(blocks(page))

    def go_through(self, page):
        printed = ""
        for block in page:
            if why := block.said.get("not here"):
                self.skipped.append(f"{block.place}: not run: {why[0]}")
                self._look_at(block)
            elif block.kind == "text":
                assert matches(block.text, printed), f"{block.place}: the page shows\n{block.text}\nbut this was printed:\n{printed}"
            elif block.kind == "yaml":
                self._write(block)
            else:
                assert block.kind == "sh", f"{block.place}: nothing is known of ```{block.kind}"
                printed = self._run(block)

    def _run(self, block):
        before = self.everything()
        status, failed, printed = self.paste(block.text)
        wanted = int(block.said.get("exit status", "0")[0])
        failed = failed[:-1] if wanted and failed else failed
        assert status == wanted and not failed, f"{block.place}: exit status {status}: {failed}\n{printed}"
        for words in block.said.get("wait", []):
            until = time.monotonic() + PATIENCE
            while (everything := self.everything()).count(words) <= before.count(words):
                assert time.monotonic() < until, f"{block.place}: nothing says `{words}`:\n{everything}"
                time.sleep(0.05)
        return printed

    def _write(self, block):
        assert block.file, f"{block.place}: of which file? its first line is to be `# /path`"
        text = block.text
        self.paste(f"mkdir -p $(dirname {block.file}); cat >{block.file} <<'END_OF_FILE'\n{text}END_OF_FILE\n")

    def _look_at(self, block):
        if block.kind == "sh":
            done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, f"{block.place}: {done.stderr}"
        elif block.kind == "yaml" and "\nports:" in block.text:
            status, _, printed = self.paste(f"cat >/root/look.yaml <<'END_OF_FILE'\n{block.text}END_OF_FILE\nsurety check /root/look.yaml")
            assert status == 0, f"{block.place}: {printed}"

    def everything(self):
        """What the terminal shows by now, of the page's last blocks and what they have left running."""
        return "".join(self._out(self.blocks / f"{n:03}") for n in range(1, self.count + 1))

    @staticmethod
    def _out(file):
        out = file.with_name(f"{file.name}.out")
        return out.read_text(errors="replace") if out.exists() else ""
