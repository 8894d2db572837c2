// SPDX-License-Identifier: BSD-3-Clause
// Traffic control program at the ingress of the af_packet ports: the data plane has a copy of every frame,
// and the kernel keeps what is for the router itself. Transit ends here: where the kernel forwards, it would
// send it once more, past every conditioner and queue.
#include <linux/pkt_cls.h>

#include "steer_decide.bpf.h"

SEC("tc")
int surety_guard(struct __sk_buff* frame) {
  // Headers may lie in a page of their own. Ethernet, two tags, IPv6 and the type of an ICMP message: 63
  // bytes.
  bpf_skb_pull_data(frame, frame->len < 64 ? frame->len : 64);
  enum steer_decision decision = decide((const void*)(long)frame->data, (const void*)(long)frame->data_end);
  count(decision);
  return decision == STEER_TRANSIT ? TC_ACT_SHOT : TC_ACT_OK;
}

char _license[] SEC("license") = "BSD-3-Clause";
