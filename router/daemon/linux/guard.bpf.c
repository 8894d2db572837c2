// SPDX-License-Identifier: BSD-3-Clause
// Traffic control program at the ingress of the af_packet ports: the data plane has a copy of every frame,
// and the kernel gets the frames for the router itself. Transit is dropped here: a forwarding kernel would
// send it once more, past every conditioner and queue. Passed frames are marked as from the network
// (divert.bpf.c).
#include <linux/pkt_cls.h>

#include "network_mark.bpf.h"
#include "steer_decide.bpf.h"

SEC("tc")
int surety_guard(struct __sk_buff* frame) {
  // Headers may lie in a page of their own. Ethernet, a tag, IPv4 with options, ports, or DHCP up to the
  // client's MAC address: 82 bytes.
  bpf_skb_pull_data(frame, frame->len < 82 ? frame->len : 82);
  __u32 tag = frame->vlan_present ? frame->vlan_tci : 0;
  const struct origin from = {frame, frame->ifindex};
  struct steering s = decide((void*)(long)frame->data, (const void*)(long)frame->data_end, tag, &from);
  mark_as_of_network(frame);
  if (s.class != STEER_CLASSES) return pass(&s) ? TC_ACT_OK : TC_ACT_SHOT;
  count(STEER_TRANSIT);
  return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Dual BSD/GPL";  // bpf_fib_lookup() is for such programs only
