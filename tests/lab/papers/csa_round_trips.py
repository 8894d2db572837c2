# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper: the committed rate at round-trip times of 2 to 500 ms, behind one congested core and behind three.

The paper's control admits one OUT packet for 25 IN ones into a queue that drops one of ten, and never less: with a long round trip, TCP
does not get its window back in between. Case D of Table 3 is such a core; scenario 1 has the congested queue at the border itself.
"""
from .csa_cases import cases_of, missed
from .lab import Case
from .rows import Experiment, delivered, model, ros, sweep

ROUND_TRIPS = (2, 20, 60, 130, 230, 500)  # ms
PACKET = 0.047  # kbit/s: a packet of 576 B in the 100 s that are measured, by which a flow at its rate may be short
LEARNT = "csa-round-trips: 0.4 % is what a flow loses until its bucket has learnt the round trip; three cores drop one OUT packet of four"
BOUGHT = {"af1": 1600, "af3": 400}
# Links of a scenario that the assured flows cross.
LINKS = {"csa-scenario2": ("edge.up~core.assured", "core.out~sink"), "csa-signal-loss": ("edge.up~core.assured", "core.out~sink"),
         "csa-three-cores": ("edge.up~core1.in", "core1.out~core2.in", "core2.out~core3.in", "core3.out~sink")}
# The best-effort flows of case D have the assured flows' RTT.
OTHERS = {"csa-scenario2": ("plain.up~core.plain",), "csa-signal-loss": ("plain.up~core.plain",), "csa-three-cores": ()}
CASE_D = {"hosts.af1.times": 13, "hosts.af3.times": 12, "hosts.be.times": 40}
GTFRC = {f"senders.{name}": {"name": name, "host": name, "to": "sink", "protocol": "gtfrc", "target": f"{rate} kbit/s", "packet": "576 B",
                             "start": "0 s - 1 s"} for name, rate in BOUGHT.items()}
CUBIC = {f"senders.{name}.protocol": "cubic" for name in BOUGHT}
# The paper's window of 64 KB is 1124 kbit/s at 500 ms: enough for scenario 1, not for AF_PHB_1.
WIDE = {f"senders.{name}.window": "250 packets" for name in BOUGHT}


BACKLOG = {"alpha.control": "search", "out_from_backlog": "on"}


def control(settings):
    return {f"routers.edge.services.{phb}.{key}": value for phb in ("phb1", "phb3") for key, value in settings.items()}


def over(scenario, settings):
    """{RTT: case}"""
    links, tcp = LINKS[scenario], "senders.af1" not in settings
    return {rtt: Case(scenario).set({f"links.{link}.delay": f"{rtt / 2 / len(links):g} ms" for link in links + OTHERS[scenario]})
            .set(settings).set(WIDE if tcp and rtt > 300 else {}) for rtt in ROUND_TRIPS}


def rows_of(name, cases, bought, judged, whys=None, ros_whys=None):
    rows = []
    for flow, rate in bought.items():
        rows += sweep("RTT (ms)", f"{name}: {flow} RoS", "%", ros(f"{flow}#*"), cases, bands=model(98) if judged else None, whys=ros_whys)
        rows += sweep("RTT (ms)", f"{name}: {flow} throughput", "kbit/s", delivered(f"{flow}#*"), cases,
                      bands=model(rate - PACKET) if judged else None, whys=whys)
    return rows


def behind_cores():
    own = {**CASE_D, **control(BACKLOG)}
    side = "links.edge.side~core.side"
    variants = {
        "the paper's control": ("csa-scenario2", {**CASE_D, **control({"alpha.control": "paper"})}),
        "alpha alone": ("csa-scenario2", {**CASE_D, **control({"alpha.control": "search"})}),
        "search": ("csa-scenario2", own), "search, CUBIC": ("csa-scenario2", {**own, **CUBIC}),
        "search, gTFRC": ("csa-scenario2", {**own, **GTFRC}),
        "search, no signals": ("csa-scenario2", {**own, "routers.core.signalling": False}),
        "search, a tenth of the signals lost": ("csa-signal-loss", {**control(BACKLOG), f"{side}.back": {"loss": 0.1}}),
        "search, signals 200 ms late": ("csa-signal-loss", {**control(BACKLOG), f"{side}.delay": "200 ms"}),
        "search, three cores": ("csa-three-cores", control(BACKLOG)),
    }
    rows = []
    for name, (scenario, settings) in variants.items():
        whys = missed("unknown", 500) | (missed(LEARNT, 20, 130, 230) if "three" in name else {})
        judged = name.startswith("search") and "no signals" not in name
        rows += rows_of(name, over(scenario, settings), BOUGHT, judged, whys, missed("unknown", 500))
    return Experiment("csa-round-trips", "Beyond the paper: case D at RTT 2 to 500 ms", rows, full_only=True, beyond=True,
                      breaks="alpha alone: the paper's control, from 130 ms on")


# At 500 ms r x RTT is 109 packets, more than the paper's buffer of 100, and its window of 64 KB is 1124 kbit/s.
ROOMY = {"senders.f.window": "250 packets", "routers.edge.services.af2.buffer": "130 packets"}
NARROW = ("csa-round-trips-border: the sender's window of 64 KB leaves no room for a backlog at 500 ms, so bursts go OUT where no packet is dropped, "
          "and the throughput is above the contract; rows `roomy`: a window and a buffer above r x RTT")
SLOW_START = "csa-round-trips-border: slow start overshoots, and a window of 64 KB cannot make up for it afterwards; rows `from 40 s on` and `roomy`"


def at_the_border():
    rows = []
    for n in (25, 30):
        def cases(settings, more, round_trips=ROUND_TRIPS):
            return {rtt: cases_of({"": settings}, {"links.edge.up~sink.delay": f"{rtt / 2:g} ms", **more})[""][n] for rtt in round_trips}
        rows += rows_of(f"the paper's control, N = {n}", cases({"alpha.control": "paper"}, {}), {"f": 1000}, False)
        rows += rows_of(f"search, N = {n}", cases(BACKLOG, {}), {"f": 1000}, True, missed(SLOW_START, 500), missed(NARROW, 500))
        others = {"roomy": ROOMY} | ({"from 40 s on": {"measure": "40 s - 120 s"}} if n == 30 else {})
        for name, more in others.items():
            rows += rows_of(f"search, {name}, N = {n}", cases(BACKLOG, more, (500,)), {"f": 1000}, True)
    return Experiment("csa-round-trips-border", "Beyond the paper: scenario 1 at RTT 2 to 500 ms", rows, full_only=True, beyond=True,
                      breaks="alpha alone: the paper's control, from 130 ms on")


ROUND_TRIP_EXPERIMENTS = [behind_cores(), at_the_border()]
