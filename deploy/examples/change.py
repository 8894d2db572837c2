#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Changes a running router's configuration from a program: `change.py SOCKET diff|try|confirm|back [FILE [SECONDS]]`.

SOCKET is what `surety show` uses: /run/dpdk/surety-NAME/dpdk_telemetry.v2. Answers: router/operate/generations/changes_schema.json. A program that
only wants to apply something is better off with `surety apply --confirm 5m`; this is for one that looks at the router before it confirms.
"""
import fcntl
import json
import os
import pathlib
import socket
import sys


class Router:
    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(60)
        self._socket.connect(path)
        self._socket.recv(1 << 18)  # it greets

    def ask(self, command, arguments=""):
        self._socket.send(f"/surety/{command},{arguments}".encode())
        answer = json.loads(self._socket.recv(1 << 18))[f"/surety/{command}"]
        if answer is None or "error" in answer:
            sys.exit(answer["error"] if answer else f"this router does not support {command}")
        return answer


def replace(file, text):
    """In one step, whatever happens meanwhile: the file is the old one or the new one, whole."""
    beside = file.with_name(f".{file.name}.new")
    with open(beside, "w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    beside.replace(file)
    directory = os.open(file.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def main():
    path, command, *rest = sys.argv[1:]
    router = Router(path)
    about = router.ask("changes")
    state, candidate = pathlib.Path(about["state"]), pathlib.Path(about["state"]) / "by-program.yaml"
    with open(state / "lock", "a") as lock:  # one change at a time; `surety apply` takes it, too
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if command in ("diff", "try"):
            candidate.write_text(pathlib.Path(rest[0]).read_text())  # the router reads its own directories alone
        if command == "diff":
            answer = router.ask("diff", candidate)
        elif command == "try":
            answer = router.ask("try", json.dumps({"file": str(candidate), "who": "change.py", "seconds": int(rest[1])}))
        elif command == "confirm":
            router.ask("confirm")
            replace(pathlib.Path(about["file"]), candidate.read_text())
            answer = router.ask("installed")  # and keeps it as a generation
        else:
            answer = router.ask("back")
    print(json.dumps(answer, indent=2))
    return 1 if answer["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
