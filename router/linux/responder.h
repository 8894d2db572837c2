// SPDX-License-Identifier: BSD-3-Clause
// Answers in a port's name where no kernel does (no TAP twin: an unprivileged process, `twin: off`): ARP and
// neighbour solicitations for the port's own addresses (RFC 826, RFC 4861 7.2), pings of the router's
// addresses (RFC 792, RFC 4443 4.2); and finds the stations that packets are to go to (neighbor_resolver.h).
//
// Sans-I/O, one thread; time is an argument. Frames in and out are whole Ethernet frames without FCS; none
// goes out with a VLAN tag, since the data plane sends none either. Nothing that others send makes it grow:
// only addresses on the port's subnets are remembered, up to a ceiling; answers are few at once. Every frame
// that it gets is counted once, under the name of what came of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "router/linux/held_packets.h"
#include "router/routes/neighbor_resolver.h"
#include "router/routes/port_addresses.h"
#include "router/wire/arp.h"
#include "router/wire/outbox.h"
#include "router/wire/reply_limit.h"

namespace surety {

// clang-format off
#define SURETY_RESPONDER_RESULTS(X)                                                                        \
  X(arp_reply,     "ARP request for an address of the port: answered")                                     \
  X(advertisement, "neighbour solicitation for an address of the port: answered")                          \
  X(echo_reply,    "ping of one of the router's addresses: answered")                                      \
  X(learned,       "says which station has an address that was asked for")                                 \
  X(unasked,       "says which station has an address that nobody here asked for")                         \
  X(not_ours,      "asks for an address that is not the port's")                                           \
  X(off_link,      "asks for us from an address on none of the port's subnets: answered, not remembered")  \
  X(table_full,    "asks for us: answered, but there are too many neighbours to remember it")              \
  X(conflict,      "another station uses an address of the port")                                          \
  X(malformed,     "ARP, neighbour discovery or ping that cannot be: lengths, options, checksum")          \
  X(tagged,        "with a VLAN tag: this port sends none")                                                \
  X(fragment,      "fragment of a packet to the router itself: nothing is reassembled")                    \
  X(limited,       "more at once than is answered")                                                        \
  X(unhandled,     "for a kernel: a protocol, a group or a service that nobody here has")
// clang-format on
enum class ResponderResult : std::uint8_t {
#define X(name, help) name,
  SURETY_RESPONDER_RESULTS(X)
#undef X
      none,
};
inline constexpr std::size_t kResponderResults = static_cast<std::size_t>(ResponderResult::none);
struct ResponderResultInfo {
  std::string_view name, help;
};
inline constexpr std::array<ResponderResultInfo, kResponderResults> kResponderResultInfo{{
#define X(name, help) {#name, help},
    SURETY_RESPONDER_RESULTS(X)
#undef X
}};

class Responder {
 public:
  static constexpr std::uint32_t kEchoesPerSecond = 1000, kEchoesAtOnce = 32;

  // Announces the port's addresses (RFC 5227 3, RFC 4861 7.2.6).
  Responder(const MacAddress& mac, PortAddresses addresses, std::uint16_t mtu, Time now,
            std::size_t neighbors = 4096);

  // A frame that came in by the port and is not to be forwarded.
  ResponderResult receive(std::span<const std::uint8_t> frame, Time now);
  // A station that routes lead by: asked for as long as this is called. False: no room.
  bool want(const IpAddress& next_hop, Time now) { return neighbors_.want(next_hop, now); }
  // An IP packet that was routed to a station not known: sent when that has answered, with its TTL one less;
  // at once, behind what waits for it, if it has. False: it cannot wait, for want of room or because that
  // station does not answer.
  bool hold(const IpAddress& next_hop, std::span<const std::uint8_t> ip_packet, Time now);
  // The link came up, maybe to others than before.
  void link_up(Time now);

  // Writes what is to be sent now, at most room.size() frames of up to mtu + 14 bytes; returns how many. Call
  // until it is less than the room, whenever next_wakeup() has come, and after next_change().
  std::size_t poll(std::span<Slot> room, Time now);
  Time next_wakeup() const { return outbox_.empty() ? neighbors_.next_event() : Time::min(); }
  // Which stations have become known or have gone since; none: nothing (more).
  std::optional<NeighborResolver::Change> next_change();
  const NeighborResolver& neighbors() const { return neighbors_; }

  const std::array<std::uint64_t, kResponderResults>& results() const { return results_; }
  std::uint64_t requests() const { return requests_; }  // sent: for addresses not known, and of stations

 private:
  void announce();
  ResponderResult judge(std::span<const std::uint8_t> frame, Time now);
  ResponderResult on_arp(std::span<const std::uint8_t> bytes, Time now);
  ResponderResult on_discovery(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now);
  ResponderResult on_echo(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now);
  ResponderResult meet(const IpAddress& sender, const MacAddress& mac, ResponderResult answered, Time now);
  bool ask(const NeighborResolver::Request& request, Slot& slot) const;
  void release(const IpAddress& next_hop, const MacAddress* mac);
  bool forward(const MacAddress& to, std::span<const std::uint8_t> ip_packet);

  MacAddress mac_;
  PortAddresses addresses_;
  NeighborResolver neighbors_;
  HeldPackets held_;
  Outbox outbox_;
  ReplyLimit echo_limit_;
  std::array<std::uint64_t, kResponderResults> results_{};
  std::uint64_t requests_ = 0;
};

}  // namespace surety
