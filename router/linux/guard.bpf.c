// SPDX-License-Identifier: BSD-3-Clause
// Traffic control program at the ingress of the af_packet ports: the data plane has a copy of every frame,
// and the kernel keeps what is for the router itself. Transit ends here: where the kernel forwards, it would
// send it once more, past every conditioner and queue.
#include <linux/pkt_cls.h>

#include "steer_decide.bpf.h"

SEC("tc")
int surety_guard(struct __sk_buff* frame) {
  // Headers may lie in a page of their own. Ethernet, a tag, IPv4 with options, ports: 82 bytes.
  bpf_skb_pull_data(frame, frame->len < 82 ? frame->len : 82);
  __u32 tag = frame->vlan_present ? frame->vlan_tci : 0;
  struct steering s = decide((const void*)(long)frame->data, (const void*)(long)frame->data_end, tag);
  if (s.class != STEER_CLASSES) return pass(&s) ? TC_ACT_OK : TC_ACT_SHOT;
  count(STEER_TRANSIT);
  return TC_ACT_SHOT;
}

char _license[] SEC("license") = "BSD-3-Clause";
