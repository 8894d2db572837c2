# SPDX-License-Identifier: BSD-3-Clause
"""Six customers of two groups behind one shaped port, two classes each: the lab of queues below queues, and what arrives behind the tags."""
import dataclasses
import select
import socket
import statistics
import struct
import threading
import time

from access_trial import Worker
from fluid import shares
from harness import Measured, wait_for
from test_reload import Reloaded
from vlan import Access, q, qinq, vlan_yaml

MBIT = 1e6
PORT = 20  # Mbit/s
GROUPS = {"north": {"weight": 2}, "south": {"weight": 1, "rate": 8}}
# By name: group, weight, shaper.
INTERFACES = {"a": ("north", 1, None), "b": ("north", 3, None), "c": ("north", 2, 3),
              "d": ("south", 1, None), "e": ("south", 4, None), "f": ("south", 2, 1.5)}
CLASSES = {"gold": (3, 10), "rest": (1, 0)}  # weight, DSCP
EF, VOICE = 46, 0.512  # Mbit/s at most, of a strict class of each
LIMIT = 60  # packets of a class
PACKET = 1000  # bytes of IP
# Some have one tag, some two.
TAGS = {name: q(600 + n) if n % 2 else qinq(601, n) for n, name in enumerate(INTERFACES, 1)}
# The router shares its core here: after so long without it a shaper still owes its line nothing.
AWAY = 0.02  # s
UDP = 7100


def number(name):
    return 150 + list(INTERFACES).index(name)


def address(name):
    return f"10.{number(name)}.0.1"


def shaped(rate):
    return f", shape: {rate} Mbit/s, burst: {int(rate * MBIT / 8 * AWAY)} B" if rate else ""


def interface_line(name, more=None):
    """`more`: in place of its weight and shaper."""
    group, weight, rate = INTERFACES[name]
    tags = f"vlan: {TAGS[name][0][1]}" + (f", inner_vlan: {TAGS[name][1][1]}, vlan_protocol: 802.1ad" if len(TAGS[name]) > 1 else "")
    keys = f", weight: {weight}{shaped(rate)}, queues: down" if more is None else more
    return f"  {name}: {{port: acc0, group: {group}, {tags}, addresses: [10.{number(name)}.0.254/24]{keys}}}\n"


def group_line(name):
    group = GROUPS[name]
    return f"  {name}: {{port: acc0, weight: {group['weight']}{shaped(group.get('rate'))}}}\n"


def down(classes=CLASSES, more="", limit=LIMIT):
    """A set of queues: strict ones for telephones and for what must not be lost in a flood, and these."""
    lines = [f"{{name: voice, dscp: [EF, CS6], priority: strict, rate: {VOICE * 1000:.0f} kbit/s, limit: 32 packets}}",
             *(f"{{name: {name}, weight: {weight}, dscp: [{dscp}], limit: {limit} packets{more}}}" for name, (weight, dscp) in classes.items())]
    return "".join(f"    - {line}\n" for line in lines)


def edge_yaml(device="af_xdp", port=None, names=INTERFACES, queues=None, more="", **interfaces):
    """By name of an interface, keys in place of its weight, shaper and queues."""
    lines = "".join(interface_line(name, interfaces.get(name)) for name in names)
    return vlan_yaml(device, port=shaped(PORT) if port is None else port, homes=None, acme=None, globex=None, cake=None,
                     more=lines + "groups:\n" + "".join(map(group_line, GROUPS)) + "queues:\n  down:\n" + (queues or down()) + more)


def tree(active, ringing=()):
    """fluid.py's, where the weighted classes of the active interfaces always have something to send, and the strict ones of the ringing."""
    def interface(name):
        _, weight, rate = INTERFACES[name]
        demand = {} if name in active else {"demand": 0}
        voice = [{"name": f"{name}.voice", "strict": True, "rate": VOICE}] if name in ringing else []
        return {"name": name, "weight": weight, "rate": rate,
                "children": voice + [{"name": f"{name}.{c}", "weight": w, **demand} for c, (w, _) in CLASSES.items()]}
    return [{"name": g, "weight": 1, **keys, "children": [interface(n) for n, (of, _, _) in INTERFACES.items() if of == g]}
            for g, keys in GROUPS.items()]


def expected(active, ringing=()):
    """Mbit/s of each class of an active interface."""
    return {label: rate for label, rate in shares(PORT, tree(active, ringing)).items() if label.split(".")[0] in active}


class Edge(Access):
    def __init__(self, device="af_xdp"):
        super().__init__(device)
        self.trunk.prefer()
        self.inside = {name: self.trunk.customer(name, TAGS[name], [f"{address(name)}/24"], [f"10.{number(name)}.0.254"]) for name in INTERFACES}

    def meet(self, names=INTERFACES):
        for name in names:
            def answers():
                """the customer answers"""
                return self.up.namespace.run("ping", "-n", "-c", 1, "-W", 1, address(name), check=False).returncode == 0
            wait_for(answers)


class EdgeRouter(Reloaded, Measured):
    pass


class Load:
    """UDP of host up, from a process of its own, so that it keeps its pace."""

    def __init__(self, lab):
        self._lab, self._worker, self._flows = lab, Worker("send"), set()
        self._worker.prefer()

    def flow(self, label, name, mbits, dscp=0, size=PACKET, port=UDP, ecn=0):
        self._worker.tell("flow", label, self._lab.up.namespace.name, None, address(name), port, mbits, size, dscp << 2 | ecn)
        self._flows.add(label)

    def demand(self, rates):
        """By interface and class ("a.gold"), Mbit/s."""
        for label, mbits in rates.items():
            name, kind = label.split(".")
            self.flow(label, name, mbits, CLASSES[kind][1])

    def stop(self, labels=None):
        for label in sorted(self._flows if labels is None else labels):
            self._worker.tell("end", label)
            self._flows.discard(label)

    def counts(self):
        """Packets sent by label, since the beginning."""
        return self._worker.tell("counts")[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._worker.end()


SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
PACKET_IGNORE_OUTGOING, SOL_PACKET, ETH_P_IP = 23, 263, 0x0800


@dataclasses.dataclass(frozen=True)
class Arrival:
    at: float  # s, of CLOCK_REALTIME, as the kernel got it
    where: str
    dscp: int
    ecn: int
    size: int  # bytes of IP
    sent: float  # s; of UDP of crowd.py


class Listener:
    """What the kernels of some customers get on their `eth0`, behind the tags, with the time of each packet."""

    def __init__(self, places):
        """{name: (namespace, device)}"""
        self._sockets = {self._open(*place): name for name, place in places.items()}
        self._arrivals, self._end, self._complete = [], threading.Event(), 0.0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @staticmethod
    def _open(namespace, device):
        s = namespace.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        s.bind((device, ETH_P_IP))
        s.setblocking(False)
        return s

    def _run(self):
        while not self._end.is_set():
            now = time.time()
            for s in select.select(self._sockets, [], [], 0.05)[0]:
                self._read(s)
            self._complete = now  # all that came before has been read

    def _read(self, s):
        while True:
            try:
                packet, beside, _, _ = s.recvmsg(36, 64)
            except BlockingIOError:
                return
            seconds, nanoseconds = struct.unpack("=qq", beside[0][2])
            sent = int.from_bytes(packet[28:36], "big") / 1e9 if packet[9] == socket.IPPROTO_UDP else 0.0
            self._arrivals.append(Arrival(seconds + nanoseconds / 1e9, self._sockets[s], packet[1] >> 2, packet[1] & 3,
                                          int.from_bytes(packet[2:4], "big"), sent))

    def take(self):
        """All since the last time."""
        seen = self.seen()
        del self._arrivals[:len(seen)]
        return seen

    def seen(self):
        """The same, without taking it."""
        now = time.time()
        wait_for(lambda: self._complete > now)
        return list(self._arrivals)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
        for s in self._sockets:
            s.close()


def behind_tags(lab, names=INTERFACES):
    return Listener({name: (lab.inside[name].namespace, "eth0") for name in names})


def rates(arrivals, begin, seconds):
    """Mbit/s by interface and class."""
    kinds = {EF: "voice", **{dscp: kind for kind, (_, dscp) in CLASSES.items()}}
    got = {}
    for a in arrivals:
        if begin <= a.at < begin + seconds and a.dscp in kinds:
            label = f"{a.where}.{kinds[a.dscp]}"
            got[label] = got.get(label, 0.0) + a.size * 8 / MBIT / seconds
    return got


def steady_rates(arrivals, begin, seconds, windows=7):
    """The medians of so many windows: what is promised holds in each 100 ms, and when the machine gives the router nothing for a while
    that falls into one or two of them."""
    parts = [rates(arrivals, begin + i * seconds / windows, seconds / windows) for i in range(windows)]
    return {label: statistics.median(p.get(label, 0.0) for p in parts) for label in set().union(*parts)}


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
