// SPDX-License-Identifier: BSD-3-Clause
// Decides which frames are for the kernel, and which are transit: common code of the XDP program of af_xdp
// ports (steer.bpf.c) and the guard of af_packet ports (guard.bpf.c). Steer fills the address maps.
//
// Frames for the kernel have a class (steer_decision.h), and are limited (police.bpf.h). Packets of customers
// for the router's addresses are transit if the kernel's routes do not lead back to their source: the data
// plane drops them (`source_check`). If the kernel does not forward, it cannot check this, and gets them.
//
// DHCP is for the kernel if its destination is a group, a link-local address or one of our addresses, or if
// it offers an address to the client with the frame's MAC address.
//
// Frames that cannot be parsed are transit, and so are frames with a VLAN tag or TTL 0 or 1: the data plane
// counts them under their reason. So is neighbour discovery whose destination is no group, link-local address
// or address of ours.
#pragma once

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "police.bpf.h"
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

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct steer_source_check);
} source_check SEC(".maps");

struct vlan_tag {
  __be16 control;
  __be16 protocol;
};

// A frame for the kernel: its class and its sender.
struct steering {
  enum steer_class class;  // STEER_CLASSES: it is transit
  __u64 mac, sender;
};

static __always_inline int is_vlan(__be16 protocol) {
  return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD) ||
         protocol == bpf_htons(ETH_P_QINQ1) || protocol == bpf_htons(ETH_P_QINQ2);
}

static __always_inline int is_link_local(const struct in6_addr* a) {
  return (a->s6_addr32[0] & bpf_htonl(0xffc00000)) == bpf_htonl(0xfe800000);
}

// Congestion signals, also those addressed to this router: the data plane judges them
// (router/pipeline/signals/signal_message.md). They carry no IP options.
static __always_inline int may_be_signal(const struct iphdr* ip, const void* end) {
  const __u8* icmp_type = (const __u8*)(ip + 1);
  return ip->protocol == IPPROTO_ICMP && ip->ihl == 5 && (const void*)(icmp_type + 1) <= end &&
         *icmp_type == 253;
}

// The class by the first bytes of the IP payload; not `whole`: the payload does not start with them.
static __always_inline enum steer_class class_of(__u8 protocol, int whole, const __u8* data,
                                                 const void* end) {
  if (protocol == 89 || protocol == 112) return STEER_ROUTING;  // OSPF, VRRP
  if (protocol == IPPROTO_ICMP) return STEER_ICMP;
  if (!whole || (const void*)(data + 4) > end) return protocol == IPPROTO_ICMPV6 ? STEER_ICMP : STEER_LOCAL;
  if (protocol == IPPROTO_ICMPV6) return data[0] >= 133 && data[0] <= 137 ? STEER_ND : STEER_ICMP;
  __u16 from = data[0] << 8 | data[1], to = data[2] << 8 | data[3];
  if (protocol == IPPROTO_TCP && (from == 179 || to == 179)) return STEER_ROUTING;                // BGP
  if (protocol == IPPROTO_UDP && (to == 3784 || to == 3785 || to == 4784)) return STEER_ROUTING;  // BFD
  if (protocol == IPPROTO_UDP && (to == 67 || to == 68 || to == 546 || to == 547)) return STEER_DHCP;
  return STEER_LOCAL;
}

static __always_inline enum steer_class class_of_ipv4(const struct iphdr* ip, const void* end) {
  int first = (ip->frag_off & bpf_htons(0x1fff)) == 0;
  return class_of(ip->protocol, first, (const __u8*)ip + ip->ihl * 4, end);
}

// The class of a frame to a group: those of routing protocols, ND and DHCP, and one for all others. A frame
// to a group MAC address with a unicast IP destination is transit: the kernel would answer it without a
// source check.
static __always_inline enum steer_class to_group(enum steer_class class, int is_group) {
  if (!is_group) return STEER_CLASSES;
  return class == STEER_ROUTING || class == STEER_ND || class == STEER_DHCP ? class : STEER_GROUP;
}
static __always_inline int is_group_v4(__be32 destination) {  // true also for the limited broadcast address
  return bpf_ntohl(destination) >> 28 == 14 || destination == 0xffffffff;
}

// True for classes whose packets to the router's addresses pass the source check.
static __always_inline int has_checked_source(enum steer_class class) {
  return class == STEER_ICMP || class == STEER_LOCAL || class == STEER_DHCP;
}

// Sets the policing key of a packet to our addresses: its source network, so that transit sources behind a
// routing peer do not use up the peer's own bucket, and peers on one link have separate ones.
static __always_inline void set_sender(struct steering* s, __u64 network) {
  if (has_checked_source(s->class)) s->sender = network;
  if (s->class == STEER_ROUTING) s->sender ^= network << 8;
}

// The program's context, and the frame's ingress interface.
struct origin {
  void* context;
  __u32 interface;
};

// True if a packet of that class arrives where the route of its source leads. `source`: 4 or 16 bytes.
static __always_inline int comes_from_there(const struct origin* from, enum steer_class class,
                                            const void* source, int v6) {
  const __u32 only = 0;
  const struct steer_source_check* check = bpf_map_lookup_elem(&source_check, &only);
  if (!has_checked_source(class) || !check || check->sources == STEER_SOURCES_ANY) return 1;
  struct bpf_fib_lookup way = {};
  way.family = v6 ? 10 : 2;  // AF_INET6, AF_INET
  way.ifindex = check->asker;
  way.tot_len = 1;
  __builtin_memcpy(way.ipv6_dst, source, v6 ? 16 : 4);
  const long result = bpf_fib_lookup(from->context, &way, sizeof(way), 0);
  if (result == BPF_FIB_LKUP_RET_FWD_DISABLED) return 1;
  if (result != BPF_FIB_LKUP_RET_SUCCESS && result != BPF_FIB_LKUP_RET_NO_NEIGH) return 0;
  return check->sources == STEER_SOURCES_LOOSE || way.ifindex == from->interface;
}

// True for a DHCP answer to the client with the frame's destination MAC address, at the offered address,
// which the router does not have yet.
static __always_inline int is_offer(const struct ethhdr* ethernet, const struct iphdr* ip, const void* end) {
  const struct udphdr* udp = (const struct udphdr*)(ip + 1);
  const __u8* hardware = (const __u8*)(udp + 1) + 28;
  if (ip->protocol != IPPROTO_UDP || ip->ihl != 5 || (ip->frag_off & bpf_htons(0x3fff)) ||
      (const void*)(hardware + ETH_ALEN) > end)
    return 0;
  int same = 1;
  for (int i = 0; i < ETH_ALEN; ++i) same &= hardware[i] == ethernet->h_dest[i];
  return same && udp->source == bpf_htons(67) && udp->dest == bpf_htons(68);
}

// Makes an offer the broadcast that the server could have sent (RFC 2131 4.1). The kernel takes it as its
// own, and forwards it by no route.
static __always_inline void to_broadcast(struct iphdr* ip) {
  struct udphdr* udp = (struct udphdr*)(ip + 1);
  __u32 sum = (__u16)~ip->check + (__u16) ~(__u16)ip->daddr + (__u16) ~(__u16)(ip->daddr >> 16);  // RFC 1624
  sum = (sum & 0xffff) + (sum >> 16);
  ip->check = (__u16) ~((sum & 0xffff) + (sum >> 16));
  ip->daddr = 0xffffffff;
  udp->check = 0;
}

static __always_inline void decide_ipv4(struct steering* s, const struct ethhdr* ethernet, struct iphdr* ip,
                                        const void* end, const struct origin* from) {
  const int group = ethernet->h_dest[0] & 1;
  if ((const void*)(ip + 1) > end) {
    if (group) s->class = STEER_GROUP;
    return;
  }
  __be32 destination = ip->daddr;
  if (group) {
    s->class = to_group(class_of_ipv4(ip, end), is_group_v4(destination));
  } else if (!may_be_signal(ip, end) && bpf_map_lookup_elem(&local_v4, &destination)) {
    const enum steer_class class = class_of_ipv4(ip, end);
    if (!comes_from_there(from, class, &ip->saddr, 0)) return;
    s->class = class;
    set_sender(s, bpf_ntohl(ip->saddr) >> 8);
  } else if (is_offer(ethernet, ip, end)) {
    s->class = STEER_DHCP;
    to_broadcast(ip);
  }
}

static __always_inline void decide_ipv6(struct steering* s, const struct ethhdr* ethernet,
                                        const struct ipv6hdr* ip, const void* end,
                                        const struct origin* from) {
  const int group = ethernet->h_dest[0] & 1;
  if ((const void*)(ip + 1) > end) {
    if (group) s->class = STEER_GROUP;
    return;
  }
  const __u8* data = (const __u8*)(ip + 1);
  enum steer_class class = class_of(ip->nexthdr, 1, data, end);
  if (group) {
    s->class = to_group(class, ip->daddr.s6_addr[0] == 0xff);
    return;
  }
  if (ip->nexthdr == IPPROTO_ICMPV6 && (const void*)(data + 1) <= end && *data == 100)
    return;  // a congestion signal
  struct in6_addr destination = ip->daddr;
  const int from_link = is_link_local(&ip->saddr);
  if (is_link_local(&ip->daddr)) {
    if (from_link || class == STEER_ND) s->class = class;
  } else if (bpf_map_lookup_elem(&local_v6, &destination)) {
    if (!from_link && !comes_from_there(from, class, &ip->saddr, 1)) return;
    s->class = class;
    if (from_link) return;
    set_sender(s, ((__u64)bpf_ntohl(ip->saddr.s6_addr32[0]) << 32 | bpf_ntohl(ip->saddr.s6_addr32[1])) >> 8);
  }
}

// `tag`: its outermost VLAN tag, if the device has removed it; else 0.
static __always_inline struct steering decide(void* frame, const void* end, __u32 tag,
                                              const struct origin* from) {
  struct steering s = {STEER_CLASSES, 0, 0};
  const struct ethhdr* ethernet = frame;
  if ((const void*)(ethernet + 1) > end) {
    s.class = STEER_OTHER;
    return s;
  }
  for (int i = 0; i < ETH_ALEN; ++i) s.mac = s.mac << 8 | ethernet->h_source[i];
  s.sender = s.mac;
  __be16 protocol = ethernet->h_proto;
  void* payload = frame + sizeof(*ethernet);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const struct vlan_tag* next = payload;
    if (!is_vlan(protocol)) break;
    if ((const void*)(next + 1) > end) {
      protocol = 0;
      break;
    }
    tag |= bpf_ntohs(next->control);
    protocol = next->protocol;
    payload += sizeof(*next);
  }
  // The data plane finds the interface of a tagged frame; VLAN 0 has a priority only, and the kernel removes
  // any number of such tags.
  if (tag & 0xfff || is_vlan(protocol)) return s;
  if (protocol == bpf_htons(ETH_P_IP)) {
    decide_ipv4(&s, ethernet, payload, end, from);
  } else if (protocol == bpf_htons(ETH_P_IPV6)) {
    decide_ipv6(&s, ethernet, payload, end, from);
  } else {
    const __u8* llc = payload;
    int is_is = bpf_ntohs(protocol) <= ETH_DATA_LEN && (const void*)(llc + 2) <= end && llc[0] == 0xfe &&
                llc[1] == 0xfe;
    s.class = protocol == bpf_htons(ETH_P_ARP) ? STEER_ARP : is_is ? STEER_ROUTING : STEER_OTHER;
  }
  return s;
}

static __always_inline void count(__u32 decision) {
  __u64* counter = bpf_map_lookup_elem(&steer_stats, &decision);
  if (counter) ++*counter;
}

// Counts the frame; true if the kernel gets it.
static __always_inline int pass(const struct steering* s) {
  int admitted = admit(s->class, s->mac, s->sender);
  count((admitted ? STEER_PASSED : STEER_LIMITED) + s->class);
  return admitted;
}
