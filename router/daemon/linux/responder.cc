// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/responder.h"

#include <algorithm>

#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/host_messages.h"
#include "router/pipeline/wire/rewrite.h"

namespace surety {

using Result = ResponderResult;

namespace {

// Room for a header of our own and a packet of the link's MTU, at least that of IPv6.
std::uint32_t frame_room(std::uint16_t mtu) {
  return static_cast<std::uint32_t>(kEthernetHeader) + std::max<std::uint32_t>(mtu, 1280);
}

Ethertype type_of(const std::uint8_t* ip) {
  return ip[0] >> 4 == 6 ? kIpv6Type : kIpv4Type;
}

Result named(NeighborResolver::Learned learned) {
  using Learned = NeighborResolver::Learned;
  if (learned == Learned::learned) return Result::learned;
  return learned == Learned::contested ? Result::contested : Result::unasked;
}

}  // namespace

Responder::Responder(const MacAddress& mac, PortAddresses addresses, std::uint16_t mtu, Time now,
                     std::uint64_t seed, Answers answers, std::size_t neighbors)
    : mac_(mac),
      answers_(answers),
      addresses_(std::move(addresses)),
      neighbors_(neighbors),
      held_(frame_room(mtu) - kEthernetHeader),
      outbox_(frame_room(mtu)),
      echo_limit_(kEchoesPerSecond, kEchoesAtOnce, now),
      parts_(seed),
      meetings_(seed) {
  announce();
}

void Responder::announce() {
  if (answers_ == Answers::all) write_announcements();
}

void Responder::write_announcements() {
  if (bindings_) return;  // thousands of members get no announcement
  for (const auto& own : addresses_.list()) {
    const Slot slot = outbox_.next();
    if (slot.data == nullptr) return;
    const IpAddress& a = own.address;
    if (a.is_v6()) {
      const std::uint8_t flags = nd::kRouterFlag | nd::kOverrideFlag;
      nd::write(slot.data, nd::multicast_mac(nd::all_nodes()), mac_, a, nd::all_nodes(),
                {.solicitation = false, .flags = flags, .target = a, .link_layer = mac_});
      outbox_.commit(nd::kFrame, interface_);
    } else {
      arp::write(slot.data, kBroadcastMac, {arp::Operation::request, mac_, {}, a, a});
      outbox_.commit(arp::kFrame, interface_);
    }
  }
}

void Responder::link_up(Time now) {
  announce();
  neighbors_.restart(now);
}

void Responder::change_mac(const MacAddress& mac, Time now) {
  mac_ = mac;
  const bool v6 = std::ranges::any_of(addresses_.list(), [](const Prefix& p) { return p.address.is_v6(); });
  if (answers_ == Answers::all && v6) addresses_.add({nd::link_local(mac), 64});
  write_announcements();
  neighbors_.restart(now);
}

Result Responder::receive(std::span<const std::uint8_t> frame, Time now,
                          std::optional<InterfaceIndex> interface) {
  came_by_ = interface.value_or(interface_);
  const Result r = judge(frame, now);
  ++results_[static_cast<std::size_t>(r)];
  return r;
}

Result Responder::judge(std::span<const std::uint8_t> frame, Time now) {
  ParsedPacket p;
  const ParseOutcome outcome = parse(frame, {.mac = mac_}, p);
  if (outcome.drop != DropReason::none) return Result::malformed;
  if (p.l3_offset != kEthernetHeader) return Result::unhandled;
  if (outcome.punt == PuntReason::arp) return on_arp(frame.subspan(p.l3_offset), now);
  if (outcome.punt == PuntReason::control || outcome.punt == PuntReason::multicast ||
      outcome.punt == PuntReason::dhcp)
    return Result::unhandled;
  if (p.fragment) return Result::fragment;
  const IpPacket packet = ip_packet(frame, p);
  if (outcome.punt == PuntReason::neighbor_discovery) return on_discovery(frame, packet, now);
  return answers_ == Answers::none ? Result::unhandled : on_echo(frame, packet, now);
}

// True if the address is bound to another tag: the neighbour there is verified, and keeps it if it answers.
bool Responder::contested(const IpAddress& sender, Time now) {
  const auto owner = bindings_ ? bindings_->find(sender) : std::nullopt;
  if (!owner || *owner == came_by_) return false;
  neighbors_.doubt(sender, now);
  return true;
}

bool Responder::suspect(const IpAddress& source, InterfaceIndex interface, Time now) {
  came_by_ = interface;
  return bindings_ && !contested(source, now) &&
         meet(source, {}, Result::unhandled, now) == Result::unhandled;
}

bool Responder::want(const IpAddress& next_hop, Time now) {
  if (bindings_ && is_link_local_v6(next_hop) && !bindings_->find(next_hop))
    if (const auto tag = tag_of_maker(next_hop)) bindings_->bind(next_hop, *tag);
  return neighbors_.want(next_hop, now);
}

// nullopt if several tags have such neighbours: one of them has taken another's MAC.
std::optional<InterfaceIndex> Responder::tag_of_maker(const IpAddress& link_local) const {
  std::optional<InterfaceIndex> found;
  bool several = false;
  neighbors_.for_each_known([&](const IpAddress& address, const MacAddress& mac) {
    if (nd::link_local(mac) != link_local) return;
    const auto tag = bindings_->find(address);
    several |= tag && found && *tag != *found;
    if (tag) found = tag;
  });
  return several ? std::nullopt : found;
}

std::optional<InterfaceIndex> Responder::interface_towards(const IpAddress& next_hop) const {
  return bindings_ ? bindings_->find(next_hop) : std::optional(interface_);
}

// An address without a tag was not requested.
NeighborResolver::Learned Responder::learn(const IpAddress& sender, const MacAddress& mac, bool answer,
                                           Time now) {
  if (!interface_towards(sender)) return NeighborResolver::Learned::unasked;
  return neighbors_.learn(sender, mac, answer, now);
}

// Handles a neighbour that has requested our address, and got its answer. Addresses that cannot be on the
// link cost no permit, and each tag has permits of its own.
Result Responder::meet(const IpAddress& sender, const MacAddress& mac, Result answered, Time now) {
  if (!addresses_.on_link(sender)) return Result::off_link;
  if (bindings_ && !bindings_->may_bind(sender, came_by_)) return Result::table_full;
  if (!neighbors_.contains(sender) && !meetings_.permit_to(0, came_by_, now)) return Result::table_full;
  if (bindings_) bindings_->bind(sender, came_by_);
  // No other neighbour is behind its tag, and it may send right after its request.
  const bool met = bindings_ && mac != MacAddress{} ? neighbors_.believe(sender, mac, now)
                                                    : neighbors_.meet(sender, mac, now);
  if (met) return answered;
  if (bindings_) bindings_->release(sender);
  return Result::table_full;
}

Result Responder::on_arp(std::span<const std::uint8_t> bytes, Time now) {
  const auto m = arp::read(bytes);
  if (!m) return Result::malformed;
  const IpAddress sender = m->sender, target = m->target;
  if (addresses_.of_port(sender)) return Result::conflict;
  if (contested(sender, now)) return Result::contested;
  const bool for_us = addresses_.of_port(target), answer = m->operation == arp::Operation::reply;
  if (!for_us || answer) {
    if (bindings_ && !answer && sender == target) return meet(sender, m->sender_mac, Result::unasked, now);
    const auto learned = learn(sender, m->sender_mac, answer && for_us, now);
    return answer || learned == NeighborResolver::Learned::contested ? named(learned) : Result::not_ours;
  }
  if (answers_ == Answers::none) return meet(sender, m->sender_mac, Result::unhandled, now);
  const Slot slot = outbox_.next();
  if (slot.data == nullptr) return Result::limited;
  arp::write(slot.data, m->sender_mac, {arp::Operation::reply, mac_, m->sender_mac, m->target, m->sender});
  say(arp::kFrame);
  return meet(sender, m->sender_mac, Result::arp_reply, now);
}

Result Responder::on_discovery(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now) {
  constexpr std::uint8_t kSolicitation = 135, kAdvertisement = 136;
  if (packet.payload[0] != kSolicitation && packet.payload[0] != kAdvertisement) return Result::unhandled;
  const auto m = nd::read(packet);
  if (!m) return Result::malformed;
  const IpAddress source = packet.source, target = m->target;
  if (!m->solicitation) {
    if (addresses_.of_port(target)) return Result::conflict;
    const MacAddress* const known = neighbors_.find(target);
    if (!m->link_layer && known == nullptr) return Result::unasked;
    if (contested(target, now)) return Result::contested;
    const bool answer = (m->flags & nd::kSolicitedFlag) != 0 && addresses_.of_port(packet.destination);
    return named(learn(target, m->link_layer ? *m->link_layer : *known, answer, now));
  }
  if (addresses_.of_port(source)) return Result::conflict;
  if (contested(source, now)) return Result::contested;
  if (!addresses_.of_port(target)) return Result::not_ours;
  const bool probe = packet.source == IpAddress::unspecified(
                                          true);  // duplicate address detection: the answer goes to all nodes
  const IpAddress to = probe ? nd::all_nodes() : packet.source;
  const MacAddress mac = probe ? nd::multicast_mac(to) : m->link_layer.value_or(read_mac(&frame[6]));
  if (!probe && (mac[0] & 1) != 0) return Result::malformed;
  if (answers_ == Answers::none) return probe ? Result::unhandled : meet(source, mac, Result::unhandled, now);
  const Slot slot = outbox_.next();
  if (slot.data == nullptr) return Result::limited;
  const auto flags =
      static_cast<std::uint8_t>(nd::kRouterFlag | nd::kOverrideFlag | (probe ? 0 : nd::kSolicitedFlag));
  nd::write(slot.data, mac, mac_, m->target, to,
            {.solicitation = false, .flags = flags, .target = m->target, .link_layer = mac_});
  say(nd::kFrame);
  if (probe) return Result::advertisement;
  return meet(source, mac, Result::advertisement, now);
}

// The answer goes to the MAC address that the request came from: the sender need not be resolved.
Result Responder::on_echo(std::span<const std::uint8_t> frame, const IpPacket& packet, Time now) {
  if (!addresses_.of_router(packet.destination) || !echo::is_request(packet)) return Result::unhandled;
  const MacAddress from = read_mac(&frame[6]);
  const bool group = (from[0] & 1) != 0;
  const Slot slot = outbox_.next();
  if (group) return Result::malformed;
  if (slot.data == nullptr || !echo_limit_.permit(now)) return Result::limited;
  Slot inner{slot.data + kEthernetHeader, slot.capacity - static_cast<std::uint32_t>(kEthernetHeader), 0};
  if (!echo::reply(packet, inner)) return Result::malformed;
  write_ethernet(slot.data, from, mac_, type_of(inner.data));
  say(static_cast<std::uint32_t>(kEthernetHeader) + inner.length);
  return Result::echo_reply;
}

// A tag has one customer, with any number of sources behind it.
bool Responder::may_ask(const IpAddress& source, std::size_t from, std::optional<InterfaceIndex> interface,
                        Time now) {
  return interface.value_or(from) != from ? parts_.permit_to(from, *interface, now)
                                          : parts_.permit(from, source, now);
}

// A next hop that is already being resolved is always admitted.
bool Responder::hold(const IpAddress& next_hop, std::span<const std::uint8_t> ip_packet, std::size_t from,
                     Time now, std::optional<InterfaceIndex> interface) {
  const bool admitted =
      interface_towards(next_hop) &&
      (neighbors_.contains(next_hop) || may_ask(source_of(ip_packet.data()), from, interface, now)) &&
      want(next_hop, now);
  if (!admitted) {
    ++refused_;
    return false;
  }
  const MacAddress* const known = neighbors_.find(next_hop);
  if (known == nullptr) return !neighbors_.unreachable(next_hop) && held_.hold(next_hop, ip_packet);
  release(next_hop, known);
  return forward(next_hop, *known, ip_packet);
}

std::optional<Responder::Change> Responder::next_change() {
  const auto change = neighbors_.next_change();
  if (!change) return {};
  const Change c{*change, interface_towards(change->address).value_or(interface_)};
  // An address being verified keeps its tag until it has not answered: the requests go there, and the answer
  // comes from there.
  if (bindings_ && (!neighbors_.contains(change->address) || neighbors_.unreachable(change->address)))
    bindings_->release(change->address);
  return c;
}

void Responder::release(const Change& change) {
  release(change.address, change.mac ? &*change.mac : nullptr);
}

void Responder::release(const IpAddress& next_hop, const MacAddress* mac) {
  while (const auto packet = held_.take(next_hop))
    if (mac != nullptr) forward(next_hop, *mac, *packet);
}

bool Responder::forward(const IpAddress& next_hop, const MacAddress& to,
                        std::span<const std::uint8_t> ip_packet) {
  const auto interface = interface_towards(next_hop);
  const Slot slot = outbox_.next();
  if (!interface || slot.data == nullptr || kEthernetHeader + ip_packet.size() > slot.capacity) return false;
  const Ethertype type = type_of(ip_packet.data());
  std::uint8_t* const ip = write_ethernet(slot.data, to, mac_, type);
  std::ranges::copy(ip_packet, ip);
  decrement_ttl(ip, type == kIpv6Type);
  outbox_.commit(static_cast<std::uint32_t>(kEthernetHeader + ip_packet.size()), *interface);
  return true;
}

// False: no own address can be the source of the request.
bool Responder::ask(const NeighborResolver::Request& r, Slot& slot) const {
  const auto source = addresses_.source_towards(r.address);
  const auto interface = interface_towards(r.address);
  if (!source || !interface) return false;
  slot.interface = *interface;
  const IpAddress target = r.address, from = *source;
  if (r.address.is_v6()) {
    const IpAddress to = r.mac ? target : nd::solicited_node(target);
    nd::write(slot.data, r.mac ? *r.mac : nd::multicast_mac(to), mac_, from, to,
              {.solicitation = true, .flags = 0, .target = target, .link_layer = mac_});
    slot.length = nd::kFrame;
  } else {
    arp::write(slot.data, r.mac ? *r.mac : kBroadcastMac, {arp::Operation::request, mac_, {}, from, target});
    slot.length = arp::kFrame;
  }
  return true;
}

std::size_t Responder::poll(std::span<Slot> room, Time now) {
  std::size_t n = outbox_.write(room);
  while (n < room.size()) {
    const auto request = neighbors_.next_request(now);
    if (!request) break;
    if (!ask(*request, room[n])) continue;
    ++n;
    ++requests_;
  }
  return n;
}

}  // namespace surety
