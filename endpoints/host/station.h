// SPDX-License-Identifier: BSD-3-Clause
// The Ethernet side of a Host: its own addresses, ARP and neighbour discovery, echo, and the frames of its
// flows.
//
// Sans-IO, single writer. Frames in and out are whole Ethernet frames without FCS and without VLAN tag.
// Answers ARP requests, neighbour solicitations and ICMP/ICMPv6 echo for its addresses (with IPv6 also for
// the link-local one of its MAC) and announces them at the start; resolves its gateways and the on-link peers
// that it sends to (neighbor_cache.h). A packet whose next hop is not known is dropped as
// neighbor_unresolved: a driver waits for ready() before it starts flows. What is not for us is counted under
// the router's drop reasons (headers.h):
//   ethertype       a VLAN tag, too               fragment        any: nothing is reassembled
//   no_route        IP for another address        no_kernel_peer  multicast, other protocols, link control
// At every moment: frames = to_host + arp + neighbor_discovery + echoes + icmp + drops of received frames.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "conditioners/drop_reason.h"
#include "conditioners/units.h"
#include "endpoints/host/host.h"
#include "endpoints/host/neighbor_cache.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/headers.h"
#include "router/pipeline/wire/host_messages.h"
#include "router/pipeline/wire/outbox.h"
#include "router/pipeline/wire/reply_limit.h"

namespace surety::endpoints {

struct StationParams {
  MacAddress mac{};
  std::vector<Prefix> addresses;
  std::vector<IpAddress> gateways;  // at most one of each family
  std::uint16_t mtu = 1500;
};

// A frame to be written: Ethernet header first.
using FrameSlot = Slot;

struct StationCounters {
  std::uint64_t frames = 0;              // received
  std::uint64_t to_host = 0;             // frames with TCP, UDP and DCCP
  std::uint64_t arp = 0;                 // ARP frames, understood or not
  std::uint64_t neighbor_discovery = 0;  // IPv6 ND frames, understood or not
  std::uint64_t echoes = 0;              // echo requests, answered or not
  std::uint64_t icmp = 0;                // other ICMP: errors and unsolicited answers
  std::uint64_t echo_replies = 0;        // sent
  std::uint64_t unroutable = 0;          // packets of the host without any next hop
};

class Station {
 public:
  static constexpr std::uint32_t kEchoesPerSecond = 1000, kEchoesAtOnce = 32;

  Station(StationParams params, const HostParams& host, Time now);

  Host& host() { return host_; }
  const Host& host() const { return host_; }
  // The address from which `peer` is reached: one of its family, on-link preferred. False: there is none.
  bool local_address(const IpAddress& peer, IpAddress& out) const;
  // True if there is a way to it: on-link, or a gateway of its family.
  bool on_link(const IpAddress& peer) const;
  bool reachable(const IpAddress& peer) const { return next_hop(peer) != nullptr; }

  void receive(std::span<const std::span<const std::uint8_t>> frames, Time now);
  std::size_t poll(std::span<FrameSlot> room, Time now);
  Time next_wakeup() const;

  // Requests the next hop of `peer`, as the first packet to it would.
  void resolve(const IpAddress& peer, Time now);
  bool resolved(const IpAddress& peer) const;
  bool ready() const;  // all gateways are resolved

  // Received frames that never reached the host,
  // and, as neighbor_unresolved, packets of the host that never left.
  const std::array<std::uint64_t, kDropReasons>& drops() const { return drops_; }
  const StationCounters& counters() const { return counters_; }
  std::uint64_t echoes() const { return counters_.echo_replies; }

 private:
  static constexpr std::size_t kBurst = 64, kAtOnce = 16;

  struct Subnet {
    IpAddress address, mask;
    bool contains(const IpAddress& a) const {
      return (((a.high ^ address.high) & mask.high) | ((a.low ^ address.low) & mask.low)) == 0;
    }
  };

  void announce();
  bool ours(const IpAddress& a) const;
  const IpAddress* next_hop(const IpAddress& peer) const;  // null: none
  IpAddress source_towards(const IpAddress& target) const;

  // True if the frame is for the host; `out` is its packet then.
  bool classify(std::span<const std::uint8_t> frame, IpPacket& out, Time now);
  struct Fate {
    DropReason drop = DropReason::none;
    bool to_host = false;  // neither: the `Station` has handled it
  };
  Fate take_exception(std::span<const std::uint8_t> frame, const ParsedPacket& p, PuntReason punt,
                      IpPacket& out, Time now);
  void on_arp(std::span<const std::uint8_t> bytes, Time now);
  void on_neighbor_discovery(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now);
  void on_icmp(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now);
  void ask(const NeighborCache::Request& r, Slot& slot) const;

  const MacAddress* mac_towards(const std::uint8_t* ip, Time now);  // null: counted
  std::size_t write_frames(std::span<FrameSlot> room, std::span<const Slot> packets, Time now);
  void count(DropReason r) { ++drops_[static_cast<std::size_t>(r)]; }

  ParseContext context_;
  std::vector<Subnet> subnets_;
  std::vector<IpAddress> gateways_;
  // Result of the cache for the last next hop, and the version of the cache then.
  IpAddress last_hop_;
  MacAddress last_mac_{};
  std::uint64_t last_version_ = 0;
  std::uint32_t most_;  // bytes of a frame

  Host host_;
  NeighborCache neighbors_;
  Outbox outbox_;
  ReplyLimit echo_limit_;
  StationCounters counters_;
  std::array<IpPacket, kBurst> packets_;  // on their way from receive() to the host
  std::array<Slot, kAtOnce> slots_;       // on their way from the host to frames
  std::array<std::uint64_t, kDropReasons> drops_{};
};

}  // namespace surety::endpoints
