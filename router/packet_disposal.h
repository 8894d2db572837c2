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

#include "conditioners/fair_limit.h"
#include "router/capture/capture_tap.h"
#include "router/contracts/losses.h"
#include "router/counters.h"
#include "router/flows/customer_hash.h"
#include "router/interfaces/interface_record.h"
#include "router/vector.h"

namespace surety {

// What stands behind a port in the kernel: nothing; a device that sees every frame as well (af_packet); a
// device that gets what the XDP program leaves it (af_xdp); or what the control thread puts in its place for
// a device that the kernel knows nothing of: a TAP twin, or else the built-in responder.
enum class KernelPeer : std::uint8_t { none, sees_all, steered, twin };

// Why a packet is dropped of which the sender is told (RFC 1812 5.2.7.1, RFC 4443 3.1).
enum class Refusal : std::uint8_t { no_route, unreachable, prohibited, source };

class PacketDisposal {
 public:
  // `punts`: ring to the control thread, or null when nobody takes exceptions over. `seed`: nobody else's to
  // know, and the same for all of the router's `workers`, which share the limits of what goes there evenly,
  // but for what has no flow.
  PacketDisposal(std::span<PortCounters> ports, std::vector<KernelPeer> peers, rte_ring* punts,
                 std::uint64_t seed = 1, std::size_t workers = 1);

  // A reload: what stands behind the ports now, of which so many are there. With nothing behind any, nobody
  // takes exceptions over.
  void adopt(const std::vector<KernelPeer>& peers, std::size_t ports);

  // What time it is, for punt(); once per burst.
  void at(Time now) { now_ = now; }

  void drop(rte_mbuf* m, PortIndex port, DropReason reason) { drop(m, Why{.port = port, .reason = reason}); }

  // A drop of a packet, with `length` bytes of IP, that is somebody's (contracts/packet_owner.h); counted
  // there by flush(): of a million flows this one's counts are in no cache.
  void lose(rte_mbuf* m, PortIndex port, DropReason reason, std::uint32_t length) {
    losses_.expect(PacketOwner::of(m), reason);
    drop(m, Why{.port = port, .reason = reason, .lost = true, .length = length});
  }
  // The same of a whole frame on its way out.
  void lose(rte_mbuf* m, PortIndex port, DropReason reason) {
    lose(m, port, reason, m->pkt_len - RTE_ETHER_HDR_LEN);
  }
  Losses& losses() { return losses_; }
  const Losses& losses() const { return losses_; }

  // Who looks on: what is dropped, and what the worker's devices bring and get. null: nobody. Between two
  // turns.
  void set_tap(CaptureTap* tap) { tap_ = tap; }
  CaptureTap* tap() const { return tap_; }

  // A drop of which the control thread tells the sender, as far as its limits go: to the law it is the drop.
  void refuse(rte_mbuf* m, PortIndex port, DropReason reason, Refusal why, std::size_t l3_offset,
              InterfaceIndex interface);
  void refuse(rte_mbuf* m, PortIndex port, DropReason reason, Refusal why, const ParsedPacket& h) {
    refuse(m, port, reason, why, h.l3_offset, h.interface);
  }

  // Done with: a congestion signal that ends here.
  void consume(rte_mbuf* m) {
    why_[count_] = {};
    bin(m);
  }

  // Hands the packet to the kernel, or drops it under the reason that says why that cannot be. What goes to
  // the control thread is limited by kind and customer (control-plane policing, RFC 6192). `l3_offset` is
  // where its IP header starts (0: not an IP packet), `next_hop` what it was routed to, `interface` what it
  // came by: behind one that is not the port itself there stands a twin.
  void punt(rte_mbuf* m, PortIndex port, PuntReason reason, std::size_t l3_offset, std::uint32_t next_hop,
            InterfaceIndex interface);

  // Counts what was lost, and frees what was dropped; once per burst.
  void flush() {
    if (count_ > 0) empty_bin();
  }

 private:
  bool hand_up(rte_mbuf* m, PortIndex port, PuntReason reason, std::uint32_t what, std::size_t l3_offset,
               Customer customer, InterfaceIndex interface);
  [[gnu::noinline]] void show_drops() const;
  void empty_bin();
  struct Why {
    PortIndex port = 0;
    DropReason reason = DropReason::none;  // none: it was not dropped
    bool lost = false;                     // by its owner
    std::uint32_t length = 0;
  };
  void drop(rte_mbuf* m, const Why& why) {
    ++ports_[why.port].drops[static_cast<std::size_t>(why.reason)];
    why_[count_] = why;
    bin(m);
  }
  void bin(rte_mbuf* m) {
    bin_[count_++] = m;
    if (count_ == bin_.size()) flush();
  }

  // What every burst looks at.
  std::span<PortCounters> ports_;
  CaptureTap* tap_ = nullptr;
  std::size_t count_ = 0;  // of bin_

  std::vector<KernelPeer> peers_;
  rte_ring* const ring_;
  rte_ring* punts_;  // that, or null
  CustomerHasher customer_;
  std::vector<FairLimit> limits_;  // by reason, and of what is refused; none without a ring
  Time now_{};
  std::array<rte_mbuf*, kVector> bin_;
  std::array<Why, kVector> why_;  // by place in bin_
  Losses losses_;
};

// What travels with a punted mbuf in `hash.usr`, `l2_len`, `vlan_tci` (its interface), `vlan_tci_outer` (its
// Customer) and `port` (its PortIndex): written by PacketDisposal, read by the control thread.
inline std::uint32_t punted_next_hop(const rte_mbuf* m) {
  return m->hash.usr & 0xffffff;
}
inline PuntReason punted_reason(const rte_mbuf* m) {
  return static_cast<PuntReason>(m->hash.usr >> 24);  // none: it has been refused
}
inline Refusal punted_refusal(const rte_mbuf* m) {
  return static_cast<Refusal>(punted_next_hop(m));
}

}  // namespace surety
