// SPDX-License-Identifier: BSD-3-Clause
// Resolves the neighbours that packets are sent to (neighbor_resolver.h), on every port; and where no kernel
// does (no TAP mirror: an unprivileged process, `twin: off`), answers for a port: ARP and neighbour
// solicitations for the port's own addresses (RFC 826, RFC 4861 7.2), pings of the router's addresses (RFC
// 792, RFC 4443 4.2).
//
// Sans-I/O, one thread; time is an argument. Frames in and out are whole Ethernet frames without FCS and
// without VLAN tags, each with its ingress or egress interface. A template has many interfaces
// (tag_bindings.h): a neighbour there is resolved only behind the tag of its own frames. Received frames
// cannot exhaust memory: only addresses on the port's subnets are stored, up to a ceiling, and answers are
// limited. Every received frame is counted once, under its result.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conditioners/counter_table.h"
#include "router/daemon/linux/held_packets.h"
#include "router/daemon/linux/request_parts.h"
#include "router/daemon/linux/tag_bindings.h"
#include "router/pipeline/routes/neighbor_resolver.h"
#include "router/pipeline/routes/port_addresses.h"
#include "router/pipeline/wire/host_messages.h"
#include "router/pipeline/wire/outbox.h"
#include "router/pipeline/wire/reply_limit.h"

namespace surety {

// clang-format off
#define SURETY_RESPONDER_RESULTS(X)                                                                        \
  X(arp_reply,     "ARP request for an address of the port: answered")                                     \
  X(advertisement, "neighbor solicitation for an address of the port: answered")                           \
  X(echo_reply,    "ping of one of the router's addresses: answered")                                      \
  X(learned,       "reply with the MAC address of a neighbor that is being resolved")                        \
  X(unasked,       "MAC address of a neighbor that the router did not request: not stored")                  \
  X(contested,     "claims an address of a known neighbor with another MAC address or tag: the known one is verified first") \
  X(not_ours,      "request for an address that is not the port's")                                          \
  X(off_link,      "request from an address on none of the port's subnets: answered, sender not stored")     \
  X(table_full,    "request: answered, sender not stored, since there are too many neighbors")               \
  X(conflict,      "another host uses an address of the port")                                               \
  X(malformed,     "ARP, neighbor discovery or ping with wrong lengths, options or checksum")                \
  X(fragment,      "fragment of a packet to the router itself: the router does not reassemble")              \
  X(limited,       "beyond the number that is answered at once")                                             \
  X(unhandled,     "for a kernel, whether the port has one or not")
// clang-format on
SURETY_RESULTS(ResponderResult, SURETY_RESPONDER_RESULTS)

class Responder {
 public:
  static constexpr std::uint32_t kEchoesPerSecond = 1000, kEchoesAtOnce = 32;
  enum class Answers : std::uint8_t {
    all,  // answers, and announces the port's addresses (RFC 5227 3, RFC 4861 7.2.6)
    none  // a kernel does
  };

  // `seed`: secret.
  Responder(const MacAddress& mac, PortAddresses addresses, std::uint16_t mtu, Time now, std::uint64_t seed,
            Answers answers = Answers::all, std::size_t neighbors = 4096);
  // Sets the interface that this answers for, or, with `bindings`, a template whose members it answers for.
  void speak_for(InterfaceIndex interface, std::unique_ptr<TagBindings> bindings) {
    interface_ = interface;
    bindings_ = std::move(bindings);
  }

  // Adds or removes further addresses of the port, set in the kernel.
  void add_address(const Prefix& address) { addresses_.add(address); }
  void remove_address(const Prefix& address) { addresses_.remove(address); }
  void share_addresses(PortAddresses::Shared router) { addresses_.share(std::move(router)); }
  const PortAddresses& addresses() const { return addresses_; }

  // Handles a frame that the port received and that is not to be forwarded.
  ResponderResult receive(std::span<const std::uint8_t> frame, Time now,
                          std::optional<InterfaceIndex> interface = {});
  // Starts resolving a next hop of routes, and keeps it resolved while called. False: no room. Routing
  // protocols use link-local next hops, which hosts behind a template may not have used yet: an address made
  // from a neighbour's MAC is resolved behind the tag of that neighbour (RFC 4291 A).
  bool want(const IpAddress& next_hop, Time now);
  // Verifies a neighbour whose entry may be wrong.
  void doubt(const IpAddress& next_hop, Time now) { neighbors_.doubt(next_hop, now); }
  // Removes a neighbour's entry: its packets wait until it has answered again.
  void forget(const IpAddress& next_hop, Time now) { neighbors_.forget(next_hop, now); }
  // Holds an IP packet from port `from` for an unresolved neighbour, and sends it, with its TTL one less,
  // when the neighbour answers; if it has answered, at once, behind held packets. False: not held, for want
  // of room, because packets of that port need too many neighbours, or because the neighbour does not answer.
  // Resolution requests are shared by `interface`, for a packet with a tag, else by the packet's source.
  bool hold(const IpAddress& next_hop, std::span<const std::uint8_t> ip_packet, std::size_t from, Time now,
            std::optional<InterfaceIndex> interface = {});
  // Resolves a packet's unknown source behind this tag. False: it does not.
  bool suspect(const IpAddress& source, InterfaceIndex interface, Time now);
  // The egress interface of a packet to a neighbour; nullopt: its tag is not known.
  std::optional<InterfaceIndex> interface_towards(const IpAddress& next_hop) const;
  // The tags of a template that have neighbours.
  std::vector<InterfaceIndex> tags() const {
    return bindings_ ? bindings_->tags() : std::vector<InterfaceIndex>{};
  }
  // Takes over an entry of another process of this router.
  void inherit(const IpAddress& station, const MacAddress& mac, Time now) {
    neighbors_.believe(station, mac, now);
  }
  // The link came up, maybe to other neighbours.
  void link_up(Time now);
  // The port has another MAC address: announces its addresses, also those of a kernel, and resolves its
  // neighbours again, whose answers to earlier requests go to the previous address.
  void change_mac(const MacAddress& mac, Time now);

  // Writes frames to be sent now, at most room.size() of up to mtu + 14 bytes; returns their number. Call it
  // until the result is less than the room, whenever next_wakeup() has come, and after release().
  std::size_t poll(std::span<Slot> room, Time now);
  Time next_wakeup() const { return outbox_.empty() ? neighbors_.next_event() : Time::min(); }
  // The next neighbour that has been resolved or lost; nullopt: none.
  struct Change : NeighborResolver::Change {
    InterfaceIndex interface = 0;
  };
  std::optional<Change> next_change();
  // Sends the packets held for the neighbour of a change, or drops them if it did not answer. Call it for
  // each change.
  void release(const Change& change);
  const NeighborResolver& neighbors() const { return neighbors_; }

  const std::array<std::uint64_t, kResponderResults>& results() const { return results_; }
  std::uint64_t requests() const {
    return requests_;
  }  // requests sent: to resolve addresses, and to verify neighbours
  std::uint64_t refused() const { return refused_; }  // addresses not resolved: see hold()

 private:
  void announce();
  void write_announcements();
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
  InterfaceIndex interface_ = 0, came_by_ = 0;  // the port's; the one of the frame in progress
  std::unique_ptr<TagBindings> bindings_;       // set for a template
  PortAddresses addresses_;
  NeighborResolver neighbors_;
  HeldPackets held_;
  Outbox outbox_;
  ReplyLimit echo_limit_;
  RequestParts parts_, meetings_;  // indexed by tag or source; by tag
  std::array<std::uint64_t, kResponderResults> results_{};
  std::uint64_t requests_ = 0, refused_ = 0;
};

}  // namespace surety
