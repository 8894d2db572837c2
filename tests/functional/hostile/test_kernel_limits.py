# SPDX-License-Identifier: BSD-3-Clause
"""What a port brings the kernel is limited, class by class and sender by sender: who floods does not keep it from others."""
import json
import time

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Ether

from harness import Measured, Wire, wait_for
from pair import Pair

pytestmark = pytest.mark.paced("each answer counts, and a router without its core loses some")
TURNS, AT_ONCE = 1000, 16  # frames of a flood
RATES = {"arp": 2000, "icmp": 1000}  # a second: router/daemon/linux/steer_decision.h
VICTIM = ("02:00:00:00:00:77", "10.3.0.1")
FLOODED, OTHER = "10.1.0.254", "10.3.0.254"


@pytest.fixture(scope="module", params=["af_xdp", "af_packet"])
def lab(request):
    with Pair() as pair:
        pair.router.run("sysctl", "-q", "net.ipv4.icmp_ratelimit=0")
        lan, wan = (f"  {name}: {{device: {request.param} {name}, addresses: [{addresses}]}}\n"
                    for name, addresses in (("lan0", f"{FLOODED}/24, {OTHER}/24"), ("wan0", "10.2.0.254/24")))
        with Measured(pair.router, "ports:\n" + lan + wan) as router:
            pair.running = router
            pair.a.namespace.run("ping", "-n", "-c", "1", "-w", "20", "10.2.0.1")
            time.sleep(2.5)  # a reading is a second old, at most
            pair.uncounted = carried(pair.a) - counted(router.metrics())  # what host a sent before the router was there
            yield pair


def who_has(mac, address, target):
    return Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=mac, psrc=address, pdst=target)


def ping(mac, address, router, target):
    return Ether(src=mac, dst=router) / IP(src=address, dst=target) / ICMP(id=7)


def carried(host):
    """Frames that the host's interface has sent."""
    return json.loads(host.namespace.ip("-j", "-s", "link", "show", "eth0").stdout)[0]["stats64"]["tx"]["packets"]


def counted(metrics, **labels):
    return metrics.sum("surety_kernel_frames_total", port="lan0", **labels)


def reading(lab):
    """In which each frame that host a has sent is counted."""
    return lab.running.until(lambda m: counted(m) == carried(lab.a) - lab.uncounted)


def is_answer(packet):
    return ARP in packet and packet[ARP].op == 2 and packet[ARP].psrc == OTHER or ICMP in packet and packet[ICMP].type == 0


def flood(lab, frames, asked, mac):
    """Both on lan0, `asked` now and then: seconds that it took, how often, and what came for that station."""
    with Wire(lab.a) as wire, Wire(lab.a) as ears:
        began = time.monotonic()
        questions = 0
        for turn in range(TURNS):
            for i in range(AT_ONCE):
                wire.send(frames[(AT_ONCE * turn + i) % len(frames)])
            if turn % 100 == 99:
                for frame in asked:
                    wire.send(frame)
                questions += 1
            time.sleep(0.0005)
        took = time.monotonic() - began
        came = []

        def answered():
            """each question has its answer"""
            came.extend(Ether(f) for f in ears.drain() if f[:6] == bytes.fromhex(mac.replace(":", "")))
            return sum(map(is_answer, came)) >= len(asked) * questions
        wait_for(answered)
        return took, questions, came


@pytest.mark.parametrize("kind", RATES)
def test_who_floods_keeps_nobody_else_from_the_kernel(lab, kind):
    router_mac = lab.router.mac("lan0")
    frame = bytes(who_has(lab.a.mac, "10.1.0.1", FLOODED) if kind == "arp" else ping(lab.a.mac, "10.1.0.1", router_mac, FLOODED))
    asked = [bytes(who_has(*VICTIM, OTHER)), bytes(ping(*VICTIM, router_mac, OTHER))]
    before = reading(lab)
    with Wire(lab.a) as ears:
        ears.send(asked[0])
        assert ears.find(lambda p: ARP in p and p.dst == VICTIM[0]), "the router knows where to answer"
    took, questions, came = flood(lab, [frame], asked, VICTIM[0])
    after = reading(lab)

    def since(result):
        labels = {"class": kind, "result": result}
        return counted(after, **labels) - counted(before, **labels)
    assert since("passed") <= RATES[kind] * (took + 0.25) + 2
    assert since("passed") + since("limited") >= TURNS * AT_ONCE
    assert since("limited") > 0
    assert sum(ARP in p for p in came if is_answer(p)) == questions
    assert sum(ICMP in p for p in came if is_answer(p)) == questions
    lab.running.settle()


def test_strangers_are_not_in_the_way_of_a_neighbour(lab):
    """However many addresses they have: whom the kernel asked, and who answered, has limits of his own."""
    lab.router.ip("neighbor", "flush", "dev", "lan0")
    lab.router.run("ping", "-n", "-c", "1", "-w", "20", "10.1.0.1")
    strangers = [bytes(who_has(f"02:00:00:01:{i >> 8:02x}:{i & 255:02x}", f"10.1.0.{2 + i % 250}", FLOODED)) for i in range(1500)]
    _, questions, came = flood(lab, strangers, [bytes(who_has(lab.a.mac, "10.1.0.1", OTHER))], lab.a.mac)
    assert sum(map(is_answer, came)) == questions
    lab.running.settle()
