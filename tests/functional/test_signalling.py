# SPDX-License-Identifier: BSD-3-Clause
"""Congestion signals on the wire: a core router's queue is congested, the border of the flows holds their OUT packets back."""
import concurrent.futures
import contextlib
import json
import pathlib
import resource
import signal
import time
import types

import pytest
from scapy.data import ETH_P_IP
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from border_core import AF1, BE, BORDER_ID, CORE_ID, KEY, KEY_ID, SINK, BorderCore, received, sent
from harness import TcpTransfer, Wire, wait_for
from signal_wire import END, Signal, repaired

ALPHA_MAX, FLOWS = 0.4, 8
DSCP_OUT = 0  # the services' mark


@pytest.fixture(scope="module")
def lab():
    """Contracts of 6.4 Mbit/s, and with all that alpha grants 9, through 8 Mbit/s."""
    with BorderCore(rates=("800 kbit/s", "800 kbit/s"), bottleneck="8 Mbit/s", uplink="100 Mbit/s", packet=1500,
                    control="paper") as lab:
        for host in (lab.af1, lab.af3):  # what waits in the senders has to go through the bottleneck before a test ends
            host.namespace.sysctl("net.ipv4.tcp_wmem=4096 65536 65536")
        yield lab


@pytest.fixture(scope="module")
def core(lab):
    with lab.core("act") as core:
        yield core


def path_alpha(m):
    """What the border's path is held back to; none: not at all."""
    return min((value for _, value in m.select("surety_csa_path_alpha_ratio")), default=None)


def held_back(m):
    alpha = path_alpha(m)
    return alpha is not None and alpha < ALPHA_MAX - 0.01


def shown(router, kind):
    return [row for row in json.loads(router.show("signalling", "--json").stdout) if row["kind"] == kind]


@contextlib.contextmanager
def congestion(lab, flows=FLOWS):
    """TCP flows of both services, all at once, for as long as it lasts; connected together, before the first has congested the others."""
    def flow(i):
        return TcpTransfer(lab.af1 if i % 2 else lab.af3, lab.sink, 5001 + i, congestion="reno")
    with contextlib.ExitStack() as running, concurrent.futures.ThreadPoolExecutor(flows) as pool:
        for transfer in pool.map(flow, range(flows)):
            running.callback(transfer.abort)
        yield


def signals_in(frames):
    """Only what has ICMP's protocol number is worth scapy's time."""
    return [p for p in (Ether(f) for f in frames if f[23] == 1) if ICMP in p and p[ICMP].type == 253]


def agree(core, border, result, before):
    """What the core has sent since `before`, when nothing is on its way any more: all of it came to the border as `result`."""
    def all_there(m):
        return received(m).get(result, 0) == sent(core.metrics()) - before
    m = border.until(all_there)
    assert set(received(m)) == {result}
    c = core.metrics()
    assert sent(c) > before and sent(c, "lost") == sent(c, "limited") == 0
    return m


def test_the_border_holds_back_what_congests_the_core(lab, core):
    with lab.border("act") as border, Wire(lab.af1) as one, Wire(lab.af3) as three, Wire(lab.sink) as sink:
        lab.meet()
        before = sent(core.metrics())
        with congestion(lab):
            assert held_back(border.until(held_back))
            heard, = shown(border, "source")
            assert (heard["router"], heard["port"], heard["queue"]) == (CORE_ID, "2", "0") and heard["signals"] > 0
            path, = shown(border, "path")
            assert path["domain"] == "uplink/assured" and path["applied_alpha_ratio"] < ALPHA_MAX
        assert [(q["port"], q["queue"]) for q in shown(core, "sender")] == [("out", "assured")]
        agree(core, border, "applied", before)
        border.until(lambda m: m.value("surety_csa_paths") == 0)  # without signals alpha comes back
        assert not signals_in(one.drain() + three.drain() + sink.drain())  # no customer ever sees one
        border.settle()
        core.settle()


def test_observe_shows_it_and_changes_nothing(lab, core):
    """The core goes on where it was: its sequences are none of a border that has been started anew."""
    with lab.border("observe") as border:
        lab.meet()
        before = sent(core.metrics())
        with congestion(lab):
            m = border.until(held_back)
            path, = shown(border, "path")
            assert path["alpha_ratio"] < ALPHA_MAX and path["applied_alpha_ratio"] == pytest.approx(ALPHA_MAX)
            assert m.value("surety_csa_alpha_ratio", domain="uplink/assured") == pytest.approx(ALPHA_MAX)
        agree(core, border, "observed", before)
        border.settle()


def calm(core):
    """The congestion before sends no more signals."""
    def quiet():
        """no more signals of the congestion before"""
        first = sent(core.metrics())
        time.sleep(0.2)
        return sent(core.metrics()) == first
    wait_for(quiet)


class Injector:
    """Puts packets onto the wire between the core and the border, or onto a customer's, when no others come there."""

    def __init__(self, lab, core, border):
        calm(core)
        self._lab, self._border, self._expected = lab, border, received(border.metrics())
        self._inside = Wire(types.SimpleNamespace(namespace=lab.core_namespace), "downlink")
        self._outside = Wire(lab.af1)
        namespaces = (lab.core_namespace, "downlink"), (lab.border_namespace, "uplink"), (lab.border_namespace, "af1")
        self._core_mac, self._uplink_mac, self._af1_mac = (n.mac(interface) for n, interface in namespaces)

    def expect(self, result, packet, customer=False):
        """Sends it, and waits until it is counted: by this name and no other."""
        if customer:
            self._outside.send(Ether(src=self._lab.af1.mac, dst=self._af1_mac, type=ETH_P_IP) / packet)
        else:
            self._inside.send(Ether(src=self._core_mac, dst=self._uplink_mac, type=ETH_P_IP) / packet)
        self._expected[result] = self._expected.get(result, 0) + 1

        def came():
            m = self._border.metrics()
            assert sum(received(m).values()) <= sum(self._expected.values()), received(m)
            return m if sum(received(m).values()) == sum(self._expected.values()) else None
        m = wait_for(came)
        assert received(m) == self._expected
        return m

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._inside.socket.close()
        self._outside.socket.close()


def flipped(message, at):
    changed = bytearray(message)
    changed[at] ^= 1
    return bytes(changed)


def test_a_liar_without_the_key_has_no_effect(lab, core):
    with lab.border("act") as border, Injector(lab, core, border) as wire, Wire(lab.af1) as customer, Wire(lab.sink) as sink:
        lab.meet()

        def signal(**fields):
            s = Signal(bytes.fromhex(KEY), KEY_ID, AF1, SINK, DSCP_OUT)
            for name, value in fields.items():
                setattr(s, name, value)
            return s

        good = signal()
        refused = [("forged", signal(key=bytes(16)).packet()), ("unknown_key", signal(key_id=9).packet()),
                   ("stale", signal(age=60).packet()), ("stale", signal(age=-60).packet()),
                   ("reflected", signal(router=BORDER_ID).packet()),
                   ("checksum", good.around(flipped(good.message(), 100))),
                   ("forged", good.around(repaired(flipped(good.message(), 100)))),
                   ("version", good.around(repaired(good.message()[:144] + b"\3" + good.message()[145:]))),
                   ("malformed", good.around(good.message()[:END - 2])),
                   ("malformed", good.around(good.message() + bytes(2)))]
        for result, packet in refused:
            m = wire.expect(result, packet)
            assert m.value("surety_csa_paths") == 0
        m = wire.expect("from_customer", good.packet(), customer=True)
        assert m.value("surety_csa_paths") == 0
        assert m.drops() == {"signal": len(refused) + 1}
        # Authentic, but about somebody who is not its customer.
        assert wire.expect("not_customer", signal(source=BE, to=AF1, router="10.9.0.79").packet()).value("surety_csa_paths") == 0
        # With the key it has: once.
        packet = good.packet()
        assert held_back(wire.expect("applied", packet))
        wire.expect("replayed", packet)
        wire.expect("applied", good.packet())
        assert not signals_in(customer.drain() + sink.drain())
        border.settle()


def test_a_path_is_where_the_packet_goes(lab, core):
    """All routes of this border are one, by way of the core; what is signalled for the sink is for its network and no other."""
    with lab.border("act") as border, Injector(lab, core, border) as wire:
        lab.meet()
        for destination in (SINK, "10.2.0.77", BE):
            m = wire.expect("applied", Signal(bytes.fromhex(KEY), KEY_ID, AF1, destination, DSCP_OUT).packet())
        assert {labels["path"] for labels, _ in m.select("surety_csa_path_alpha_ratio")} == {"10.2.0.0/24", "10.3.0.0/24"}
        assert {path["path"] for path in shown(border, "path")} == {"10.2.0.0/24", "10.3.0.0/24"}


def test_a_signal_may_be_addressed_to_the_border_itself(lab, core):
    """As the `borders` of a core router have it."""
    with lab.border("act") as border, Injector(lab, core, border) as wire:
        lab.meet()
        assert held_back(wire.expect("applied", Signal(bytes.fromhex(KEY), KEY_ID, AF1, SINK, DSCP_OUT, to=BORDER_ID).packet()))


def test_others_may_use_the_type(lab, core):
    """An ICMP message of type 253 without our object is somebody else's: forwarded as any packet, in both directions."""
    with lab.border("act") as border, Wire(lab.af1) as customer, Wire(lab.sink) as sink:
        lab.meet()
        message = ICMP(type=253) / bytes(100)
        for host, wire, far, far_wire in ((lab.sink, sink, lab.af1, customer), (lab.af1, customer, lab.sink, sink)):
            gateway = host.namespace.ip("neigh").stdout.split("lladdr ")[1].split()[0]
            wire.send(Ether(src=host.mac, dst=gateway) / IP(src=host.addresses[0], dst=far.addresses[0]) / message)
            arrived = far_wire.find(lambda p: ICMP in p and p[ICMP].type == 253)
            assert arrived is not None and bytes(arrived[ICMP].payload) == bytes(100)
        assert received(border.metrics()) == {}


OLD, NEW = "{id: 1, key: 5f0b6a4c9d3e21780011223344556677}", "{id: 7, key: 7777777777777777aaaaaaaaaaaaaaaa}"


def reload(router, successful=True):
    before = router.metrics().value("surety_config_reloads_total")
    router.process.send_signal(signal.SIGHUP)
    router.until(lambda m: m.value("surety_config_last_reload_successful") == successful
                 and m.value("surety_config_reloads_total") == before + successful)


def hear(lab, core, border, result):
    """Congestion once more, by contracts that do not fit whatever alpha is: all the signals of it end at the border as `result`."""
    calm(core)
    known, before = received(border.metrics()), sent(core.metrics())
    with congestion(lab, 2 * FLOWS):
        border.until(lambda m: received(m).get(result, 0) > known.get(result, 0))
    border.until(lambda m: received(m).get(result, 0) - known.get(result, 0) == sent(core.metrics()) - before)


def test_keys_change_while_routers_run(lab, core):
    """Who signs with a key that the border has not been told of is not believed; then it is told, and the old one goes."""
    def write(*keys):
        lab.key_file.write_text("keys:\n" + "".join(f"  - {key}\n" for key in keys))
    original = lab.key_file.read_text()
    try:
        with lab.border("act") as border:
            lab.meet()
            write(NEW, OLD)
            reload(core)
            hear(lab, core, border, "unknown_key")
            reload(border)
            hear(lab, core, border, "applied")
            lab.key_file.write_text("keys: [nonsense]\n")
            reload(border, successful=False)
            assert f"{lab.key_file}:1:8: " in border.stderr()
            hear(lab, core, border, "applied")
            write(NEW)
            reload(border)
            reload(core)
            hear(lab, core, border, "applied")
            assert set(received(border.metrics())) == {"unknown_key", "applied"}
            border.settle()
    finally:
        lab.key_file.write_text(original)
        reload(core)


OTHER_ID, OTHER_KEY = "10.9.0.9", "99" * 16


def test_a_stolen_key_speaks_for_its_router_only(lab, core):
    """Each core router has a key of its own; of the one at OTHER_ID it has got into the wrong hands."""
    original = lab.key_file.read_text()
    try:
        lab.key_file.write_text(f"routers:\n  {CORE_ID}: [{{id: 1, key: {KEY}}}]\n  {OTHER_ID}: [{{id: 1, key: {OTHER_KEY}}}]\n")
        reload(core)
        with lab.border("act") as border:
            lab.meet()
            with Injector(lab, core, border) as wire:
                for router, result in ((CORE_ID, "forged"), ("10.9.0.77", "unknown_key"), (OTHER_ID, "applied")):
                    wire.expect(result, Signal(bytes.fromhex(OTHER_KEY), 1, AF1, SINK, DSCP_OUT, router=router).packet())
            hear(lab, core, border, "applied")
            border.settle()
    finally:
        lab.key_file.write_text(original)
        reload(core)


@contextlib.contextmanager
def dumped(process, directory):
    """the core of a process that is made to crash, by way of a pipe, as it goes to systemd-coredump or apport"""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern")
    before, file = pattern.read_text(), directory / "core"
    resource.prlimit(process.pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    pattern.write_text(f"|/usr/bin/dd of=/proc/%P/root{file} status=none")  # dd's own root may be another one
    try:
        process.send_signal(signal.SIGABRT)
        assert process.wait(120) == -signal.SIGABRT
    finally:
        pattern.write_text(before)
    sizes = [0]

    def written():
        """the core is in its file"""
        sizes.append(file.stat().st_size if file.exists() else 0)
        return sizes[-1] and sizes[-1] == sizes[-2]  # it may still be read from the pipe
    wait_for(written, 60, 0.5)
    yield file.read_bytes()
    file.unlink()


def test_a_core_dump_has_no_key(lab, core, tmp_path):
    """Neither the ones in use nor those of before, as bytes or as digits."""
    original, old = lab.key_file.read_text(), "0123456789abcdef" * 2
    try:
        lab.key_file.write_text(f"keys: [{{id: 1, key: {KEY}}}, {{id: 3, key: {old}}}]\n")
        reload(core)
        with lab.border("act") as border:
            lab.meet()
            hear(lab, core, border, "applied")
            lab.key_file.write_text(original)
            reload(border)
            hear(lab, core, border, "applied")
            with dumped(border.process, tmp_path) as dump:
                assert border.name.encode() in dump
                for secret in (KEY, old):
                    for form in (bytes.fromhex(secret), secret.encode()):
                        assert dump.find(form) < 0, form
            border.stop = lambda: None  # it has
    finally:
        lab.key_file.write_text(original)
        reload(core)


def test_who_has_observed_long_enough_acts(lab, core):
    """mode: observe -> act, and back, of a border that runs."""
    def turn_to(border, mode, before):
        border.path.write_text(border.path.read_text().replace(f"mode: {before}", f"mode: {mode}"))
        reload(border)
    with lab.border("observe") as border:
        lab.meet()
        hear(lab, core, border, "observed")
        turn_to(border, "act", "observe")
        hear(lab, core, border, "applied")
        turn_to(border, "observe", "act")
        hear(lab, core, border, "observed")
        border.settle()
