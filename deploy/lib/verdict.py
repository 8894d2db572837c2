# SPDX-License-Identifier: BSD-3-Clause
"""Does each contract conform? Two samples of the counters, one after the start-up of TCP and one at the end, decide.

Rate: what the far side's TCP got in order, retransmissions not counted, in bytes of IP packets as contracts count them
(1448 of a packet's 1500 bytes are payload). Conformance is the router's own (router/operate/observe/contract_book.h), since it started: the
figure of its console and of `surety show contracts`. In so short a time one violated second is forgiven.
"""
import dataclasses

LEAST_SHARE = 0.95
FORGIVEN = 1  # second
IP_PACKET = 1500
PAYLOAD = 1448  # of it, with TCP timestamps


@dataclasses.dataclass(frozen=True)
class Sample:
    at: float  # seconds
    got: dict  # customer -> bytes of IP packets whose payload was received in order: see ip_bytes()
    in_bytes: dict  # customer -> bytes delivered IN, by the router's own account
    out_bytes: dict
    lost_in: float  # packets
    carried: float = 0  # bytes of IP packets that left for the link
    flood: int = 0  # bytes delivered
    seconds: dict = dataclasses.field(default_factory=dict)  # customer -> demanding ones, and those of them that are not violated


@dataclasses.dataclass(frozen=True)
class Result:
    name: str
    committed: float  # Mbit/s
    got: float
    counted: float  # demanding seconds
    met: float  # those of them that are not violated

    @property
    def share(self):
        return self.got / self.committed

    @property
    def verdict(self):
        if not 0 < self.counted <= self.met + FORGIVEN:
            return "VIOLATED"
        return "conforms" if self.share >= LEAST_SHARE else "BELOW THE RATE"

    @property
    def kept(self):
        return self.verdict == "conforms"


def ip_bytes(payload):
    return payload * IP_PACKET / PAYLOAD


def mbits(now, before, seconds):
    return (now - before) * 8 / 1e6 / seconds


def percent(counted, met):
    """Rounded down, as the router does: 100 % is all of it."""
    return f"{10_000 * met // counted / 100:.2f} %" if counted else "-"


def judge(customer, first, last):
    got = mbits(last.got[customer.name], first.got[customer.name], last.at - first.at)
    return Result(customer.name, customer.mbits, got, *last.seconds[customer.name])


def line(result, qos):
    text = f"{result.name}: committed {result.committed:.2f}, delivered {result.got:.2f} Mbit/s ({result.share:.0%})"
    if not qos:
        return f"{text}: {'starved' if starved(result) else 'not starved'}"
    return f"{text}, conformance {percent(result.counted, result.met)}: {result.verdict}"


def starved(result):
    return result.share < LEAST_SHARE


def flood_line(name, sent, got, qos):
    took = "takes only what is left" if qos else "takes the link"
    return f"{name}: no contract, sent {sent:.1f}, delivered {got:.2f} Mbit/s: {took}"


def link_line(link_mbits, first, last, qos):
    got = mbits(last.carried, first.carried, last.at - first.at)
    text = f"link: {got:.2f} of {link_mbits} Mbit/s carried"
    if qos:
        text += f", {last.lost_in - first.lost_in:.0f} IN packets dropped"
    busy = got < LEAST_SHARE * link_mbits
    return text + ("; this machine was too busy to give the router its core, so repeat the trial" if busy else "")


def shown(results, qos):
    """Whether the trial showed what it is there to show: every contract conforms, or without contracts all customers are starved."""
    return all(r.kept for r in results) if qos else all(starved(r) for r in results)
