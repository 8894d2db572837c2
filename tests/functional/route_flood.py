# SPDX-License-Identifier: BSD-3-Clause
"""Routes by the hundred thousand: a mix of prefixes as full tables have it, and ways to get it into a kernel."""
import ipaddress
import random
import subprocess
import time

GATEWAYS = 64  # as many peers as a large edge has: the last byte of their addresses is 1 to 64


def prefixes(count, family=4, seed=1):
    """Distinct ones: most are /24 (IPv6: /48), a few are longer."""
    draw = random.Random(seed)
    bits = 32 if family == 4 else 64  # what is drawn; an IPv6 prefix is no longer than /64
    seen = {}
    while len(seen) < count:
        length = _length4(draw.randrange(100)) if family == 4 else _length6(draw.randrange(100))
        address = draw.getrandbits(bits)
        if family == 4:
            first = address >> 24
            if first in (0, 10, 127, 169, 172, 192) or first >= 198:  # what the tests and the kernel need
                continue
        else:
            address = address & (1 << 60) - 1 | 0x2 << 60
            if address >> 32 == 0x20010db8:
                continue
        seen[(address >> (bits - length) << (bits - length), length)] = None
    if family == 4:
        return [f"{ipaddress.IPv4Address(a)}/{length}" for a, length in seen]
    return [f"{ipaddress.IPv6Address(a << 64)}/{length}" for a, length in seen]


def _length4(draw):
    return 24 if draw < 60 else 22 + draw % 2 if draw < 82 else 16 + draw % 6 if draw < 97 else \
        8 + draw % 8 if draw < 98 else 25 + draw % 8


def _length6(draw):
    return 48 if draw < 48 else 32 if draw < 65 else 33 + draw % 15 if draw < 90 else 49 + draw % 16


def commands(action, routes, subnet):
    """Lines for ip(8): each route through one of the subnet's gateways."""
    return [f"route {action} {p} via {subnet}{i % GATEWAYS + 1}\n" for i, p in enumerate(routes)]


class Batch:
    """ip(8) that takes one command after the other."""

    def __init__(self, namespace):
        self._ip = subprocess.Popen(namespace.command("ip", "-force", "-batch", "-"), stdin=subprocess.PIPE, text=True,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self, lines):
        self._ip.stdin.write("".join(lines))
        self._ip.stdin.flush()

    def paced(self, lines, rate, patience=60):
        """So many a second; how many seconds it took."""
        start, slice_ = time.monotonic(), max(1, rate // 100)
        for i in range(0, len(lines), slice_):
            ahead = start + i / rate - time.monotonic()
            if ahead > 0:
                time.sleep(ahead)
            assert time.monotonic() - start < patience, "ip(8) cannot keep up"
            self.run(lines[i:i + slice_])
        return time.monotonic() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ip.stdin.close()
        self._ip.wait(300)


def load(namespace, lines):
    """Seconds until the kernel has them all."""
    start = time.monotonic()
    with Batch(namespace) as batch:
        batch.run(lines)
    return time.monotonic() - start
