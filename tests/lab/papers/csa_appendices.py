# SPDX-License-Identifier: BSD-3-Clause
"""CSA, Appendices A to C, Tables 4 to 9: scenario 1 with either reading of the paper's T2, and with the product's control of alpha.

The paper's word is that its parameters do not matter: throughput and respect of service may move by 2 % over them, seed by seed.
Its numbers are judged too; those of its own parameters are Table 2's. Where alpha stays at its maximum, no row counts: T1, T2 and, mostly, b2
and B have nothing to act on.
"""
import dataclasses

from .csa_cases import ACTS, CLOCK, N, READINGS, cases_of, missed, rows_of
from .rows import Experiment, delivered, model, near, paper, points, ros, sweep

# Of each table the paper's numbers at N = 10, 15, 20, 25, 30, the paper's own parameters first.
OWN = ((1381.32, 1381.31, 1040.13, 1013.19, 1004.72), (98.70, 98.70, 99.71, 99.31, 98.42))
TIMERS = {
    "T1 30, T2 90 ms": ({}, *OWN),
    "T1 15, T2 45 ms": ({"alpha.t1": "15 ms", "alpha.t2": "45 ms"},
                        (1381.33, 1381.31, 1046.41, 1013.73, 1007.78), (98.70, 98.70, 99.69, 99.35, 98.77)),
    "T1 15, T2 60 ms": ({"alpha.t1": "15 ms", "alpha.t2": "60 ms"},
                        (1381.32, 1382.31, 1042.47, 1013.88, 1010.55), (98.70, 98.70, 99.69, 99.37, 99.09)),
    "T1 30, T2 120 ms": ({"alpha.t2": "120 ms"}, (1381.32, 1381.31, 1027.03, 1013.04, 1006.43), (98.70, 98.70, 99.74, 99.29, 98.64)),
}
OUT_BUCKETS = {
    "b2 = 1": ({}, *OWN),
    "b2 = 2": ({"out_bucket": "2 packets"}, (1381.36, 1381.36, 1040.03, 1012.04, 1010.72), (98.70, 98.70, 99.61, 99.27, 99.17)),
    "b2 = 3": ({"out_bucket": "3 packets"}, (1381.45, 1381.45, 1040.08, 1011.69, 1010.76), (98.71, 98.71, 99.83, 99.17, 99.12)),
    "b2 = 4": ({"out_bucket": "4 packets"}, (1381.39, 1381.38, 1039.5, 1011.19, 1010.48), (98.70, 98.70, 99.83, 99.05, 99.09)),
    "b2 = 5": ({"out_bucket": "5 packets"}, (1381.43, 1381.43, 1036.57, 1017.04, 1009.69), (98.71, 98.71, 99.62, 99.60, 98.97)),
}
BUFFERS = {
    "B = 100": ({}, *OWN),
    "B = 80": ({"buffer": "80 packets"}, (1374.33, 1374.74, 1043.90, 1027.25, 1006.87), (98.22, 98.25, 99.56, 99.26, 98.30)),
    "B = 120": ({"buffer": "120 packets"}, (1393.94, 1393.91, 1045.09, 1026.40, 1004.88), (99.62, 99.62, 99.72, 99.18, 98.13)),
    "B = 130": ({"buffer": "130 packets"}, (1399.89, 1399.89, 1045.75, 1026.86, 1004.88), (100, 100, 99.97, 99.23, 98.13)),
    "B = 150": ({"buffer": "150 packets"}, (1399.89, 1399.89, 1045.75, 1026.86, 1004.88), (100, 100, 99.97, 99.23, 98.13)),
}
IN_BUCKETS = {f"b1 = {n}": ({"in_bucket": f"{n} packets"} if n > 10 else {}, None, None) for n in (10, 20, 50)}
SHORTER = {"duration": "80 s", "measure": "20 s - 80 s"}
FIXED = "alpha fixed at 0.4"


def ratio(value):
    return lambda run, own: 100 * value(run) / value(own)


def appendix(name, title, table, readings=READINGS):
    rows = []
    first, *others = table
    [fixed] = cases_of({"": {"alpha": {"fixed": 0.4}}}, SHORTER).values()
    for reading, control in readings.items():
        cases = cases_of({variant: settings for variant, (settings, *_) in table.items()},
                         {**SHORTER, "routers.edge.services.af2.alpha.control": control})
        against_own = {n: (fixed[n], cases[first][n]) for n in N}
        beyond, unjudged = reading != "", control == "search"  # a number of the paper counts once
        for variant in others:
            _, rates, respect = table[variant]
            if rates:
                judged = (None, None) if unjudged else (near, points)
                rows += sum(rows_of(reading + variant, cases[variant], rates, respect, *judged, (missed(CLOCK, 20, 25), None), acts=ACTS, beyond=beyond,
                                    off=(FIXED, fixed)), [])
            pairs = {n: (cases[variant][n], cases[first][n]) for n in N}
            for what, value in (("throughput", delivered("f#*")), ("RoS", ros("f#*"))):
                rows += sweep("N", f"{reading}{what}, {variant} over {first}", "%", ratio(value), pairs,
                              bands=(model if unjudged else paper)(98, 102), acts=ACTS, beyond=beyond, off=(FIXED, against_own))
    return Experiment(name, title, rows, full_only=True)


def in_bucket():
    """"Performance is not influenced by the value of b1", the paper says of 10 to 50 packets."""
    made = appendix("csa-b1", "The in-bucket's depth b1 (10 to 50 packets), NewReno, RTT 20 ms", IN_BUCKETS, {"": "paper"})
    bursts = "csa-b1: bursts of 50 IN packets bring forced drops of OUT, and timeouts"
    rows = [dataclasses.replace(row, paper="not influenced", why=bursts if row.name.endswith("b1 = 50 over b1 = 10") and row.at[1] == 30 else "")
            for row in made.rows]
    cases = {name: made_cases[30] for name, made_cases in cases_of({name: settings for name, (settings, *_) in IN_BUCKETS.items()},
                                                                   {**SHORTER, "routers.edge.services.af2.alpha.control": "paper"}).items()}
    return dataclasses.replace(made, rows=[
        *rows, *sweep("", "timeouts, N = 30", "", lambda run: sum(f["timeouts"] for f in run.flows()), cases),
        *sweep("", "forced drops of OUT, N = 30", "", lambda run: run.queue("edge/up/assured")["out"]["forced_drops"], cases)])


APPENDICES = [
    appendix("csa-tables4-5", "Tables 4 and 5: T1 and T2, NewReno, RTT 20 ms", TIMERS),
    appendix("csa-tables6-7", "Tables 6 and 7: b2 (1 to 5 packets), NewReno, RTT 20 ms", OUT_BUCKETS),
    appendix("csa-tables8-9", "Tables 8 and 9: B (80 to 150 packets), NewReno, RTT 20 ms", BUFFERS),
    in_bucket(),
]
