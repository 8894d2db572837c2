# SPDX-License-Identifier: BSD-3-Clause
"""The lab of an access edge: customers behind VLAN tags of port acc0, the rest of the world (host up) behind port up0."""
import contextlib
import pathlib
import re
import subprocess
import tempfile
import time

from scapy.layers.l2 import Dot1AD, Dot1Q, Ether

from harness import Lab, Namespace
from tagger import PacketLine, split
from vlans import CUSTOMER_TAG, SERVICE_TAG, Trunk, q, qinq

__all__ = ["Access", "TAGS", "TaggedWire", "bare", "gateways", "interface", "pings", "q", "qinq", "tagged", "tags_of", "vlan_yaml"]

WIRE = pathlib.Path(__file__).resolve().parent / "memif_wire.py"
UP = ["10.2.0.254/24", "2001:db8:2::fe/64"]
# What each customer lives behind: by name of its interface, tags and the third number of its addresses.
TAGS = {"acme": q(107), "globex": qinq(100, 8), "cake": qinq(300, 9, CUSTOMER_TAG)}
NUMBER = {"acme": 107, "globex": 108, "cake": 109}
HOMES = "  homes: {port: acc0, vlan: 200, inner_vlan: 1-400, vlan_protocol: 802.1ad, addresses: [100.64.0.1/16, \"2001:db8:200::1/64\"]%s}\n"
MAC = "02:00:00:00:0a:01"  # of the port where it has no device of the kernel's
LAYERS = {CUSTOMER_TAG: Dot1Q, SERVICE_TAG: Dot1AD}


def gateways(name):
    if name == "homes":
        return ["100.64.0.1", "2001:db8:200::1"]
    return [f"10.{NUMBER[name]}.0.254", f"2001:db8:{NUMBER[name]}::fe"]


def interface(name, more=""):
    """Its line in `interfaces:`."""
    tags = TAGS[name]
    words = [f"vlan: {tags[0][1]}"] + ([f"inner_vlan: {tags[1][1]}"] if len(tags) > 1 else [])
    words += ["vlan_protocol: 802.1ad"] if tags[0][0] == SERVICE_TAG else []
    four, six = gateways(name)
    return f"  {name}: {{port: acc0, {', '.join(words)}, addresses: [{four}/24, \"{six}/64\"]{', ' + more if more else ''}}}\n"


def vlan_yaml(device="af_xdp", port="", homes="", more="", **interfaces):
    """All of the lab's configuration; by name of an interface, further keys of it, or None where it shall not be."""
    line = f'{device}, mac: "{MAC}"' if device.startswith("memif") else f"{device} acc0"
    up = ", ".join(f'"{a}"' for a in UP)
    listed = "".join(interface(name, interfaces.get(name, "")) for name in TAGS if interfaces.get(name, "") is not None)
    return f"""ports:
  acc0: {{device: {line}, addresses: [10.1.0.254/24, "2001:db8:1::fe/64"]{port}}}
  up0: {{device: {device if not device.startswith("memif") else "af_xdp"} up0, addresses: [{up}], trust: core}}
interfaces:
{listed}{HOMES % homes if homes is not None else ""}{more}"""


class Access(Lab):
    """Customers are made by name (acme, globex, cake: interfaces of their own) or by the inner tag of a home."""

    def __init__(self, device="af_xdp"):
        super().__init__()
        self._stack = contextlib.ExitStack()
        self.device, near = device, self.router
        if device == "memif":
            directory = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sf-"))
            near = Namespace("wire")
            self._stack.callback(near.remove)
            self.device = f"memif {directory}/acc.sock server"
        self.trunk = Trunk(near, "acc0")
        self._stack.callback(self.trunk.remove)
        if device == "memif":
            near.sysctl("net.ipv6.conf.acc0.disable_ipv6=1")
            wire = subprocess.Popen(["/usr/bin/python3", WIRE, f"{directory}/acc.sock", near.name, "acc0"])
            self._stack.callback(wire.wait)
            self._stack.callback(wire.kill)
        self.mac = MAC if device == "memif" else self.router.mac("acc0")
        self.up = self.host("up", "up0", ["10.2.0.1/24", "2001:db8:2::1/64"], [a.split("/")[0] for a in UP])

    def named(self, name):
        n = NUMBER[name]
        return self.trunk.customer(name, TAGS[name], [f"10.{n}.0.1/24", f"2001:db8:{n}::1/64"], gateways(name))

    def home(self, inner):
        """The host at home number `inner`."""
        address = 256 * (inner // 256) + inner % 256
        return self.trunk.customer(f"h{inner}", qinq(200, inner), [f"100.64.{10 + address // 200}.{1 + address % 200}/16",
                                                                  f"2001:db8:200::1:{inner:x}/64"], gateways("homes"))

    def untagged(self):
        """A host that belongs to the port itself."""
        return self.trunk.customer("plain", [], ["10.1.0.1/24", "2001:db8:1::1/64"], ["10.1.0.254", "2001:db8:1::fe"])

    def wire(self):
        """The customers' side of the port, tags and all."""
        return TaggedWire(self.trunk)

    def __exit__(self, *details):
        self._stack.close()
        super().__exit__(*details)


class TaggedWire:
    """What the router sends towards the customers, and frames sent to it."""

    def __init__(self, trunk):
        self._line = PacketLine(trunk.namespace, "eth0")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._line.close()

    def send(self, frame):
        self._line.send(bytes(frame))

    def read(self, patience=0.0):
        until = time.monotonic() + patience
        while (frame := self._line.receive()) is None and time.monotonic() < until:
            time.sleep(0.002)
        return frame

    def find(self, wanted, patience=10.0):
        until = time.monotonic() + patience
        while (frame := self.read(until - time.monotonic())) is not None:
            packet = Ether(frame)
            if wanted(packet):
                return packet
        return None

    def drain(self):
        return list(iter(self.read, None))


def tagged(tags, frame, priority=0):
    """The same frame behind these tags."""
    frame = bytes(frame)
    words = b"".join(tpid.to_bytes(2, "big") + (priority << 13 | vlan).to_bytes(2, "big") for tpid, vlan in tags)
    return frame[:12] + words + frame[12:]


def tags_of(packet):
    """[(TPID, VLAN)] of a frame, and the priorities."""
    frame, tags, priorities = bytes(packet), [], []
    _, end = split(frame)
    for at in range(12, end, 4):
        tags.append((int.from_bytes(frame[at:at + 2], "big"), int.from_bytes(frame[at + 2:at + 4], "big") & 0xfff))
        priorities.append(frame[at + 2] >> 5)
    return tags, priorities


def bare(packet):
    """What is behind the tags, as scapy decodes it; scapy must see the same tags."""
    tags, _ = tags_of(packet)
    for depth, (tpid, vlan) in enumerate(tags, 1):
        layer = packet.getlayer(depth)
        assert isinstance(layer, LAYERS[tpid]) and layer.vlan == vlan, packet.summary()
    frame = bytes(packet)
    _, end = split(frame)
    return Ether(frame[:12] + frame[end:])


def pings(host, address, count=5, interval=0.01, *options):
    """How many of them are answered."""
    # With a deadline ping goes on until so many answers have come: of a slow first one more than were asked for.
    patience = 20 + int(count * interval)
    said = host.namespace.run("ping", "-n", "-q", "-c", count, "-i", interval, "-w", patience, *options, address, check=False).stdout
    found = re.search(r"(\d+) received", said)
    return min(int(found[1]), count) if found else 0
