// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/classifier.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace surety {

namespace {

using config::Match;

// The first `bits` (0..64) of 8 bytes in network order, as loaded.
std::uint64_t leading(unsigned bits) {
  return bits == 0 ? 0 : __builtin_bswap64(~std::uint64_t{0} << (64 - bits));
}

// Fields of FlowKey::rest.
constexpr std::uint64_t kInnerOfKey = std::uint64_t{0xfff} << 32, kOuterOfKey = std::uint64_t{0xfff} << 44,
                        kPortOfKey = std::uint64_t{0x1f} << 56;

// Appends an optional value; "-" if it is not set.
template <class T>
void append(std::string& to, const std::optional<T>& value) {
  to += value ? ' ' + std::to_string(*value) : " -";
}
void append(std::string& to, const std::vector<Prefix>& prefixes) {
  for (const Prefix& p : prefixes) to += (&p == prefixes.data() ? ' ' : ',') + to_string(p);
  if (prefixes.empty()) to += " -";
}
void append(std::string& to, const config::PortRange& r) {
  to += ' ' + std::to_string(r.from) + '-' + std::to_string(r.to);
}

// A rule's match, `per` and prefix lengths as text: rules have the same contracts where these are equal.
std::string identity(const config::Rule& r, const config::Config& config) {
  const Match& m = r.match;
  std::string s = std::to_string(static_cast<int>(r.per)) + ' ' + std::to_string(r.prefix_v4) + ' ' +
                  std::to_string(r.prefix_v6) + ' ' + std::to_string(static_cast<int>(m.family));
  append(s, m.port);
  s += m.interface ? ' ' + config.interfaces[*m.interface].name : " -";
  append(s, m.vlan);
  append(s, m.inner_vlan);
  append(s, r.customer.empty() ? m.source : std::vector<Prefix>());
  append(s, m.destination);
  append(s, m.protocol);
  append(s, m.source_port);
  append(s, m.destination_port);
  append(s, m.dscp);
  return r.customer.empty() ? s : s + ' ' + r.customer;
}

}  // namespace

Classifier::Classifier(const config::Config& config, const Classifier* before,
                       std::shared_ptr<const Interfaces> interfaces)
    : interfaces_(interfaces ? std::move(interfaces) : std::make_shared<const Interfaces>(config)),
      classifies_(config.ports.size(), false) {
  for (const auto& rule : config.rules) {
    contracts_.push_back({rule.per, rule.prefix_v4, rule.prefix_v6, rule.match.inner_vlan.has_value(), 0});
    identities_.push_back(identity(rule, config));
    uses_dscp_ |= rule.match.dscp.has_value();
  }
  list(config);
  build(config, before);
  find_classified(config);
  give_ids(config, before);
}

void Classifier::list(const config::Config& config) {
  std::unordered_map<InterfaceIndex, std::vector<std::pair<Prefix, std::uint32_t>>> hosts;
  for (std::uint32_t i = 0; i < config.rules.size(); ++i) {
    const config::Rule& rule = config.rules[i];
    const auto& interface = rule.match.interface;
    const InterfaceIndex named = interface ? interfaces_->of_definition(*interface) : kNoInterface;
    if (rule.subscriber && !config.interfaces[*rule.subscriber].prefixes.empty()) {
      auto& of_link = hosts[interface ? named : static_cast<InterfaceIndex>(*rule.match.port)];
      for (const Prefix& p : rule.match.source) of_link.emplace_back(p, i);
      continue;
    }
    Listed& listed = listed_.emplace_back(Listed{i, rule.match, named});
    listed.match.interface.reset();
  }
  for (auto& [link, prefixes] : hosts) hosts_.emplace(link, PrefixMap(std::move(prefixes), kNoRule));
}

// Thousands of rules take a second, and a reload that leaves them as they are none of it.
void Classifier::build(const config::Config& config, const Classifier* before) {
  if (before != nullptr && before->listed_ == listed_) {
    v4_ = before->v4_;
    v6_ = before->v6_;
    return;
  }
  std::vector<AclEntry> entries;
  for (const Listed& rule : listed_) {
    const Match& m = config.rules[rule.number].match;
    AclEntry& e = entries.emplace_back(AclEntry{.match = &m, .number = rule.number});
    if (!m.port && !m.interface) e.customer = std::uint8_t{1};
    if (constrains_ports(m)) e.ports = AclInput::known;
    if (m.interface) e.interface = rule.named;
  }
  v4_ = std::make_shared<const Acl>(entries, false, "classification rules");
  v6_ = std::make_shared<const Acl>(entries, true, "classification rules");
}

// If interfaces of one port differ in trust, the default for packets that match no rule depends on the
// interface, too.
void Classifier::find_classified(const config::Config& config) {
  for (std::size_t i = 0; i < interfaces_->size(); ++i) {
    const InterfaceRecord& r = (*interfaces_)[static_cast<InterfaceIndex>(i)];
    if (!r.live || classifies_[r.port] != 0) continue;
    classifies_[r.port] |= static_cast<std::uint8_t>(r.trust != config.ports[r.port].trust);
    for (const auto& rule : config.rules) {
      const Match& m = rule.match;
      const bool applies = m.interface ? *m.interface == r.definition
                           : m.port    ? *m.port == r.port
                                       : r.customer();
      classifies_[r.port] |= static_cast<std::uint8_t>(applies);
      if (classifies_[r.port] != 0) break;
    }
  }
}

// Gives rules their ids. Of several equal rules only the first is ever matched; they keep their order.
void Classifier::give_ids(const config::Config& config, const Classifier* before) {
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> known;  // the first one's id last
  if (before != nullptr) {
    uses_dscp_ |= before->uses_dscp_;
    next_id_ = before->next_id_;
    for (std::size_t i = before->identities_.size(); i-- > 0;)
      known[before->identities_[i]].push_back(before->contracts_[i].id);
  }
  for (std::size_t i = 0; i < config.rules.size(); ++i) {
    const auto same = known.find(identities_[i]);
    if (same == known.end() || same->second.empty()) {
      contracts_[i].id = next_id_++;
      continue;
    }
    contracts_[i].id = same->second.back();
    same->second.pop_back();
  }
}

std::optional<std::uint16_t> Classifier::match(const ParsedPacket& packet, std::uint8_t port) const {
  const ParsedPacket* const one = &packet;
  std::uint16_t rule = kNoRule;
  match({&one, 1}, port, {&rule, 1});
  return rule == kNoRule ? std::nullopt : std::optional(rule);
}

void Classifier::match(std::span<const ParsedPacket* const> packets, std::uint8_t port,
                       std::span<std::uint16_t> rules) const {
  assert(packets.size() <= kMostAtOnce && rules.size() >= packets.size());
  std::fill_n(rules.begin(), packets.size(), kNoRule);
  match_family(packets, false, port, rules);
  match_family(packets, true, port, rules);
  if (hosts_.empty()) return;
  for (std::size_t i = 0; i < packets.size(); ++i)
    if (rules[i] == kNoRule) rules[i] = rule_of_host(*packets[i]);
}

std::uint16_t Classifier::rule_of_host(const ParsedPacket& packet) const {
  // Hosts of a port are untagged; other tags may be the port's, too (TagAdmission).
  if (packet.vlan != 0 && packet.interface < interfaces_->ports()) return kNoRule;
  const auto link = hosts_.find(packet.interface);
  return link == hosts_.end() ? kNoRule : static_cast<std::uint16_t>(link->second.of(source_of(packet.key)));
}

void Classifier::match_family(std::span<const ParsedPacket* const> packets, bool v6, std::uint8_t port,
                              std::span<std::uint16_t> rules) const {
  const Acl& acl = v6 ? *v6_ : *v4_;
  if (acl.empty()) return;
  std::array<AclInput, kMostAtOnce> inputs;
  std::array<std::uint32_t, kMostAtOnce> found;
  std::array<std::uint8_t, kMostAtOnce> from;
  std::size_t n = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if (packets[i]->v6 != v6) continue;
    const InterfaceRecord& interface = (*interfaces_)[packets[i]->interface];
    inputs[n] = acl_input(*packets[i]);
    inputs[n].port = port;
    inputs[n].customer = interface.customer();
    inputs[n].interface = __builtin_bswap16(interface.link);
    from[n++] = static_cast<std::uint8_t>(i);
  }
  if (n == 0) return;
  acl.match({inputs.data(), n}, found);
  for (std::size_t k = 0; k < n; ++k) rules[from[k]] = static_cast<std::uint16_t>(found[k]);
}

FlowKey Classifier::contract_key(std::uint16_t rule, const ParsedPacket& packet) const {
  using Per = config::Rule::Per;
  const Contract& contract = contracts_[rule];
  assert(contract.per != Per::flow);
  const auto& a = packet.key.address;
  FlowKey key;
  key.rest = static_cast<std::uint64_t>(FlowKey::Class::shared) << 61 | contract.id;
  switch (contract.per) {
    case Per::rule:
    case Per::flow:
      return key;
    case Per::vlan:
    case Per::interface: {
      // The tags that the sender cannot choose: those of the interface, and those that the rule names.
      const bool of_interface = packet.interface >= interfaces_->ports();
      std::uint64_t named = kPortOfKey;
      if (of_interface || contract.per == Per::vlan) named |= kOuterOfKey;
      if (of_interface || contract.names_inner) named |= kInnerOfKey;
      key.rest |= packet.key.rest & named;
      return key;
    }
    case Per::source:
    case Per::prefix: {
      const bool whole = contract.per == Per::source;
      const unsigned bits =
          packet.v6 ? (whole ? 128u : contract.prefix_v6) : (whole ? 32u : contract.prefix_v4);
      key.address[0] = a[0] & leading(std::min(bits, 64u));
      if (packet.v6) key.address[1] = a[1] & leading(bits > 64 ? bits - 64 : 0);
      break;
    }
    case Per::destination:
      if (packet.v6)
        key.address = {0, 0, a[2], a[3]};
      else
        key.address[0] = a[0] & ~leading(32);
      break;
  }
  key.v6 = packet.v6;
  return key;
}

FlowKey Classifier::excess_key(std::uint16_t rule, const ParsedPacket& packet) const {
  const bool of_interface = packet.interface >= interfaces_->ports();
  const std::uint64_t named = of_interface ? kPortOfKey | kOuterOfKey | kInnerOfKey : kPortOfKey;
  FlowKey key;
  key.rest = static_cast<std::uint64_t>(FlowKey::Class::shared) << 61 | (packet.key.rest & named) |
             contracts_[rule].id;
  key.address[0] = ~std::uint64_t{0};
  return key;
}

}  // namespace surety
