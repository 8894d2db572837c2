// SPDX-License-Identifier: BSD-3-Clause
// XDP program of an endpoint's af_xdp port: every frame goes to the endpoint, which has the addresses; the
// kernel's device has none. DPDK's net_af_xdp loads it (`xdp_prog=`) and fills xsks_map.
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
  __uint(type, BPF_MAP_TYPE_XSKMAP);  // the name and type that net_af_xdp looks for
  __uint(max_entries, 64);
  __type(key, __u32);
  __type(value, __u32);
} xsks_map SEC(".maps");

// Steer::detach_leftover() identifies our programs by the prefix `surety_`.
SEC("xdp")
int surety_take_all(struct xdp_md* context) {
  return (int)bpf_redirect_map(&xsks_map, context->rx_queue_index, XDP_PASS);
}

char _license[] SEC("license") = "BSD-3-Clause";
