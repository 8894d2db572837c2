// SPDX-License-Identifier: BSD-3-Clause
// The ways out of the pipeline other than transmission: a named drop, or the kernel. One object per worker,
// so that every packet that leaves this way is counted once, at one place.
#pragma once

#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <span>
#include <vector>

#include "conditioners/customer_limits.h"
#include "router/pipeline/burst.h"
#include "router/pipeline/capture/capture_tap.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/flows/flow_hash.h"
#include "router/pipeline/flows/losses.h"
#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

// The kernel device behind a port: none; one that also gets every frame (af_packet); one that gets what the
// XDP program passes (af_xdp); or, for a device unknown to the kernel, the control thread's TAP mirror or
// built-in responder.
enum class KernelPeer : std::uint8_t { none, sees_all, steered, twin };

class PacketDisposal {
 public:
  // `punts`: ring to the control thread; nullptr: exceptions are dropped. `seed`: secret, and the same for
  // all of the router's `workers`, which share the punt limits evenly, except for packets without a flow.
  PacketDisposal(std::span<PortCounters> ports, std::vector<KernelPeer> peers, rte_ring* punts,
                 std::uint64_t seed = 1, std::size_t workers = 1);

  // Applies a reload: the kernel devices of the first `ports` ports. If no port has one, exceptions are
  // dropped.
  void adopt(const std::vector<KernelPeer>& peers, std::size_t ports);

  // Sets the time for punt(); once per burst.
  void at(Time now) { now_ = now; }

  void drop(rte_mbuf* m, PortIndex port, DropReason reason) { drop(m, Why{.port = port, .reason = reason}); }

  // Drops a packet with `length` bytes of IP that has an owner (mbuf_notes.h). flush() counts the
  // loss there: with a million flows the owner's counters are in no cache.
  void drop_owned(rte_mbuf* m, PortIndex port, DropReason reason, std::uint32_t length) {
    losses_.prefetch(PacketOwner::of(m), reason);
    drop(m, Why{.port = port, .reason = reason, .lost = true, .length = length});
  }
  // Drops a whole frame on its way out, in the same way.
  void drop_owned(rte_mbuf* m, PortIndex port, DropReason reason) {
    drop_owned(m, port, reason, m->pkt_len - RTE_ETHER_HDR_LEN);
  }
  Losses& losses() { return losses_; }
  const Losses& losses() const { return losses_; }

  // Sets the capture tap, which gets dropped packets and the frames that the worker's devices receive and
  // send. nullptr: none. Called between two turns.
  void set_tap(CaptureTap* tap) { tap_ = tap; }
  CaptureTap* tap() const { return tap_; }

  // Drops a packet and has the control thread report it to the sender, within its limits; counted as the drop
  // only.
  void drop_and_report(rte_mbuf* m, PortIndex port, DropReason reason, Refusal why, std::size_t l3_offset,
                       InterfaceIndex interface);
  void drop_and_report(rte_mbuf* m, PortIndex port, DropReason reason, Refusal why, const ParsedPacket& h) {
    drop_and_report(m, port, reason, why, h.l3_offset, h.interface);
  }

  // Frees a packet that ends here without a drop: a congestion signal.
  void free(rte_mbuf* m) {
    why_[count_] = {};
    defer_free(m);
  }

  // Hands the packet to the kernel, or drops it under the reason why it cannot. Punts to the control thread
  // are limited by kind and customer (control-plane policing, RFC 6192). `l3_offset`: start of the IP header
  // (0: not an IP packet); `next_hop`: the route's; `interface`: the ingress interface: one other than the
  // port itself has a TAP mirror.
  void punt(rte_mbuf* m, PortIndex port, PuntReason reason, std::size_t l3_offset, std::uint32_t next_hop,
            InterfaceIndex interface);

  // Counts losses and frees dropped packets; once per burst.
  void flush() {
    if (count_ > 0) free_deferred();
  }

 private:
  bool hand_up(rte_mbuf* m, PortIndex port, PuntReason reason, std::uint32_t what, std::size_t l3_offset,
               Customer customer, InterfaceIndex interface);
  [[gnu::noinline]] void show_drops() const;
  void free_deferred();
  struct Why {
    PortIndex port = 0;
    DropReason reason = DropReason::none;  // none: freed without a drop
    bool lost = false;                     // counted with its owner, too
    std::uint32_t length = 0;
  };
  void drop(rte_mbuf* m, const Why& why) {
    ++ports_[why.port].drops[static_cast<std::size_t>(why.reason)];
    why_[count_] = why;
    defer_free(m);
  }
  void defer_free(rte_mbuf* m) {
    deferred_[count_++] = m;
    if (count_ == deferred_.size()) flush();
  }

  // Members that every burst reads.
  std::span<PortCounters> ports_;
  CaptureTap* tap_ = nullptr;
  std::size_t count_ = 0;  // packets in deferred_

  std::vector<KernelPeer> peers_;
  rte_ring* const ring_;
  rte_ring* punts_;  // ring_, or nullptr while exceptions are dropped
  CustomerHasher customer_;
  std::vector<CustomerLimiter>
      limits_;  // indexed by reason, and one for refused packets; empty without a ring
  Time now_{};
  std::array<rte_mbuf*, kBurst> deferred_;
  std::array<Why, kBurst> why_;  // parallel to deferred_
  Losses losses_;
};

}  // namespace surety
