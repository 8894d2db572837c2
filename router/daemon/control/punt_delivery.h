// SPDX-License-Identifier: BSD-3-Clause
// Delivers the packets that workers punt: to the kernel by the TAP mirror or the punt device, to the
// responder, or as an ICMP error to the sender. Every punted packet is counted once, by its result.
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "conditioners/units.h"
#include "router/daemon/control/control_links.h"
#include "router/daemon/linux/icmp_error.h"
#include "router/pipeline/exception_counters.h"
#include "router/pipeline/flows/mbuf_notes.h"
#include "router/pipeline/routes/neighbors.h"

namespace surety {

class FrameCollector;
class FrameSender;
class LinkWatch;
class NeighborGate;

class PuntDelivery {
 public:
  static constexpr unsigned kPerRound = 256;

  // Gives an IP packet to the kernel. False: the kernel does not take it.
  using ToKernel = std::function<bool(std::span<const std::uint8_t> ip_packet)>;

  // The objects that it reads and acts on.
  struct Parts {
    ControlLinks& links;
    const NextHopTable& next_hops;
    NeighborGate& gate;
    LinkWatch& watch;
    FrameSender& sender;
    FrameCollector& collector;
  };
  // `punts`: ring that the workers fill; nullptr: none.
  PuntDelivery(const Parts& parts, rte_ring* punts, Time now);

  // Sets the way to the kernel for packets that no link's own device can take; before, there is none.
  void connect(ToKernel to_kernel) { to_kernel_ = std::move(to_kernel); }
  // Follows a change of the configuration.
  void configure();

  // Delivers the packets of the ring, at most kPerRound; true: there were some.
  bool deliver(Time now);

  const IcmpErrors& icmp_errors() const { return icmp_errors_; }

 private:
  // A punted frame, without its tags.
  struct Punted {
    std::span<std::uint8_t> frame;
    std::size_t l3 = 0;  // offset of its IP header; 0: none
    Customer customer = 0;
    InterfaceIndex interface = 0;  // ingress interface
    ControlPort* link = nullptr;   // nullptr: it was removed
    Time now{};
  };
  Punted take(rte_mbuf* m, Time now);
  void tell_refused(Refusal refusal, const Punted& p);
  ExceptionResult deliver(PuntReason reason, const NextHopEntry& hop, const Punted& p);
  ExceptionResult by_port(const Punted& p);
  ExceptionResult unresolved(const Punted& p, const NextHopEntry& hop);
  ExceptionResult to_kernel(std::span<const std::uint8_t> ip_packet);
  ExceptionResult to_sender(IcmpProblem problem, std::uint16_t mtu, const Punted& p);
  IcmpErrorResult report(IcmpProblem problem, std::uint16_t mtu, const Punted& p);
  bool from_customer(const Punted& p) const { return (*links_.interfaces())[p.interface].customer(); }

  ControlLinks& links_;
  const NextHopTable& next_hops_;
  NeighborGate& gate_;
  LinkWatch& watch_;
  FrameSender& sender_;
  FrameCollector& collector_;
  rte_ring* punts_;
  ToKernel to_kernel_;
  IcmpErrors icmp_errors_;
  std::array<std::uint8_t, IcmpErrors::kLargest> error_{};  // buffer for one frame
};

}  // namespace surety
