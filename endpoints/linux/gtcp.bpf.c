// SPDX-License-Identifier: BSD-3-Clause
// GTCP as a congestion control of Linux (BPF struct_ops): TCP_CONGESTION=gtcp for any program, `iperf3 -C
// gtcp`. cwnd = cwnd_G + cwnd_BE, where cwnd_G is the reserved rate times the kernel's own minimum RTT; only
// the best-effort part ever gives way. Paper: "Enhancing TCP for Networks with Guaranteed Bandwidth
// Services", section III. Without a reservation it is the kernel's Reno, to the segment; attached as
// gtcp_cubic, the best-effort part follows CUBIC (gtcp_cubic.h) instead of Reno.
//
// Parts of the paper that are here, and the kernel's own way of others:
//
// Start-up: slow start to ssthresh + cwnd_G. The initial window is the kernel's (10 segments, RFC 6928; the
// paper's is 2).
//
// Fast recovery: ssthresh() answers with cwnd_G + cwnd_BE / 2, the paper's cwnd_update. The kernel then sends
// by proportional rate reduction (RFC 6937) towards that many in flight by its SACK scoreboard, where a lost
// segment no longer counts. So the case of Figure 1, more than cwnd_BE / 2 losses that block the window,
// cannot occur, and the paper's forced transmissions for the first cwnd_G duplicate ACKs are not needed.
// cwnd ends at cwnd_update with the full ACK, as in the paper. Differences: transmissions are spread over the
// recovery instead of coming first, and a retransmission takes the place of a new segment.
//
// Timeout: the kernel sets the window to one, as the paper. Each segment that is then delivered, by a
// duplicate ACK or a new one, puts one segment of the reserved part back, until all of cwnd_G is there: the
// paper's transmissions for the first cwnd_G duplicate ACKs, with no burst. The best-effort part slow-starts
// as always. What is still missing when the recovery ends is added then: cwnd = cwnd_G + cwnd_BE.
// Differences: new data goes out after what is to be retransmitted, and slow start continues to ssthresh.
//
// Needs Linux 5.13 or newer; calls no kernel function (they differ between versions) but BPF helpers.
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "endpoints/tcp/gtcp_cubic.h"
#include "gtcp_kernel.h"
#include "gtcp_maps.h"
#include "gtcp_window.h"

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, GTCP_MAX_PREFIXES);
  __type(key, struct gtcp_prefix_v4);
  __type(value, struct gtcp_reservation);
} gtcp_v4 SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, GTCP_MAX_PREFIXES);
  __type(key, struct gtcp_prefix_v6);
  __type(value, struct gtcp_reservation);
} gtcp_v6 SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_SK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
  __type(key, int);
  __type(value, struct gtcp_socket);
} gtcp_sockets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct gtcp_totals);
} gtcp_totals SEC(".maps");

// State of one connection, in the room that the kernel keeps for its congestion control.
struct gtcp_flow {
  __u32 owed;       // segments of the reserved part that a timeout took and no ACK has put back yet
  __u32 delivered;  // the kernel's count when `owed` was last looked at
  __u8 own_ssthresh;
  __u8 counted;
  __u8 is_cubic;
  struct gtcp_cubic cubic;
};
_Static_assert(sizeof(struct gtcp_flow) <= sizeof(((struct inet_connection_sock*)0)->icsk_ca_priv), "");

#define COUNT(field)                                                       \
  do {                                                                     \
    const __u32 zero = 0;                                                  \
    struct gtcp_totals* totals = bpf_map_lookup_elem(&gtcp_totals, &zero); \
    if (totals) __sync_fetch_and_add(&totals->field, 1);                   \
  } while (0)

static __always_inline struct tcp_sock* tcp_sk(struct sock* sk) {
  return (struct tcp_sock*)sk;
}

// The barrier parts the relocated address from what is read there:
// libbpf checks sizes against the kernel's field.
static __always_inline struct gtcp_flow* flow_of(struct sock* sk) {
  void* room = ((struct inet_connection_sock*)sk)->icsk_ca_priv;
  asm volatile("" : "+r"(room));
  return room;
}

struct destination {
  struct gtcp_prefix_v6 address;
  int v4;  // the address is the last four bytes, as in ::ffff:10.0.0.1
};

static __always_inline void find_destination(struct sock* sk, struct destination* d) {
  __u32* words = (__u32*)d->address.address;
  d->address.bits = 128;
  d->v4 = 1;
  if (sk->__sk_common.skc_family == AF_INET) {
    words[3] = sk->__sk_common.skc_daddr;
    return;
  }
  BPF_CORE_READ_INTO(&d->address.address, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
  d->v4 = words[0] == 0 && words[1] == 0 && words[2] == bpf_htonl(0xffff);
}

static __always_inline struct gtcp_reservation* find_prefix(const struct destination* d) {
  if (!d->v4) return bpf_map_lookup_elem(&gtcp_v6, &d->address);
  struct gtcp_prefix_v4 v4 = {.bits = 32};
  __builtin_memcpy(v4.address, d->address.address + 12, sizeof(v4.address));
  return bpf_map_lookup_elem(&gtcp_v4, &v4);
}

// The kernel's minimum, over some minutes; before its first sample, whatever it smooths.
static __always_inline __u32 base_rtt_us(const struct tcp_sock* tp) {
  const __u32 shortest = tp->rtt_min.s[0].v;
  return shortest != ~0u ? shortest : tp->srtt_us >> 3;
}

// Current cwnd_G. Not kept: it is needed once per loss, and both the reservation and the RTT may have
// changed.
static __always_inline __u32 reserved_window(struct sock* sk) {
  const struct tcp_sock* tp = tcp_sk(sk);
  struct destination to = {};
  find_destination(sk, &to);
  const __u32 packet = tp->mss_cache + tp->tcp_header_len + (to.v4 ? 20 : 40);
  const struct gtcp_socket* own = bpf_sk_storage_get(&gtcp_sockets, sk, 0, 0);
  if (own) return gtcp_reserved(own->bytes_per_second, base_rtt_us(tp), packet);
  const struct gtcp_reservation* reservation = find_prefix(&to);
  return reservation ? gtcp_reserved(reservation->bytes_per_second, base_rtt_us(tp), packet) : 0;
}

static __always_inline int is_cwnd_limited(const struct tcp_sock* tp, __u32 slow_start_end) {
  if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited)) return 1;
  return tp->snd_cwnd < slow_start_end && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static __always_inline __u64 now_ms(void) {
  return bpf_ktime_get_ns() / 1000000;
}

static __always_inline void begin_flow(struct sock* sk, int is_cubic) {
  struct gtcp_flow* flow = flow_of(sk);
  struct destination to = {};
  const struct gtcp_cubic none = {};
  flow->owed = 0;
  flow->delivered = 0;
  flow->own_ssthresh = 0;
  flow->counted = 1;
  flow->is_cubic = is_cubic != 0;
  flow->cubic = none;
  COUNT(connections);
  const struct gtcp_socket* own = bpf_sk_storage_get(&gtcp_sockets, sk, 0, 0);
  if (own) {
    if (own->bytes_per_second) COUNT(reserved);
    return;
  }
  find_destination(sk, &to);
  struct gtcp_reservation* reservation = find_prefix(&to);
  if (!reservation) return;
  __sync_fetch_and_add(&reservation->connections, 1);
  if (reservation->bytes_per_second) COUNT(reserved);
}

SEC("struct_ops/gtcp_init")
void BPF_PROG(gtcp_init, struct sock* sk) {
  begin_flow(sk, 0);
}

SEC("struct_ops/gtcp_cubic_init")
void BPF_PROG(gtcp_cubic_init, struct sock* sk) {
  begin_flow(sk, 1);
}

SEC("struct_ops/gtcp_release")
void BPF_PROG(gtcp_release, struct sock* sk) {
  if (flow_of(sk)->counted) COUNT(closed);  // older kernels release what they did not initialise
}

SEC("struct_ops/gtcp_cong_avoid")
void BPF_PROG(gtcp_cong_avoid, struct sock* sk, __u32 ack, __u32 acked) {
  struct tcp_sock* tp = tcp_sk(sk);
  struct gtcp_flow* flow = flow_of(sk);
  const __u32 ssthresh = tp->snd_ssthresh;
  __u32 slow_start_end = ssthresh;
  if (!flow->own_ssthresh && tp->snd_cwnd >= ssthresh)
    slow_start_end = gtcp_slow_start_end(ssthresh, reserved_window(sk), 0);
  if (!is_cwnd_limited(tp, slow_start_end)) {
    if (flow->is_cubic) gtcp_cubic_pause(&flow->cubic, now_ms());
    return;
  }
  if (flow->is_cubic && tp->snd_cwnd >= slow_start_end) {
    const __u32 cwnd = tp->snd_cwnd, reserved = reserved_window(sk);
    const __u32 grown = gtcp_cubic_grow(&flow->cubic, cwnd > reserved ? cwnd - reserved : 1, cwnd, acked,
                                        now_ms(), (tp->srtt_us >> 3) / 1000);
    tp->snd_cwnd = cwnd + grown < tp->snd_cwnd_clamp ? cwnd + grown : tp->snd_cwnd_clamp;
    return;
  }
  const struct gtcp_window now = {.cwnd = tp->snd_cwnd, .count = tp->snd_cwnd_cnt};
  const struct gtcp_window next = gtcp_grow(now, slow_start_end, acked, tp->snd_cwnd_clamp);
  tp->snd_cwnd = next.cwnd;
  tp->snd_cwnd_cnt = next.count;
}

SEC("struct_ops/gtcp_ssthresh")
__u32 BPF_PROG(gtcp_ssthresh_op, struct sock* sk) {
  struct gtcp_flow* flow = flow_of(sk);
  flow->own_ssthresh = 1;
  COUNT(reductions);
  const __u32 cwnd = tcp_sk(sk)->snd_cwnd, reserved = reserved_window(sk);
  if (!flow->is_cubic) return gtcp_ssthresh(cwnd, reserved, flow->owed);
  const __u32 held = reserved > flow->owed ? reserved - flow->owed : 0;
  return reserved + gtcp_cubic_reduce(&flow->cubic, cwnd > held ? cwnd - held : 0);
}

SEC("struct_ops/gtcp_set_state")
void BPF_PROG(gtcp_set_state, struct sock* sk, __u8 state) {
  struct tcp_sock* tp = tcp_sk(sk);
  struct gtcp_flow* flow = flow_of(sk);
  if (state == TCP_CA_LOSS) {
    flow->owed = gtcp_owed_after_timeout(tp->snd_cwnd, reserved_window(sk));
    flow->delivered = tp->delivered;
    flow->cubic.largest = 0; /* after a timeout K is 0 (RFC 9438, 4.8) */
    COUNT(timeouts);
    return;
  }
  // Into fast recovery the rest is not carried: its ssthresh holds the reserved part already.
  if (state < TCP_CA_CWR) tp->snd_cwnd += flow->owed;
  flow->owed = 0;
}

// For every ACK, duplicate or not, before the kernel sends what it allows.
SEC("struct_ops/gtcp_pkts_acked")
void BPF_PROG(gtcp_pkts_acked, struct sock* sk, const struct ack_sample* sample) {
  struct tcp_sock* tp = tcp_sk(sk);
  struct gtcp_flow* flow = flow_of(sk);
  if (flow->owed == 0) return;
  const __u32 fresh = tp->delivered - flow->delivered;
  const __u32 step = fresh < flow->owed ? fresh : flow->owed;
  flow->delivered = tp->delivered;
  flow->owed -= step;
  tp->snd_cwnd += step;
}

// The reduction was an error (a late or reordered segment):
// the window of before, which has all of the reserved part.
SEC("struct_ops/gtcp_undo_cwnd")
__u32 BPF_PROG(gtcp_undo_cwnd, struct sock* sk) {
  const struct tcp_sock* tp = tcp_sk(sk);
  flow_of(sk)->owed = 0;
  return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops gtcp = {
    .init = (void*)gtcp_init,
    .release = (void*)gtcp_release,
    .cong_avoid = (void*)gtcp_cong_avoid,
    .ssthresh = (void*)gtcp_ssthresh_op,
    .set_state = (void*)gtcp_set_state,
    .pkts_acked = (void*)gtcp_pkts_acked,
    .undo_cwnd = (void*)gtcp_undo_cwnd,
    .name = GTCP_NAME,
};

// The other choice of `surety-gtcp attach`, under the same name.
SEC(".struct_ops")
struct tcp_congestion_ops gtcp_cubic = {
    .init = (void*)gtcp_cubic_init,
    .release = (void*)gtcp_release,
    .cong_avoid = (void*)gtcp_cong_avoid,
    .ssthresh = (void*)gtcp_ssthresh_op,
    .set_state = (void*)gtcp_set_state,
    .pkts_acked = (void*)gtcp_pkts_acked,
    .undo_cwnd = (void*)gtcp_undo_cwnd,
    .name = GTCP_NAME,
};

// The kernel takes struct_ops from programs under a licence compatible with the GPL only.
char _license[] SEC("license") = "Dual BSD/GPL";
