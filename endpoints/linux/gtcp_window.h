// SPDX-License-Identifier: BSD-3-Clause
/* GTCP's arithmetic: windows in segments, as the kernel counts them. Shared by gtcp.bpf.c and its unit test,
 * so plain C. Paper: "Enhancing TCP for Networks with Guaranteed Bandwidth Services", section III; Reno is
 * RFC 5681 as Linux has it. With a reserved window of 0 all of this is Reno. */
#pragma once

#include <linux/types.h>

#define GTCP_LARGEST_RATE 125000000000ull /* bytes/s; times the longest RTT it still fits 64 bits */
#define GTCP_LONGEST_RTT_US 60000000u
#define GTCP_LARGEST_RESERVED \
  (1u << 30) /* segments; with the kernel's "infinite" ssthresh it still fits 32 bits */

struct gtcp_window {
  __u32 cwnd;
  __u32 count; /* acknowledged segments towards the next one of congestion avoidance */
};

/* cwnd_G = rate_G * rtt_base (section III.A), rounded up: one segment less could never carry the rate.
 * `packet` is a full segment with its headers, since a rate counts IP bytes. */
static inline __u32 gtcp_reserved(__u64 bytes_per_second, __u32 rtt_us, __u32 packet) {
  const __u64 rate = bytes_per_second < GTCP_LARGEST_RATE ? bytes_per_second : GTCP_LARGEST_RATE;
  const __u64 rtt = rtt_us < GTCP_LONGEST_RTT_US ? rtt_us : GTCP_LONGEST_RTT_US;
  const __u64 byte_us = 1000000ull * packet;
  if (packet == 0) return 0;
  const __u64 segments = rate * rtt / byte_us + (rate * rtt % byte_us != 0);
  return segments < GTCP_LARGEST_RESERVED ? (__u32)segments : GTCP_LARGEST_RESERVED;
}

/* cwnd_G + cwnd_BE / 2 (section III.D), the best-effort part not below Reno's 2. Of the reserved part, `owed`
 * segments are not in cwnd (they are still to be restored after a timeout). */
static inline __u32 gtcp_ssthresh(__u32 cwnd, __u32 reserved, __u32 owed) {
  const __u32 held = reserved > owed ? reserved - owed : 0;
  const __u32 half = cwnd > held ? (cwnd - held) / 2 : 0;
  return reserved + (half > 2 ? half : 2);
}

/* Where slow start ends. A threshold that this congestion control did not set (the default, a route's, that
 * of an earlier connection) is for the best-effort part alone (section III.B). */
static inline __u32 gtcp_slow_start_end(__u32 ssthresh, __u32 reserved, int own) {
  if (own) return ssthresh;
  return ssthresh <= ~0u - reserved ? ssthresh + reserved : ~0u;
}

/* The kernel is in its recovery from a timeout and left `cwnd`: 1 for the best-effort part, and what it
 * believes to be still in flight. So many segments of the reserved part are missing. */
static inline __u32 gtcp_owed_after_timeout(__u32 cwnd, __u32 reserved) {
  return cwnd <= reserved ? reserved + 1 - cwnd : 0;
}

/* Adds what `acked` segments earn: one each in slow start, one per window beyond (section III.C). */
static inline struct gtcp_window gtcp_grow(struct gtcp_window w, __u32 slow_start_end, __u32 acked,
                                           __u32 clamp) {
  if (w.cwnd < slow_start_end) {
    const __u32 room = slow_start_end - w.cwnd;
    const __u32 step = acked < room ? acked : room;
    w.cwnd += step;
    acked -= step;
    if (w.cwnd > clamp) w.cwnd = clamp;
    if (acked == 0) return w;
  }
  const __u32 window = w.cwnd != 0 ? w.cwnd : 1;
  if (w.count >= window) { /* earned with a larger window */
    w.count = 0;
    ++w.cwnd;
  }
  w.count += acked;
  if (w.count >= window) {
    w.cwnd += w.count / window;
    w.count %= window;
  }
  if (w.cwnd > clamp) w.cwnd = clamp;
  return w;
}
