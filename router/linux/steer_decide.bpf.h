// SPDX-License-Identifier: BSD-3-Clause
// Which frames are for the kernel, and which are transit: what the XDP program of af_xdp ports (steer.bpf.c)
// and the guard of af_packet ports (guard.bpf.c) have in common. Steer fills the address maps.
//
// What cannot be parsed is transit, and so is TTL 0 or 1: the data plane counts it under its reason. So is
// neighbour discovery for others: what is not for a group, link-local or one of our addresses is not for us.
#pragma once

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "steer_decision.h"

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, __be32);
  __type(value, __u8);
} local_v4 SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, struct in6_addr);
  __type(value, __u8);
} local_v6 SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, STEER_DECISIONS);
  __type(key, __u32);
  __type(value, __u64);
} steer_stats SEC(".maps");

struct vlan_tag {
  __be16 control;
  __be16 protocol;
};

static __always_inline int is_vlan(__be16 protocol) {
  return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD);
}

static __always_inline int is_link_local(const struct in6_addr* a) {
  return (a->s6_addr32[0] & bpf_htonl(0xffc00000)) == bpf_htonl(0xfe800000);
}

// Congestion signals, also those addressed to this router: the data plane judges them
// (router/signals/signal_message.md). They carry no IP options.
static __always_inline int may_be_signal(const struct iphdr* ip, const void* end) {
  const __u8* icmp_type = (const __u8*)(ip + 1);
  return ip->protocol == IPPROTO_ICMP && ip->ihl == 5 && (const void*)(icmp_type + 1) <= end &&
         *icmp_type == 253;
}

static __always_inline enum steer_decision decide_ipv4(const struct iphdr* ip, const void* end) {
  if ((const void*)(ip + 1) > end || may_be_signal(ip, end)) return STEER_TRANSIT;
  __be32 destination = ip->daddr;
  return bpf_map_lookup_elem(&local_v4, &destination) ? STEER_LOCAL : STEER_TRANSIT;
}

static __always_inline enum steer_decision decide_ipv6(const struct ipv6hdr* ip, const void* end) {
  if ((const void*)(ip + 1) > end) return STEER_TRANSIT;
  const __u8* icmp_type = (const __u8*)(ip + 1);
  if (ip->nexthdr == IPPROTO_ICMPV6 && (const void*)(icmp_type + 1) <= end && *icmp_type == 100)
    return STEER_TRANSIT;  // a congestion signal
  if (is_link_local(&ip->saddr) || is_link_local(&ip->daddr)) return STEER_LINK_LOCAL;
  struct in6_addr destination = ip->daddr;
  return bpf_map_lookup_elem(&local_v6, &destination) ? STEER_LOCAL : STEER_TRANSIT;
}

static __always_inline enum steer_decision decide(const void* frame, const void* end) {
  const struct ethhdr* ethernet = frame;
  if ((const void*)(ethernet + 1) > end) return STEER_NON_IP;
  if (ethernet->h_dest[0] & 1) return STEER_MULTICAST;
  __be16 protocol = ethernet->h_proto;
  const void* payload = ethernet + 1;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const struct vlan_tag* tag = payload;
    if (!is_vlan(protocol)) break;
    if ((const void*)(tag + 1) > end) return STEER_NON_IP;
    protocol = tag->protocol;
    payload = tag + 1;
  }
  if (protocol == bpf_htons(ETH_P_IP)) return decide_ipv4(payload, end);
  if (protocol == bpf_htons(ETH_P_IPV6)) return decide_ipv6(payload, end);
  return protocol == bpf_htons(ETH_P_ARP) ? STEER_ARP : STEER_NON_IP;
}

static __always_inline void count(__u32 decision) {
  __u64* counter = bpf_map_lookup_elem(&steer_stats, &decision);
  if (counter) ++*counter;
}
