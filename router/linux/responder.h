// SPDX-License-Identifier: BSD-3-Clause
// Finds the stations that packets are to go to (neighbor_resolver.h), on every port; and where no kernel does
// (no TAP twin: an unprivileged process, `twin: off`), answers in a port's name: ARP and neighbour
// solicitations for the port's own addresses (RFC 826, RFC 4861 7.2), pings of the router's addresses
// (RFC 792, RFC 4443 4.2).
//
// Sans-I/O, one thread; time is an argument. Frames in and out are whole Ethernet frames without FCS and
// without VLAN tags: beside each goes the interface that it came by or is to leave by. A template's has many
// (tag_bindings.h): a station there is asked only behind the tag that it has spoken by. Nothing that others
// send makes it grow: only addresses on the port's subnets are remembered, up to a ceiling; answers are few
// at once. Every frame that it gets is counted once, under the name of what came of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "router/linux/held_packets.h"
#include "router/linux/request_parts.h"
#include "router/linux/tag_bindings.h"
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
  X(contested,     "says that another station, or one behind another tag, has an address: the one known is asked first") \
  X(not_ours,      "asks for an address that is not the port's")                                           \
  X(off_link,      "asks for us from an address on none of the port's subnets: answered, not remembered")  \
  X(table_full,    "asks for us: answered, but there are too many neighbours to remember it")              \
  X(conflict,      "another station uses an address of the port")                                          \
  X(malformed,     "ARP, neighbour discovery or ping that cannot be: lengths, options, checksum")          \
  X(fragment,      "fragment of a packet to the router itself: nothing is reassembled")                    \
  X(limited,       "more at once than is answered")                                                        \
  X(unhandled,     "for a kernel, whether there is one or not")
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
  enum class Answers : std::uint8_t {
    all,  // and announces the port's addresses (RFC 5227 3, RFC 4861 7.2.6)
    none  // a kernel does
  };

  // `seed`: nothing that a sender knows.
  Responder(const MacAddress& mac, PortAddresses addresses, std::uint16_t mtu, Time now, std::uint64_t seed,
            Answers answers = Answers::all, std::size_t neighbors = 4096);
  // From now on this speaks for an interface, or, with `bindings`, for the members of a template.
  void speak_for(InterfaceIndex interface, std::unique_ptr<TagBindings> bindings) {
    interface_ = interface;
    bindings_ = std::move(bindings);
  }

  // Further addresses of the port, of a kernel.
  void add_address(const Prefix& address) { addresses_.add(address); }
  void remove_address(const Prefix& address) { addresses_.remove(address); }
  void share_addresses(PortAddresses::Shared router) { addresses_.share(std::move(router)); }
  const PortAddresses& addresses() const { return addresses_; }

  // A frame that came in by the port and is not to be forwarded.
  ResponderResult receive(std::span<const std::uint8_t> frame, Time now,
                          std::optional<InterfaceIndex> interface = {});
  // A station that routes lead by: asked for as long as this is called. False: no room. Routing protocols
  // lead by link-local addresses, by which hosts behind a template may not have spoken: one that is made of a
  // station's MAC is asked behind that one's tag (RFC 4291 A).
  bool want(const IpAddress& next_hop, Time now);
  // What is known of a station may be wrong: it is asked.
  void doubt(const IpAddress& next_hop, Time now) { neighbors_.doubt(next_hop, now); }
  // What is known of a station is to be forgotten: its packets wait until it has answered again.
  void forget(const IpAddress& next_hop, Time now) { neighbors_.forget(next_hop, now); }
  // An IP packet that came by port `from` and was routed to a station not known: sent when that has answered,
  // with its TTL one less; at once, behind what waits for it, if it has. False: it cannot wait, for want of
  // room, because that port's packets ask for too many stations, or because that station does not answer.
  // Shares of these questions go by `interface`, where it came by one with a tag, else by its source.
  bool hold(const IpAddress& next_hop, std::span<const std::uint8_t> ip_packet, std::size_t from, Time now,
            std::optional<InterfaceIndex> interface = {});
  // A packet says that its source, not known, is behind this tag: it is asked there. False: it is not.
  bool suspect(const IpAddress& source, InterfaceIndex interface, Time now);
  // Where a packet to a station of ours leaves; none: not known behind which tag that is.
  std::optional<InterfaceIndex> interface_towards(const IpAddress& next_hop) const;
  // Behind which tags of a template some station is.
  std::vector<InterfaceIndex> tags() const {
    return bindings_ ? bindings_->tags() : std::vector<InterfaceIndex>{};
  }
  // Another router of this name has known it until now.
  void inherit(const IpAddress& station, const MacAddress& mac, Time now) {
    neighbors_.believe(station, mac, now);
  }
  // The link came up, maybe to others than before.
  void link_up(Time now);

  // Writes what is to be sent now, at most room.size() frames of up to mtu + 14 bytes; returns how many. Call
  // until it is less than the room, whenever next_wakeup() has come, and after next_change().
  std::size_t poll(std::span<Slot> room, Time now);
  Time next_wakeup() const { return outbox_.empty() ? neighbors_.next_event() : Time::min(); }
  // Which stations have become known or have gone since; none: nothing (more).
  struct Change : NeighborResolver::Change {
    InterfaceIndex interface = 0;
  };
  std::optional<Change> next_change();
  const NeighborResolver& neighbors() const { return neighbors_; }

  const std::array<std::uint64_t, kResponderResults>& results() const { return results_; }
  std::uint64_t requests() const { return requests_; }  // sent: for addresses not known, and of stations
  std::uint64_t refused() const { return refused_; }    // addresses that were not asked for: see hold()

 private:
  void announce();
  ResponderResult judge(std::span<const std::uint8_t> frame, Time now);
  ResponderResult on_arp(std::span<const std::uint8_t> bytes, Time now);
  ResponderResult on_discovery(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now);
  ResponderResult on_echo(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now);
  ResponderResult meet(const IpAddress& sender, const MacAddress& mac, ResponderResult answered, Time now);
  bool contested(const IpAddress& sender, Time now);
  NeighborResolver::Learned learn(const IpAddress& sender, const MacAddress& mac, bool answer, Time now);
  std::optional<InterfaceIndex> tag_of_maker(const IpAddress& link_local) const;
  void say(std::uint32_t length) { outbox_.commit(length, came_by_); }
  bool may_ask(const IpAddress& source, std::size_t from, std::optional<InterfaceIndex> interface, Time now);
  bool ask(const NeighborResolver::Request& request, Slot& slot) const;
  void release(const IpAddress& next_hop, const MacAddress* mac);
  bool forward(const IpAddress& next_hop, const MacAddress& to, std::span<const std::uint8_t> ip_packet);

  MacAddress mac_;
  Answers answers_;
  InterfaceIndex interface_ = 0, came_by_ = 0;  // its own; of what is looked at
  std::unique_ptr<TagBindings> bindings_;       // of a template
  PortAddresses addresses_;
  NeighborResolver neighbors_;
  HeldPackets held_;
  Outbox outbox_;
  ReplyLimit echo_limit_;
  RequestParts parts_, meetings_;  // by tag or source; by tag
  std::array<std::uint64_t, kResponderResults> results_{};
  std::uint64_t requests_ = 0, refused_ = 0;
};

}  // namespace surety
