# SPDX-License-Identifier: BSD-3-Clause
"""The stream that our TCP senders send (endpoints/tcp/wire_tcp.h), made here independently: one period of it."""
SEED, PERIOD = 0x5375726574790001, 65521
M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def _splitmix64(seed):
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & M64
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & M64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
        yield ((z ^ (z >> 31)) >> 32) & M32


def _xoshiro128pp(seed):
    words = _splitmix64(seed)
    s = [next(words) for _ in range(4)]

    def rotate(x, k):
        return ((x << k) | (x >> (32 - k))) & M32
    while True:
        yield (rotate((s[0] + s[3]) & M32, 7) + s[0]) & M32
        t = (s[1] << 9) & M32
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 11)


def _period():
    numbers = _xoshiro128pp(SEED)
    return bytes(next(numbers) >> 24 for _ in range(PERIOD))


PATTERN = _period()
