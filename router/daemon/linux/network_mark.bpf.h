// SPDX-License-Identifier: BSD-3-Clause
// The upper half of the mark (`fwmark`) of frames that have come from the network. The lower half is the
// operator's.
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define NETWORK_MARK 0x53750000u
#define NETWORK_MARK_MASK 0xffff0000u

// The kernel permits no access to half of the field, which the compiler would generate.
static __always_inline __u32 whole_mark(const struct __sk_buff* frame) {
  __u32 mark = frame->mark;
  asm volatile("" : "+r"(mark));
  return mark;
}

static __always_inline void mark_as_of_network(struct __sk_buff* frame) {
  __u32 mark = (whole_mark(frame) & ~NETWORK_MARK_MASK) | NETWORK_MARK;
  asm volatile("" : "+r"(mark));
  frame->mark = mark;
}

// True if the kernel has forwarded the frame: frames of the kernel itself have no ingress interface.
static __always_inline int is_forwarded(const struct __sk_buff* frame) {
  return frame->ingress_ifindex != 0 && (whole_mark(frame) & NETWORK_MARK_MASK) == NETWORK_MARK;
}
