// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/linux/tag_selector.h"

#include <algorithm>
#include <utility>

#include "router/pipeline/wire/dhcp.h"
#include "router/pipeline/wire/header_fields.h"
#include "router/pipeline/wire/host_messages.h"

namespace surety {

namespace {

constexpr std::uint8_t kIcmp6 = 58;
constexpr std::uint8_t kRouterSolicitation = 133, kRouterAdvertisement = 134, kNeighborSolicitation = 135;

// The ICMPv6 type of a whole packet; 0: it is another protocol.
std::uint8_t icmp6_type(std::span<const std::uint8_t> frame, const ParsedPacket& p) {
  return p.v6 && !p.fragment && p.protocol == kIcmp6 ? frame[p.l4_offset] : std::uint8_t{0};
}

// A frame of the kernel, for any neighbour.
bool parsed(std::span<const std::uint8_t> frame, ParsedPacket& p, ParseOutcome& outcome) {
  outcome = parse(frame, {.promiscuous = true}, p);
  return outcome.drop == DropReason::none;
}

}  // namespace

// The first six bytes of the hardware address identify a host: Ethernet has no more.
std::optional<TagSelector::Request> TagSelector::request_of(std::span<const std::uint8_t> frame,
                                                            const ParsedPacket& p, std::uint8_t operation) {
  const auto message = frame.subspan(std::min(frame.size(), p.l4_offset + dhcp::kUdpHeader));
  if (message.size() < dhcp::kHardware + 8 || message[0] != operation) return {};
  return Request{load<std::uint64_t>(&message[dhcp::kHardware]) & 0xffff'ffff'ffff,
                 load<std::uint32_t>(&message[dhcp::kTransaction])};
}

// A transaction of another tag stays there: its ID is a secret of its host.
void TagSelector::remember(const Request& request, InterfaceIndex tag) {
  if (!requests_.emplace(request, tag).second) return;
  std::deque<Request>& own = requests_of_[tag];
  own.push_back(request);
  if (own.size() <= hosts_) return;
  requests_.erase(own.front());
  own.pop_front();
}

void TagSelector::received(std::span<const std::uint8_t> frame, InterfaceIndex tag, Responder& responder,
                           Time now) {
  ParsedPacket p;
  ParseOutcome outcome;
  if (!parsed(frame, p, outcome) || outcome.punt == PuntReason::arp || outcome.punt == PuntReason::control)
    return;
  if (dhcp::from_client(p.key) && !p.v6)
    if (const auto request = request_of(frame, p, dhcp::kRequest)) remember(*request, tag);
  const bool solicitation = icmp6_type(frame, p) == kRouterSolicitation;
  if (solicitation) solicitors_.insert(tag);
  if (p.v6 && (solicitation || dhcp::from_client(p.key)) && is_link_local_v6(source_of(p.key)))
    responder.suspect(source_of(p.key), tag, now);
}

std::optional<InterfaceIndex> TagSelector::tag_of(std::span<const std::uint8_t> frame,
                                                  const Responder& responder) const {
  ParsedPacket p;
  ParseOutcome outcome;
  if (!parsed(frame, p, outcome)) return {};
  const auto l3 = frame.subspan(kEthernetHeader);
  if (outcome.punt == PuntReason::arp)
    return l3.size() < 28 ? std::nullopt : responder.interface_towards(IpAddress::load(&l3[24], false));
  if (outcome.punt == PuntReason::control) return {};
  if (dhcp::to_client(p.key) && !p.v6)
    if (const auto request = request_of(frame, p, dhcp::kReply))
      if (const auto at = requests_.find(*request); at != requests_.end()) return at->second;
  if (icmp6_type(frame, p) == kNeighborSolicitation)
    if (const auto m = nd::read(ip_packet(frame, p))) return responder.interface_towards(m->target);
  return responder.interface_towards(destination_of(p.key));
}

bool TagSelector::hold_advertisement(std::span<const std::uint8_t> frame) {
  ParsedPacket p;
  ParseOutcome outcome;
  if (!parsed(frame, p, outcome) || icmp6_type(frame, p) != kRouterAdvertisement ||
      destination_of(p.key) != nd::all_nodes())
    return false;
  advertisement_.assign(frame.begin(), frame.end());
  solicited_.insert(solicited_.end(), solicitors_.begin(), solicitors_.end());
  solicitors_.clear();
  due_ = true;
  return true;
}

std::optional<InterfaceIndex> TagSelector::next_tag(const Responder& responder, Time now) {
  const auto take = [](std::vector<InterfaceIndex>& tags) {
    const InterfaceIndex tag = tags.back();
    tags.pop_back();
    return tag;
  };
  if (!solicited_.empty()) return take(solicited_);
  if (due_ && periodic_.empty() && now >= next_round_) {
    due_ = false;
    next_round_ = now + kInterval;
    periodic_ = responder.tags();
  }
  if (periodic_.empty()) return {};
  if (now >= next_batch_) {
    next_batch_ = now + kPause;
    batch_ = kAtOnce;
  }
  if (batch_ == 0) return {};
  --batch_;
  return take(periodic_);
}

}  // namespace surety
