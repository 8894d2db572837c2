# SPDX-License-Identifier: BSD-3-Clause
"""TFRC, TCP and UDP in a wired network (Sreenivasa Rao, Janani, Chenna Reddy): Tables 1-3, Figs. 2-9; README.md has the setting.

The runs differ only in the seeds of initial sequence numbers, so one seed says it all.
"""
from .lab import Case
from .rows import Experiment, Figure, Paper, arithmetic, near, paper, row, sweep, twofold

base = Case("tfrc-dumbbell")
PART = 0.003  # window-limited TCP; 0.005 in Table 3
SECONDS = 99.9  # of sending


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


def of(one, other, measure):
    """Percent."""
    return lambda run: 100 * measure(one)(run) / measure(other)(run)


def undelivered(one, other):
    """Sent and not received, per thousand: what one has more than the other."""
    return lambda run: 1000 * (delivery(other)(run) - delivery(one)(run))


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


def by_count(name, value, cases, printed, rates, *bands):
    """Rows of packets. `rates`: (printed in Mbit/s, used in kbit/s) of each case; if they differ, ours is made from the paper's count."""
    rows = []
    for (x, case), number, (said, used) in zip(cases.items(), printed, rates):
        made = "" if round(1000 * said) == used else f"the rate is the paper's count over {SECONDS} s"
        rows += sweep(name[0], name[1], "packets", value, {x: case}, (number,), *bands, derived=made,
                      off=("a rate 1 % higher", {x: case.set({f"senders.{name[2]}.rate": f"{1.01 * used:g} kbit/s"})}))
    return rows


def by_rate(table, rates, printed):
    """The rates that the paper prints do not give its counts."""
    return [arithmetic(f"{table}: sent in {SECONDS} s at {rate} Mbit/s", "packets", rate * SECONDS * 125, count, within_three(count),
                       "the printed rate is not the one used") for rate, count in zip(rates, printed)]


RATES = {4: (1, 980), 5: (1.25, 1224), 10: (2.48, 2447), 15: (4, 3666), 21: (4.8, 4794), 30: (4.85, 4812)}  # of TFRC, by the TCP's window
one = {w: base.set({"senders.udp": None, "senders.tfrc.rate": f"{used} kbit/s", "senders.tcp.window": f"{w} packets"})
       for w, (_, used) in RATES.items()}


def with_header(case, rate):
    """TFRC's packets with 40 bytes above their 1000, as TCP's have."""
    return case.set({"senders.tfrc.packet": "1040 B", "senders.tfrc.rate": f"{1.04 * rate:g} kbit/s"})


LIMITED, FULL = (4, 5, 10, 15), (21, 30)  # the windows that hold TCP back, and those that fill the link
HEADER = "tfrc-header: TFRC's packets with a header above their 1000 bytes, as TCP's have, fill the link"


def of_windows(what, windows):
    return {w: what for w in windows}


def some(cases, windows):
    return {w: cases[w] for w in windows}


TCP_SENT, TCP_RECEIVED = (12241, 15292, 30558, 45788, 59833, 60052), (12240, 15291, 30556, 45785, 59807, 60037)
TFRC_SENT, TFRC_RECEIVED = (12239, 15283, 30554, 45783, 59864, 60088), (12238, 15282, 30552, 45779, 59832, 60005)
drawn, drawn_rows = figures("TCP window (packets)", {"TFRC": "tfrc", "TCP": "tcp"}, one, ("Fig. 2: packet delivery ratio", "", delivery),
                            ("Fig. 3: end-to-end delay", "ms", delay), ("Fig. 4: packet loss ratio", "", loss))
SMALLER = ("a TCP window one packet smaller", {w: case.set({"senders.tcp.window": f"{w - 1} packets"}) for w, case in one.items()})
table1 = Experiment("tfrc-table1", "Table 1, Figs. 2-4: application-limited TFRC and window-limited TCP", [
    *by_count(("window", "TFRC sent", "tfrc"), sent("tfrc"), one, TFRC_SENT, RATES.values(), within_three),
    *by_count(("window", "TFRC received", "tfrc"), received("tfrc"), some(one, LIMITED), TFRC_RECEIVED, RATES.values(), within_three,
              {15: "tfrc-end: those on their way when the run ends, which the paper counts on"}),
    # Here it is the losses that are the paper's.
    *sweep("window", "TFRC received", "packets", received("tfrc"), some(one, FULL), TFRC_RECEIVED[4:], within_three, HEADER,
           off=("10 % less", {w: one[w].set({"senders.tfrc.rate": f"{0.9 * RATES[w][1]:g} kbit/s"}) for w in FULL})),
    *sweep("window", "TCP sent", "packets", sent("tcp"), one, TCP_SENT, lambda n: near(n, PART), of_windows(HEADER, FULL), off=SMALLER),
    *sweep("window", "TCP received", "packets", received("tcp"), one, TCP_RECEIVED, lambda n: near(n, PART), of_windows(HEADER, FULL), off=SMALLER),
    *sweep("window", "Fig. 2: TFRC received / TCP received", "%", of("tfrc", "tcp", received), some(one, LIMITED), ["a fair share"] * 4, paper(99, 101),
           off=SMALLER),
    *sweep("window", "Fig. 2: TFRC not delivered, more than TCP", "10^-3", undelivered("tfrc", "tcp"), some(one, FULL), (0.1, 1.13), paper(0.05), HEADER),
    *sweep("window", "Fig. 3: delay of TFRC / of TCP", "%", of("tfrc", "tcp", delay), some(one, LIMITED), ["similar"] * 4, paper(90, 110)),
    *sweep("window", "Fig. 3: delay of TFRC / of TCP", "%", of("tfrc", "tcp", delay), some(one, FULL), ["less"] * 2, paper(high=100), HEADER),
    *(arithmetic(f"Fig. 4, by Table 1: lost by TFRC / by TCP, window {w}", "%", 100 * (TFRC_SENT[n] - TFRC_RECEIVED[n]) / (TCP_SENT[n] - TCP_RECEIVED[n]),
                 "less", paper(high=100), f"{TFRC_SENT[n] - TFRC_RECEIVED[n]} against {TCP_SENT[n] - TCP_RECEIVED[n]} packets")
      for n, w in ((4, 21), (5, 30))),
    arithmetic("Table 1, window 30: both on one link", "Mbit/s", (TFRC_SENT[5] + TCP_SENT[5]) / SECONDS / 125, 2, paper(0, 2), "the stated link has 2 Mbit/s"),
    *by_rate("Table 1", [said for said, _ in RATES.values()], TFRC_SENT),
    *drawn_rows,
], drawn, breaks="a path of another length, or a longer queue")

headed = {w: with_header(one[w], RATES[w][1]) for w in FULL}
header = Experiment("tfrc-header", "Table 1, windows 21 and 30: TFRC's packets with 40 bytes of header above their 1000", [
    *(row_ for what, value, flow, printed in (("sent", sent, "tcp", TCP_SENT), ("received", received, "tcp", TCP_RECEIVED),
                                              ("received", received, "tfrc", TFRC_RECEIVED))
      for row_ in sweep("window", f"{flow.upper()} {what}", "packets", value(flow), headed, printed[4:], lambda n: near(n, 0.005),
                        off=("no header", some(one, FULL)) if flow == "tcp" else None)),
    *sweep("window", "Fig. 2: TFRC not delivered, more than TCP", "10^-3", undelivered("tfrc", "tcp"), headed, (0.1, 1.13), paper(0.05),
           off=("no header", some(one, FULL))),
    *sweep("window", "Fig. 3: delay of TFRC / of TCP", "%", of("tfrc", "tcp", delay), headed, ["less"] * 2, paper(high=100),
           "open: tried headers of 32 and 40 bytes: 99.2 and 98.9 % at window 21, 99.3 and 102 % at 30", off=("no header", some(one, FULL))),
], breaks="a queue that TFRC's packets lose", beyond=True)

PAIRS = {0.5: ((0.51, 510), (0.49, 509)), 1: ((1, 1000), (1, 1000)), 2: ((2, 2000), (2, 2000)), 3: ((3, 3000), (3, 3000)),
         4: ((4, 4000), (4, 4000)), 5: ((5, 4866), (4.87, 4865))}  # of TFRC and of UDP
pairs = {x: base.set({"senders.tcp": None, "senders.tfrc.rate": f"{tfrc} kbit/s", "senders.udp.rate": f"{udp} kbit/s"})
         for x, ((_, tfrc), (_, udp)) in PAIRS.items()}
headed_pairs = {x: with_header(case, PAIRS[x][0][1]) for x, case in pairs.items()}
LATER = "tfrc-later: the paper's first data packet leaves 12 ms later"
LAST = "tfrc-end: the paper's run lasts one packet longer"
UNDER_WAY = "tfrc-end: those on their way when the run ends"
LOST = ("open: the paper loses 9 packets more of each at 82 % load; tried headers of 32 and 40 bytes (none lost at 4 Mbit/s; 27 and 25 at 5, the "
        "paper 22 and 61) and first data 12 ms later")
drawn, drawn_rows = figures("rate of each (Mbit/s)", {"TFRC": "tfrc", "UDP": "udp"}, pairs,
                            ("Fig. 5: packet delivery ratio", "", delivery), ("Fig. 6: packet loss ratio", "", loss))
RECEIVED, UDP_RECEIVED = (6369, 12486, 24969, 37455, 49926, 60740), (6356, 12487, 24974, 37460, 49933, 60691)
TFRC_SENT2, UDP_SENT = (6370, 12487, 24971, 37458, 49944, 60762), (6357, 12488, 24975, 37463, 49951, 60752)
of_tfrc, of_udp = zip(*PAIRS.values())
table2 = Experiment("tfrc-table2", "Table 2, Figs. 5 and 6: application-limited TFRC and UDP", [
    *by_count(("Mbit/s", "TFRC sent", "tfrc"), sent("tfrc"), pairs, TFRC_SENT2, of_tfrc, within_three, dict.fromkeys((2, 3, 4), LATER)),
    *by_count(("Mbit/s", "TFRC received", "tfrc"), received("tfrc"), pairs, RECEIVED, of_tfrc, within_three, {4: LOST, 5: LOST}),
    *by_count(("Mbit/s", "UDP sent", "udp"), sent("udp"), pairs, UDP_SENT, of_udp, exactly, {4: LAST}),
    *by_count(("Mbit/s", "UDP received", "udp"), received("udp"), pairs, UDP_RECEIVED, of_udp, within_three, {3: UNDER_WAY, 4: LOST, 5: LOST}),
    row("Fig. 5, 5 Mbit/s: TFRC not delivered, more than UDP", "10^-3", undelivered("tfrc", "udp"), pairs[5], paper=-0.64, band=paper(high=0), why=LOST),
    arithmetic("Figs. 5 and 6, by Table 2: lost by TFRC / by UDP, 2 Mbit/s", "%", 200, "less", paper(high=100), "2 of 24971 against 1 of 24975 packets"),
    *sweep("Mbit/s", "conclusion: delay of TFRC / of UDP", "%", of("tfrc", "udp", delay), pairs, ["less"] * len(pairs), paper(high=100),
           "tfrc-table2: which of two that meet is the first; 40 bytes of header turn it round", off=("40 bytes of header", headed_pairs)),
    *by_rate("Table 2, TFRC", (5,), TFRC_SENT2[5:]), *by_rate("Table 2, UDP", (0.49,), UDP_SENT),
    *drawn_rows,
], drawn, breaks="packets lost in the queue")

narrow = base.set({"senders.tfrc": None, "senders.udp.host": "s1", "senders.udp.to": "d1", "links.left.out~right.in.rate": "1 Mbit/s"})
floods = {x / 1000: narrow.set({"senders.udp.rate": f"{x} kbit/s"}) for x in range(500, 4001, 500)}
drawn, drawn_rows = figures("UDP rate (Mbit/s)", {"TCP": "tcp", "UDP": "udp"}, floods, ("Fig. 7: packet delivery ratio", "", delivery),
                            ("Fig. 8: end-to-end delay", "ms", delay), ("Fig. 9: packet loss ratio", "", loss))
full = {x: case for x, case in floods.items() if x >= 1}
READ_OFF = f"the link of 1 Mbit/s is the paper's count over {SECONDS} s"


def starved(*printed):
    """Of TCP beside a UDP that fills the link."""
    return {x: twofold(number) for x, number in zip(full, printed)}


LINK = ("10 Mbit/s in the middle", {x: case.set({"links.left.out~right.in.rate": "10 Mbit/s"}) for x, case in floods.items()})
table3 = Experiment("tfrc-table3", "Table 3, Figs. 7-9: TCP against UDP, 1 Mbit/s in the middle", [
    *by_count(("Mbit/s", "UDP sent", "udp"), sent("udp"), floods, (6244, 12488, 18732, 24975, 31219, 37463, 43707, 49951),
              [(x, round(1000 * x)) for x in floods], exactly, {4: LAST}),
    *sweep("Mbit/s", "UDP received", "packets", received("udp"), {0.5: floods[0.5]}, (6225,), lambda n: near(n, 0.005), off=LINK),
    *sweep("Mbit/s", "UDP received", "packets", received("udp"), full, (12438, 12455, 12469, 12477, 12480, 12480, 12481), paper(12430, 12490),
           {1: "tfrc-later: with a least RTO of 1 s it is in the band"}, off=LINK, derived=READ_OFF),
    *sweep("Mbit/s", "TCP sent", "packets", sent("tcp"), floods, (6040, 74, 57, 36, 28, 23, 21, 20),
           {**starved(74, 57, 36, 28, 23, 21, 20), 0.5: near(6040, 0.005)}, off=LINK),
    *sweep("Mbit/s", "TCP received", "packets", received("tcp"), floods, (6021, 47, 31, 17, 10, 7, 7, 6),
           {**starved(47, 31, 17, 10, 7, 7, 6), 0.5: near(6021, 0.005)}, off=LINK),
    *drawn_rows,
], drawn)

longer = {"duration": "101 s"}  # senders stop at 100 s all the same
end = Experiment("tfrc-end", "What is counted at the end of the run: one packet longer, and until all have arrived", [
    row("Table 1, window 15: TFRC received", "packets", received("tfrc"), one[15].set(longer), paper=45779, band=within_three(45779),
        derived=f"the rate is the paper's count over {SECONDS} s"),
    row("Table 2, 3 Mbit/s: UDP received", "packets", received("udp"), pairs[3].set(longer), paper=37460, band=within_three(37460),
        off=("a run that ends with the senders", pairs[3])),
    row("Tables 2 and 3, 4 Mbit/s: UDP sent until 100.002 s", "packets", sent("udp"),
        pairs[4].set({**longer, "senders.udp.stop": "100.002 s"}), paper=49951, band=exactly(49951), off=("until 100 s", pairs[4])),
], beyond=True)

PAPER = Paper("tfrc", "TFRC for congestion control in a wired environment, Sreenivasa Rao, Janani, Chenna Reddy", (20, 1),
              [table1, header, table2, table3, end])
