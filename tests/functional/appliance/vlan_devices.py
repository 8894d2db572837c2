# SPDX-License-Identifier: BSD-3-Clause
"""`ip` of a machine whose kernel has no VLAN devices: deploy/lib/tagger.py stands in for those that are moved to a namespace.

It knows `ip -n NAMESPACE link add link PARENT name NAME type vlan protocol PROTOCOL id VLAN`, `ip -n NAMESPACE link set NAME up` and
`ip -n NAMESPACE link set NAME netns TARGET name DEVICE`. All other commands are ip(8)'s."""
import json
import os
import pathlib
import subprocess
import sys
import time

REAL = "/usr/bin/ip"
TAGGER = pathlib.Path(__file__).resolve().parents[3] / "deploy/lib/tagger.py"
STATE = pathlib.Path("/run/vlan-devices")
PROTOCOLS = {"802.1q": 0x8100, "802.1ad": 0x88a8}


def shim():
    """What to install as `ip`; None: this kernel has VLAN devices."""
    test = ["unshare", "--net", "sh", "-c", "ip link add base type veth && ip link add link base name v type vlan id 7"]
    if subprocess.run(test, capture_output=True).returncode == 0:
        return None
    return f"#!/bin/sh\nexec /usr/bin/python3 {__file__} \"$@\"\n"


def record(namespace, name):
    return STATE / f"{namespace}.{name}.json"


def tell(namespace, base, *words):
    """The tagger of that device, which is started by the first."""
    pipe = STATE / f"{namespace}.{base}.pipe"
    if not pipe.exists():
        os.mkfifo(pipe)
        subprocess.Popen([sys.executable, TAGGER, namespace, base], stdin=os.open(pipe, os.O_RDWR), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    with open(pipe, "w") as line:
        line.write(json.dumps(words) + "\n")


def main(words):
    match words:
        case ["-n", namespace, "link", "add", "link", parent, "name", name, "type", "vlan", "protocol", protocol, "id", vlan]:
            STATE.mkdir(exist_ok=True)
            above = json.loads(record(namespace, parent).read_text()) if record(namespace, parent).exists() else {"base": parent, "tags": []}
            above["tags"].append([PROTOCOLS[protocol], int(vlan)])
            record(namespace, name).write_text(json.dumps(above))
        case ["-n", namespace, "link", "set", name, "up"] if record(namespace, name).exists():
            pass
        case ["-n", namespace, "link", "set", name, "netns", target, "name", device] if record(namespace, name).exists():
            found = json.loads(record(namespace, name).read_text())
            tell(namespace, found["base"], "add", target, device, found["tags"])
            while subprocess.run([REAL, "-n", target, "link", "show", device], capture_output=True).returncode != 0:
                time.sleep(0.01)
        case _:
            os.execv(REAL, [REAL, *words])


if __name__ == "__main__":
    main(sys.argv[1:])
