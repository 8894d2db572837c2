// SPDX-License-Identifier: BSD-3-Clause
/* CUBIC (RFC 9438) for the best-effort part of a window, GTCP's or all of it; plain C, shared by cubic.h and
 * linux/gtcp.bpf.c. Windows are segments of the best-effort part, times milliseconds; C = 0.4 segments/s^3,
 * beta = 0.7. Estimates have 20 fractional bits, W_cubic has 10. */
#pragma once

#include <linux/types.h>

#define GTCP_CUBIC_LONGEST_MS 100000u /* |t - K|: W_cubic is then 400,000 segments from W_max */
#define GTCP_CUBIC_ALPHA 555129u      /* 3 (1 - beta) / (1 + beta), in 2^-20 */

/* The state between two reductions. */
struct gtcp_cubic {
  __u64 start_ms; /* of the epoch: the first ACK of congestion avoidance; 0: none yet */
  __u64 last_ms;  /* the last ACK */
  __u64 estimate; /* W_est, in 2^-20 segments */
  __u64 earned;   /* towards the next segment */
  __u32 largest;  /* W_max */
  __u32 prior;    /* cwnd_prior: from here on W_est grows as Reno's window */
  __u32 turn_ms;  /* K */
};

/* The integer cube root, bit by bit. Without branches, since the kernel's verifier follows both ways of each:
 * `missing` is 1 if the bit is 0. */
static inline __u32 gtcp_cube_root(__u64 x) {
  __u64 y = 0;
  for (int shift = 63; shift >= 0; shift -= 3) {
    y += y;
    const __u64 step = 3 * y * (y + 1) + 1;
    __u64 missing = ((x >> shift) - step) >> 63;
    __asm__ volatile("" : "+r"(missing));
    x -= (step << shift) & (missing - 1);
    y += 1 - missing;
  }
  return (__u32)y;
}

/* A reduction (4.6) of a best-effort part of `window`; returns the one after it. Fast convergence (4.7). */
static inline __u32 gtcp_cubic_reduce(struct gtcp_cubic* c, __u32 window) {
  const __u32 reduced = (__u32)((__u64)window * 7 / 10);
  c->largest = window < c->largest ? (__u32)((__u64)window * 17 / 20) : window;
  c->prior = window;
  c->start_ms = 0;
  c->earned = 0;
  return reduced > 2 ? reduced : 2;
}

/* The epoch begins (4.2): K = cbrt((W_max - cwnd) / C). */
static inline void gtcp_cubic_begin(struct gtcp_cubic* c, __u32 window, __u64 now_ms) {
  if (c->largest < window) c->largest = window;
  c->turn_ms = gtcp_cube_root((__u64)(c->largest - window) * 2500000000ull); /* in ms^3 */
  c->estimate = (__u64)window << 20;
  c->start_ms = now_ms;
}

/* W_cubic(t) (4.2), in 2^-10 segments, not below 0. */
static inline __u64 gtcp_cubic_window(const struct gtcp_cubic* c, __u64 ms) {
  const __u64 far = ms > c->turn_ms ? ms - c->turn_ms : c->turn_ms - ms;
  const __u64 d = far < GTCP_CUBIC_LONGEST_MS ? far : GTCP_CUBIC_LONGEST_MS;
  const __u64 from_largest = d * d * d * 4 / 9765625; /* 0.4 (d / 1000)^3 2^10 = d^3 4 / 5^10 */
  const __u64 largest = (__u64)c->largest << 10;
  if (ms > c->turn_ms) return largest + from_largest;
  return largest > from_largest ? largest - from_largest : 0;
}

/* The window that the best-effort part of `window` approaches within a round trip (4.2 to 4.5), in 2^-10
 * segments: W_cubic(t + RTT) within [window, 1.5 window]; W_est where W_cubic(t) is below it. `acked` of the
 * `whole` window's segments are acknowledged now. */
static inline __u64 gtcp_cubic_target(struct gtcp_cubic* c, __u32 window, __u32 whole, __u32 acked,
                                      __u64 now_ms, __u32 rtt_ms) {
  if (c->start_ms == 0) gtcp_cubic_begin(c, window, now_ms);
  const __u64 t = now_ms - c->start_ms, one = (__u64)window << 10;
  const __u64 alpha = c->estimate >> 20 < c->prior ? GTCP_CUBIC_ALPHA : 1u << 20;
  c->estimate += alpha * acked / (whole != 0 ? whole : 1);
  if (gtcp_cubic_window(c, t) < c->estimate >> 10) return c->estimate >> 10;
  const __u64 target = gtcp_cubic_window(c, t + rtt_ms);
  if (target < one) return one;
  return target < one + one / 2 ? target : one + one / 2;
}

/* While anything is in flight, there is an ACK in each round trip: a longer time without one is no part of
 * the epoch (5.8). One more, since times are whole milliseconds. */
static inline void gtcp_cubic_skip_idle(struct gtcp_cubic* c, __u64 now_ms, __u32 rtt_ms) {
  const __u64 busy_until = c->last_ms + rtt_ms + 1;
  if (c->start_ms != 0 && now_ms > busy_until) c->start_ms += now_ms - busy_until;
}

/* The segments that `acked` ones earn: (target - window) / window for each, of which there are `whole` in a
 * round trip. */
static inline __u32 gtcp_cubic_grow(struct gtcp_cubic* c, __u32 window, __u32 whole, __u32 acked,
                                    __u64 now_ms, __u32 rtt_ms) {
  gtcp_cubic_skip_idle(c, now_ms, rtt_ms);
  const __u64 target = gtcp_cubic_target(c, window, whole, acked, now_ms, rtt_ms), one = (__u64)window << 10;
  const __u64 segment = (__u64)(whole != 0 ? whole : 1) << 10;
  if (target > one) c->earned += (target - one) * acked;
  const __u32 grown = (__u32)(c->earned / segment);
  c->earned %= segment;
  c->last_ms = now_ms;
  return grown;
}

/* The application, not the window, limits the flow: this time is not part of the epoch (5.8). */
static inline void gtcp_cubic_pause(struct gtcp_cubic* c, __u64 now_ms) {
  if (c->start_ms != 0) c->start_ms += now_ms - c->last_ms;
  c->last_ms = now_ms;
}
