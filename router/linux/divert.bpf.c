// SPDX-License-Identifier: BSD-3-Clause
// Traffic control program at the egress of the af_xdp and af_packet ports: what the kernel itself sends there
// goes to the router instead, which sends it through the port's queues and shaper. What the data plane
// transmits does not pass here (AF_XDP; af_packet with PACKET_QDISC_BYPASS).
//
// Where nobody takes it the kernel sends it as without us, so that who administers this host reaches it: the
// TAP device goes with its process, and one that stands still is not waited for.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "divert_state.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, struct divert_state);
} state SEC(".maps");

SEC("tc")
int surety_divert(struct __sk_buff* frame) {
  const __u32 only = 0;
  const struct divert_state* s = bpf_map_lookup_elem(&state, &only);
  if (!s || bpf_ktime_get_ns() >= s->until) return TC_ACT_OK;
  // Below 0: there is no such device. Where that has no room it drops the frame, and counts it.
  const long refused = bpf_clone_redirect(frame, s->tap, 0);
  return refused < 0 ? TC_ACT_OK : refused > 0 ? TC_ACT_SHOT : TC_ACT_STOLEN;
}

char _license[] SEC("license") = "BSD-3-Clause";
