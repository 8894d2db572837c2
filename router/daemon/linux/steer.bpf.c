// SPDX-License-Identifier: BSD-3-Clause
// XDP program of the af_xdp ports: leaves the router's own traffic to the kernel's device and redirects
// transit packets to the data plane (router/daemon/linux/README.md). DPDK's net_af_xdp loads it (`xdp_prog=`)
// and fills xsks_map. Transit that no data plane takes is dropped: the kernel would forward it past every
// conditioner and queue.
#include "steer_decide.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_XSKMAP);  // the name and type that net_af_xdp looks for
  __uint(max_entries, 64);
  __type(key, __u32);
  __type(value, __u32);
} xsks_map SEC(".maps");

SEC("xdp")
int surety_steer(struct xdp_md* context) {
  const struct origin from = {context, context->ingress_ifindex};
  struct steering s = decide((void*)(long)context->data, (const void*)(long)context->data_end, 0, &from);
  if (s.class != STEER_CLASSES) return pass(&s) ? XDP_PASS : XDP_DROP;
  int action = (int)bpf_redirect_map(&xsks_map, context->rx_queue_index, XDP_DROP);
  count(action == XDP_REDIRECT ? STEER_TRANSIT : STEER_NO_SOCKET);
  return action;
}

char _license[] SEC("license") = "Dual BSD/GPL";  // bpf_fib_lookup() is for such programs only
