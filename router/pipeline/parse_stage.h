// SPDX-License-Identifier: BSD-3-Clause
// The parse stage: parses a burst, eight packets at a time where all of them are ordinary, and punts or drops
// those that the pipeline does not forward.
//
// The stage counts every packet as received, and writes the index of the port into each mbuf.
#pragma once

#include <rte_mbuf.h>

#include <span>
#include <vector>

#include "router/pipeline/burst.h"
#include "router/pipeline/counters.h"
#include "router/pipeline/interface_finder.h"
#include "router/pipeline/packet_disposal.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class OrdinaryParser;

class ParseStage {
 public:
  // All arguments must outlive this object. `macs`, `ports`: indexed by port. `interfaces`: nullptr:
  // interfaces are not counted.
  ParseStage(const Snapshot& snapshot, const Fib& fib, std::span<const MacAddress> macs,
             std::span<PortCounters> ports, PacketDisposal& disposal, InterfaceCounters* interfaces);
  // Applies a reload, and changes of `macs`.
  void adopt(const Snapshot& snapshot);

  // Replaces the content of `v` by the packets of the burst, at most kBurst, that stay in the pipeline.
  void run(Burst& v, std::span<rte_mbuf* const> burst, PortIndex port);
  // True if the last burst had ICMP.
  bool icmp() const { return icmp_; }

  const ParseContext& context(PortIndex port) const { return contexts_[port]; }
  const InterfaceFinder& finder() const { return interfaces_; }
  // Corrects the outcome of parse() for a packet that must not leave its link (RFC 3927 7, RFC 4291 2.5.6,
  // RFC 4861):
  //  - punt: neighbour discovery to a group of the link, a link-local address or an address of this router;
  //    IPv6 from one link-local address to another
  //  - forward: another packet with a link-local source or destination, to an address of this router; the
  //    source check and the filters apply, and the FIB hands it to the kernel
  //  - drop link_local: everything else with such an address
  // Other outcomes are returned unchanged.
  ParseOutcome keep_on_link(const ParseOutcome& parsed, const ParsedPacket& h) const;

 private:
  std::uint64_t parse_eights(Burst& v, std::span<rte_mbuf* const> burst, PortIndex port);
  struct Taken {
    std::size_t packets = 0;
    std::uint64_t bytes = 0;
  };
  Taken parse_eights6(Burst& v, std::span<rte_mbuf* const> burst, std::size_t kept, PortIndex port) const;
  template <bool kTags>
  std::uint64_t parse_singly(Burst& v, std::span<rte_mbuf* const> burst, PortIndex port);
  bool parse_tagged(const OrdinaryParser& ordinary, rte_mbuf* m, PortIndex port, ParsedPacket& h);
  bool parse_unusual(rte_mbuf* m, PortIndex port, ParsedPacket& h);
  void take_leases(Burst& v, PortIndex port);

  const Snapshot* snapshot_;
  const Fib& fib_;
  PacketDisposal& disposal_;
  std::span<PortCounters> ports_;
  std::span<const MacAddress> macs_;
  std::vector<ParseContext> contexts_;  // indexed by port
  InterfaceFinder interfaces_;
  bool icmp_ = false;
};

}  // namespace surety
