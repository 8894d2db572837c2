// SPDX-License-Identifier: BSD-3-Clause
// Limits the frames of each class that go to the kernel, so that one sender cannot use up the share of others
// (CONTRIBUTING.md rule 14). A class is a token bucket, and has parts, each a bucket of a sixteenth of its
// rate; the tag or the sender of a frame selects its part. A frame passes while more than half of the class's
// tokens are left, or, while any are left, if its part has one: a single sender may use all, and a sender
// below its part always gets it. Frames of known neighbours have buckets of their own, which even a sender
// with very many addresses cannot use up.
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "steer_decision.h"

#define SECOND 1000000000ull
#define DEPTH (SECOND / 4)  // depth of every bucket, as time at its rate
#define PARTS 256
#define SHARE 16

struct bucket {
  struct bpf_spin_lock lock;
  __u64 full_at;  // time when it is full again, if nothing is taken meanwhile
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 2 * STEER_CLASSES);
  __type(key, __u32);
  __type(value, struct bucket);
} police_classes SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 2 * STEER_CLASSES * PARTS);
  __type(key, __u32);
  __type(value, struct bucket);
} police_parts SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);  // evicts the neighbour silent for longest
  __uint(max_entries, 4096);
  __type(key, __u64);  // MAC address
  __type(value, __u8);
} neighbors SEC(".maps");

// Time between tokens, in nanoseconds.
static __always_inline __u64 interval(enum steer_class class) {
  switch (class) {
#define X(NAME, name, rate, help) \
  case STEER_##NAME:              \
    return SECOND / rate;
    STEER_CLASS_TABLE(X)
#undef X
    default:
      return SECOND;
  }
}

// A secret, so that no sender can find out which senders share a part.
static __u32 part_secret;

static __always_inline __u32 part_of(__u64 sender) {
  if (!part_secret) part_secret = bpf_get_prandom_u32() | 1;
  sender = (sender ^ part_secret) * 0x9e3779b97f4a7c15ull;
  sender = (sender ^ (sender >> 32) ^ part_secret) * 0x9e3779b97f4a7c15ull;
  return sender >> 56;
}

// Takes the tokens of a frame, if afterwards no more than `most` is missing.
static __always_inline int take(struct bucket* b, __u64 now, __u64 cost, __u64 most) {
  bpf_spin_lock(&b->lock);
  __u64 full_at = (b->full_at > now ? b->full_at : now) + cost;
  int has = full_at <= now + most;
  if (has) b->full_at = full_at;
  bpf_spin_unlock(&b->lock);
  return has;
}

static __always_inline int admit(enum steer_class class, __u64 mac, __u64 sender) {
  __u32 row = bpf_map_lookup_elem(&neighbors, &mac) ? STEER_CLASSES + class : class;
  __u32 place = row * PARTS + part_of(sender);
  struct bucket* all = bpf_map_lookup_elem(&police_classes, &row);
  struct bucket* own = bpf_map_lookup_elem(&police_parts, &place);
  if (!all || !own) return 1;
  __u64 now = bpf_ktime_get_ns(), cost = interval(class);
  int has_own = take(own, now, cost * SHARE, DEPTH);
  return take(all, now, cost, has_own ? DEPTH : DEPTH / 2);
}
