# SPDX-License-Identifier: BSD-3-Clause
"""TFRC, TCP and UDP in a wired network (Sreenivasa Rao, Janani, Chenna Reddy): Tables 1-3, Figs. 2-9; README.md has the setting.

The runs differ only in the seeds of initial sequence numbers, so one seed says it all.
"""
from .lab import Case
from .rows import Experiment, Figure, Paper, near, paper, row, sweep

base = Case("tfrc-dumbbell")
PART = 0.003  # window-limited TCP; 0.005 in Table 3


def sent(flow):
    return lambda run: run.flow(flow)["sent_packets"]


def received(flow):
    return lambda run: run.flow(flow)["received_packets"]


def delivery(flow):
    return lambda run: run.flow(flow)["received_packets"] / run.flow(flow)["sent_packets"]


def loss(flow):
    def value(run):
        counts = run.flow(flow)
        return counts["lost_packets"] / (counts["received_packets"] + counts["lost_packets"])
    return value


def delay(flow):
    return lambda run: 1000 * run.flow(flow)["one_way_delay_mean_s"]


def exactly(printed):
    return paper(printed, printed)


def within_three(printed):
    return paper(printed - 3, printed + 3)


def figures(label, flows, cases, *wanted):
    """A figure of each (title, unit, function of a flow), and its rows."""
    made = []
    for title, unit, value in wanted:
        rows = {name: sweep(label, f"{title}, {name}", unit, value(flow), cases) for name, flow in flows.items()}
        made.append(Figure(title, label, unit or "ratio", rows))
    return tuple(made), [row for figure in made for rows in figure.lines.values() for row in rows]


RATES = {4: 980, 5: 1224, 10: 2447, 15: 3666, 21: 4794, 30: 4812}  # of TFRC, kbit/s, by the TCP's window
one = {w: base.set({"senders.udp": None, "senders.tfrc.rate": f"{rate} kbit/s", "senders.tcp.window": f"{w} packets"})
       for w, rate in RATES.items()}
LIMITED = (4, 5, 10, 15)  # the windows that hold TCP back


def limited(numbers, band, cases=LIMITED):
    return {x: band(number) for x, number in zip(RATES, numbers) if x in cases}


TCP_SENT, TCP_RECEIVED = (12241, 15292, 30558, 45788, 59833, 60052), (12240, 15291, 30556, 45785, 59807, 60037)
TFRC_RECEIVED = (12238, 15282, 30552, 45779, 59832, 60005)
drawn, drawn_rows = figures("TCP window (packets)", {"TFRC": "tfrc", "TCP": "tcp"}, one, ("Fig. 2: packet delivery ratio", "", delivery),
                            ("Fig. 3: end-to-end delay", "ms", delay), ("Fig. 4: packet loss ratio", "", loss))
table1 = Experiment("tfrc-table1", "Table 1, Figs. 2-4: application-limited TFRC and window-limited TCP", [
    *sweep("window", "TFRC sent", "packets", sent("tfrc"), one, (12239, 15283, 30554, 45783, 59864, 60088), within_three),
    *sweep("window", "TFRC received", "packets", received("tfrc"), one, TFRC_RECEIVED, limited(TFRC_RECEIVED, within_three),
           {15: "tfrc-end: those on their way when the run ends, which the paper counts on"}),
    *sweep("window", "TCP sent", "packets", sent("tcp"), one, TCP_SENT, limited(TCP_SENT, lambda n: near(n, PART))),
    *sweep("window", "TCP received", "packets", received("tcp"), one, TCP_RECEIVED, limited(TCP_RECEIVED, lambda n: near(n, PART))),
    *drawn_rows,
], drawn)

PAIRS = {0.5: (510, 509), 1: (1000, 1000), 2: (2000, 2000), 3: (3000, 3000), 4: (4000, 4000), 5: (4866, 4865)}  # TFRC, UDP
pairs = {x: base.set({"senders.tcp": None, "senders.tfrc.rate": f"{tfrc} kbit/s", "senders.udp.rate": f"{udp} kbit/s"})
         for x, (tfrc, udp) in PAIRS.items()}
LAST = "tfrc-end: the paper's run lasts one packet longer"
drawn, drawn_rows = figures("rate of each (Mbit/s)", {"TFRC": "tfrc", "UDP": "udp"}, pairs,
                            ("Fig. 5: packet delivery ratio", "", delivery), ("Fig. 6: packet loss ratio", "", loss))
RECEIVED = (6369, 12486, 24969, 37455, 49926, 60740)
table2 = Experiment("tfrc-table2", "Table 2, Figs. 5 and 6: application-limited TFRC and UDP (rates from the paper's own counts)", [
    *sweep("Mbit/s", "TFRC sent", "packets", sent("tfrc"), pairs, (6370, 12487, 24971, 37458, 49944, 60762), within_three,
           dict.fromkeys((2, 3, 4), "unknown")),
    *sweep("Mbit/s", "TFRC received", "packets", received("tfrc"), pairs, RECEIVED,
           {x: within_three(n) for x, n in zip(PAIRS, RECEIVED) if x < 4}),
    *sweep("Mbit/s", "UDP sent", "packets", sent("udp"), pairs, (6357, 12488, 24975, 37463, 49951, 60752), exactly, {4: LAST}),
    *sweep("Mbit/s", "UDP received", "packets", received("udp"), pairs, (6356, 12487, 24974, 37460, 49933, 60691)),
    *drawn_rows,
], drawn)

narrow = base.set({"senders.tfrc": None, "senders.udp.host": "s1", "senders.udp.to": "d1", "links.left.out~right.in.rate": "1 Mbit/s"})
floods = {x / 1000: narrow.set({"senders.udp.rate": f"{x} kbit/s"}) for x in range(500, 4001, 500)}
drawn, drawn_rows = figures("UDP rate (Mbit/s)", {"TCP": "tcp", "UDP": "udp"}, floods, ("Fig. 7: packet delivery ratio", "", delivery),
                            ("Fig. 8: end-to-end delay", "ms", delay), ("Fig. 9: packet loss ratio", "", loss))
STARVED = dict.fromkeys((x for x in floods if x >= 1), paper(0, 120))
table3 = Experiment("tfrc-table3", "Table 3, Figs. 7-9: TCP against UDP, 1 Mbit/s in the middle", [
    *sweep("Mbit/s", "UDP sent", "packets", sent("udp"), floods, (6244, 12488, 18732, 24975, 31219, 37463, 43707, 49951), exactly,
           {4: LAST}),
    *sweep("Mbit/s", "UDP received", "packets", received("udp"), floods, (6225, 12438, 12455, 12469, 12477, 12480, 12480, 12481),
           {**dict.fromkeys(floods, paper(12430, 12490)), 0.5: near(6225, 0.005)}, {1: "unknown"}),
    *sweep("Mbit/s", "TCP sent", "packets", sent("tcp"), floods, (6040, 74, 57, 36, 28, 23, 21, 20), {**STARVED, 0.5: near(6040, 0.005)}),
    *sweep("Mbit/s", "TCP received", "packets", received("tcp"), floods, (6021, 47, 31, 17, 10, 7, 7, 6),
           {**STARVED, 0.5: near(6021, 0.005)}),
    *drawn_rows,
], drawn)

longer = {"duration": "101 s"}  # senders stop at 100 s all the same
end = Experiment("tfrc-end", "What is counted at the end of the run: one packet longer, and until all have arrived", [
    row("Table 1, window 15: TFRC received", "packets", received("tfrc"), one[15].set(longer), paper=45779, band=within_three(45779)),
    row("Tables 2 and 3, 4 Mbit/s: UDP sent until 100.002 s", "packets", sent("udp"),
        pairs[4].set({**longer, "senders.udp.stop": "100.002 s"}), paper=49951, band=exactly(49951)),
])

PAPER = Paper("tfrc", "TFRC for congestion control in a wired environment, Sreenivasa Rao, Janani, Chenna Reddy", (20, 1),
              [table1, table2, table3, end])
