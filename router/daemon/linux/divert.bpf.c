// SPDX-License-Identifier: BSD-3-Clause
// Traffic control programs around the kernel: frames that it sends leave by the router, and frames from the
// network do not leave by the kernel.
//
// surety_divert, at the egress of the af_xdp and af_packet ports: redirects frames of the kernel to the
// router, which sends them through the port's queues and shaper. Frames of the data plane do not pass here
// (AF_XDP; af_packet with PACKET_QDISC_BYPASS). Without a running router the kernel sends its frames
// directly, so that this host stays reachable: the TAP device is removed with its process, and a stalled
// process is bypassed.
//
// surety_mark, at the ingress of every device by which frames of the network enter the kernel (ports, TAP
// mirrors, the punt device), marks them. surety_refuse, at the egress of TAP mirrors, and surety_divert drop
// marked frames with an ingress interface: the kernel has forwarded them, past source checks, filters and
// conditioners. Answers of the kernel are frames of its own, without an ingress interface.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "divert_state.h"
#include "network_mark.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __uint(map_flags, BPF_F_MMAPABLE);
  __type(key, __u32);
  __type(value, struct divert_state);
} state SEC(".maps");

static __always_inline int refuse(struct divert_state* s) {
  if (s) __sync_fetch_and_add(&s->refused, 1);
  return TC_ACT_SHOT;
}

SEC("tc")
int surety_divert(struct __sk_buff* frame) {
  const __u32 only = 0;
  struct divert_state* s = bpf_map_lookup_elem(&state, &only);
  if (is_forwarded(frame)) return refuse(s);
  if (!s || bpf_ktime_get_ns() >= s->until) return TC_ACT_OK;
  // `refused` below 0: there is no such device. A device without room drops the frame, and counts it.
  const long refused = bpf_clone_redirect(frame, s->tap, 0);
  return refused < 0 ? TC_ACT_OK : refused > 0 ? TC_ACT_SHOT : TC_ACT_STOLEN;
}

SEC("tc")
int surety_mark(struct __sk_buff* frame) {
  mark_as_of_network(frame);
  return TC_ACT_UNSPEC;  // other filters run next
}

SEC("tc")
int surety_refuse(struct __sk_buff* frame) {
  const __u32 only = 0;
  return is_forwarded(frame) ? refuse(bpf_map_lookup_elem(&state, &only)) : TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "BSD-3-Clause";
