// SPDX-License-Identifier: BSD-3-Clause
/* Of the kernel's types just what gtcp.bpf.c touches. libbpf finds out where the running kernel has these
 * fields (CO-RE); only their names matter here. */
#pragma once

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
  union {
    __u8 u6_addr8[16];
  } in6_u;
};

struct sock_common {
  __be32 skc_daddr;
  unsigned short skc_family;
  struct in6_addr skc_v6_daddr;
};

struct sock {
  struct sock_common __sk_common;
};

struct inet_sock {
  struct sock sk;
};

struct inet_connection_sock {
  struct inet_sock icsk_inet;
  __u64 icsk_ca_priv[8];
};

struct minmax_sample {
  __u32 t;
  __u32 v;
};

struct minmax {
  struct minmax_sample s[3]; /* the first is the minimum of the window (net.ipv4.tcp_min_rtt_wlen, 300 s) */
};

struct tcp_sock {
  struct inet_connection_sock inet_conn;
  __u16 tcp_header_len; /* with the options that every segment has */
  __u32 mss_cache;
  __u32 snd_cwnd;
  __u32 snd_cwnd_cnt;
  __u32 snd_cwnd_clamp;
  __u32 snd_ssthresh;
  __u32 prior_cwnd;
  __u32 max_packets_out;
  __u32 delivered;
  __u32 srtt_us; /* eighths of a microsecond */
  struct minmax rtt_min;
  __u8 is_cwnd_limited : 1;
};

struct ack_sample;

#pragma clang attribute pop

/* Matched with the kernel's by the members' names; kernels differ in the others. */
struct tcp_congestion_ops {
  __u32 (*ssthresh)(struct sock*);
  void (*cong_avoid)(struct sock*, __u32, __u32);
  void (*set_state)(struct sock*, __u8);
  void (*pkts_acked)(struct sock*, const struct ack_sample*);
  __u32 (*undo_cwnd)(struct sock*);
  void (*init)(struct sock*);
  void (*release)(struct sock*);
  char name[16];
};

enum { AF_INET = 2, AF_INET6 = 10 };

/* enum tcp_ca_state of linux/tcp.h. */
enum { TCP_CA_CWR = 2, TCP_CA_LOSS = 4 };
