// SPDX-License-Identifier: BSD-3-Clause
#include "router/classifier.h"

#include <rte_acl.h>
#include <rte_errno.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

namespace surety {

namespace {

using config::Match;

// What rte_acl looks at, everything in network order. It wants a byte first and then groups of four.
struct Input {
  std::uint8_t protocol;
  std::uint8_t unused[3];
  std::uint8_t port, customer, has_ports, dscp;
  std::uint16_t vlan, inner_vlan;
  std::uint16_t source_port, destination_port;
  std::uint32_t source[4], destination[4];  // IPv4: the first of each
};

enum Field : std::uint8_t {
  protocol,
  port,
  customer,
  has_ports,
  dscp,
  vlan,
  inner_vlan,
  source_port,
  destination_port,
  addresses
};
constexpr unsigned kFields4 = addresses + 2, kFields6 = addresses + 8;
RTE_ACL_RULE_DEF(AclRule, kFields6);

rte_acl_field_def define(std::uint8_t field, std::uint8_t type, std::uint8_t size, std::uint8_t group,
                         std::size_t offset) {
  return {type, size, field, group, static_cast<std::uint32_t>(offset)};
}

rte_acl_config layout(bool v6) {
  rte_acl_config c{};
  c.num_categories = 1;
  c.num_fields = v6 ? kFields6 : kFields4;
  constexpr std::uint8_t bits = RTE_ACL_FIELD_TYPE_BITMASK, range = RTE_ACL_FIELD_TYPE_RANGE;
  c.defs[protocol] = define(protocol, bits, 1, 0, offsetof(Input, protocol));
  c.defs[port] = define(port, bits, 1, 1, offsetof(Input, port));
  c.defs[customer] = define(customer, bits, 1, 1, offsetof(Input, customer));
  c.defs[has_ports] = define(has_ports, bits, 1, 1, offsetof(Input, has_ports));
  c.defs[dscp] = define(dscp, bits, 1, 1, offsetof(Input, dscp));
  c.defs[vlan] = define(vlan, bits, 2, 2, offsetof(Input, vlan));
  c.defs[inner_vlan] = define(inner_vlan, bits, 2, 2, offsetof(Input, inner_vlan));
  c.defs[source_port] = define(source_port, range, 2, 3, offsetof(Input, source_port));
  c.defs[destination_port] = define(destination_port, range, 2, 3, offsetof(Input, destination_port));
  const std::uint8_t words = v6 ? 4 : 1;
  for (std::uint8_t i = 0; i < 2 * words; ++i) {
    const std::size_t base = i < words ? offsetof(Input, source) : offsetof(Input, destination);
    const auto field = static_cast<std::uint8_t>(addresses + i);
    c.defs[field] = define(field, RTE_ACL_FIELD_TYPE_MASK, 4, static_cast<std::uint8_t>(4 + i),
                           base + std::size_t{4} * (i % words));
  }
  return c;
}

bool constrains(const config::PortRange& r) {
  return r.from != 0 || r.to != 65535;
}

bool of_family(const Match& m, bool v6) {
  const auto other = v6 ? Match::Family::ipv4 : Match::Family::ipv6;
  return m.family != other && (!m.source || m.source->address.is_v6() == v6) &&
         (!m.destination || m.destination->address.is_v6() == v6);
}

template <class T>
void set8(rte_acl_field& f, const std::optional<T>& value) {
  f.value.u8 = static_cast<std::uint8_t>(value.value_or(0));
  f.mask_range.u8 = value ? 0xff : 0;
}
void set16(rte_acl_field& f, const std::optional<std::uint16_t>& value) {
  f.value.u16 = value.value_or(0);
  f.mask_range.u16 = value ? 0xffff : 0;
}
void set_range(rte_acl_field& f, const config::PortRange& r) {
  f.value.u16 = r.from;
  f.mask_range.u16 = r.to;
}
// Rules are in host order, word by word.
void set_prefix(rte_acl_field* f, const std::optional<Prefix>& prefix, unsigned words) {
  for (unsigned i = 0; i < words; ++i) {
    std::uint32_t word = 0;
    if (prefix) std::memcpy(&word, prefix->address.data() + std::size_t{4} * i, 4);
    const unsigned length = prefix ? prefix->length : 0;
    f[i].value.u32 = __builtin_bswap32(word);
    f[i].mask_range.u32 = std::min(length - std::min(length, i * 32), 32u);
  }
}

AclRule compile(const Match& m, std::size_t index, std::size_t rules, bool v6) {
  AclRule r{};
  r.data.category_mask = 1;
  r.data.priority = static_cast<std::int32_t>(rules - index);  // the first is the highest
  r.data.userdata = static_cast<std::uint32_t>(index + 1);     // 0 says that nothing matched
  const bool ports = constrains(m.source_port) || constrains(m.destination_port);
  set8(r.field[protocol], m.protocol);
  set8(r.field[port], m.port);
  set8(r.field[customer], m.port ? std::nullopt : std::optional(1));
  set8(r.field[has_ports], ports ? std::optional(1) : std::nullopt);
  set8(r.field[dscp], m.dscp);
  set16(r.field[vlan], m.vlan);
  set16(r.field[inner_vlan], m.inner_vlan);
  set_range(r.field[source_port], m.source_port);
  set_range(r.field[destination_port], m.destination_port);
  const unsigned words = v6 ? 4 : 1;
  set_prefix(r.field + addresses, m.source, words);
  set_prefix(r.field + addresses + words, m.destination, words);
  return r;
}

bool has_ports_in_key(const ParsedPacket& packet) {
  const auto c = static_cast<FlowKey::Class>(packet.key.rest >> 61);
  return c == FlowKey::Class::tcp || c == FlowKey::Class::udp || c == FlowKey::Class::dccp ||
         c == FlowKey::Class::sctp;
}

Input input(const ParsedPacket& p, std::uint8_t port, std::uint8_t customer) {
  Input in{};
  in.protocol = p.protocol;
  in.port = port;
  in.customer = customer;
  in.dscp = p.traffic_class >> 2;
  in.vlan = __builtin_bswap16(p.vlan);
  in.inner_vlan = __builtin_bswap16(p.inner_vlan);
  if (has_ports_in_key(p)) {
    in.has_ports = 1;
    const auto ports = static_cast<std::uint32_t>(p.key.rest);
    std::memcpy(&in.source_port, &ports, 4);
  }
  const auto& a = p.key.address;
  if (p.v6) {
    std::memcpy(in.source, a.data(), 32);
  } else {
    in.source[0] = static_cast<std::uint32_t>(a[0]);
    in.destination[0] = static_cast<std::uint32_t>(a[0] >> 32);
  }
  return in;
}

// The first `bits` (0..64) of 8 bytes in network order, as loaded.
std::uint64_t leading(unsigned bits) {
  return bits == 0 ? 0 : __builtin_bswap64(~std::uint64_t{0} << (64 - bits));
}

// A value that says whether it is there.
template <class T>
void append(std::string& to, const std::optional<T>& value) {
  to += value ? ' ' + std::to_string(*value) : " -";
}
void append(std::string& to, const std::optional<Prefix>& prefix) {
  to += prefix ? ' ' + to_string(*prefix) : " -";
}
void append(std::string& to, const config::PortRange& r) {
  to += ' ' + std::to_string(r.from) + '-' + std::to_string(r.to);
}

// A rule's match, `per` and prefix lengths as text: rules have the same contracts where these are equal.
std::string identity(const config::Rule& r) {
  const Match& m = r.match;
  std::string s = std::to_string(static_cast<int>(r.per)) + ' ' + std::to_string(r.prefix_v4) + ' ' +
                  std::to_string(r.prefix_v6) + ' ' + std::to_string(static_cast<int>(m.family));
  append(s, m.port);
  append(s, m.vlan);
  append(s, m.inner_vlan);
  append(s, m.source);
  append(s, m.destination);
  append(s, m.protocol);
  append(s, m.source_port);
  append(s, m.destination_port);
  append(s, m.dscp);
  return s;
}

[[noreturn]] void fail(const char* what, int error) {
  throw std::runtime_error(std::string("classification rules: ") + what + ": " + rte_strerror(error));
}

}  // namespace

void Classifier::Free::operator()(rte_acl_ctx* context) const {
  rte_acl_free(context);
}

Classifier::Context Classifier::build(const config::Config& config, bool v6) {
  std::vector<AclRule> rules;
  for (std::size_t i = 0; i < config.rules.size(); ++i)
    if (of_family(config.rules[i].match, v6))
      rules.push_back(compile(config.rules[i].match, i, config.rules.size(), v6));
  if (rules.empty()) return nullptr;

  // A name that is taken would give us somebody else's context.
  static std::atomic<std::uint32_t> serial{0};
  const std::string name = "rules-" + std::to_string(serial.fetch_add(1));
  rte_acl_param param{};
  param.name = name.c_str();
  param.socket_id = SOCKET_ID_ANY;
  param.rule_size = sizeof(AclRule);
  param.max_rule_num = static_cast<std::uint32_t>(rules.size());
  Context context(rte_acl_create(&param));
  if (!context) fail("rte_acl_create", rte_errno);
  const auto* first = reinterpret_cast<const rte_acl_rule*>(rules.data());
  if (const int e = rte_acl_add_rules(context.get(), first, param.max_rule_num); e != 0)
    fail("rte_acl_add_rules", -e);
  const rte_acl_config shape = layout(v6);
  if (const int e = rte_acl_build(context.get(), &shape); e != 0) fail("rte_acl_build", -e);
  return context;
}

Classifier::Classifier(const config::Config& config, const Classifier* before)
    : v4_(build(config, false)), v6_(build(config, true)), classifies_(config.ports.size(), false) {
  for (const auto& p : config.ports) customer_.push_back(p.trust == config::Port::Trust::customer);
  for (const auto& rule : config.rules) {
    contracts_.push_back({rule.per, rule.prefix_v4, rule.prefix_v6, 0});
    identities_.push_back(identity(rule));
    uses_dscp_ |= rule.match.dscp.has_value();
    for (std::size_t p = 0; p < config.ports.size(); ++p)
      if (rule.match.port ? *rule.match.port == p : customer_[p] != 0) classifies_[p] = 1;
  }
  give_ids(config, before);
}

// Of several rules that are the same only the first is ever matched; they keep their order.
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
  match_family({&one, 1}, packet.v6, port, {&rule, 1});
  return rule == kNoRule ? std::nullopt : std::optional(rule);
}

void Classifier::match(std::span<const ParsedPacket* const> packets, std::uint8_t port,
                       std::span<std::uint16_t> rules) const {
  assert(packets.size() <= kMostAtOnce && rules.size() >= packets.size());
  std::fill_n(rules.begin(), packets.size(), kNoRule);
  match_family(packets, false, port, rules);
  match_family(packets, true, port, rules);
}

void Classifier::match_family(std::span<const ParsedPacket* const> packets, bool v6, std::uint8_t port,
                              std::span<std::uint16_t> rules) const {
  const rte_acl_ctx* const context = (v6 ? v6_ : v4_).get();
  if (context == nullptr) return;
  std::array<Input, kMostAtOnce> inputs;
  std::array<const std::uint8_t*, kMostAtOnce> data;
  std::array<std::uint32_t, kMostAtOnce> results;
  std::array<std::uint8_t, kMostAtOnce> from;
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if (packets[i]->v6 != v6) continue;
    inputs[n] = input(*packets[i], port, customer_[port]);
    data[n] = reinterpret_cast<const std::uint8_t*>(&inputs[n]);
    from[n++] = static_cast<std::uint8_t>(i);
  }
  if (n == 0) return;
  rte_acl_classify(context, data.data(), results.data(), n, 1);
  for (std::uint32_t k = 0; k < n; ++k)
    if (results[k] != 0) rules[from[k]] = static_cast<std::uint16_t>(results[k] - 1);
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
    case Per::vlan: {
      constexpr std::uint64_t port_and_vlans = ((std::uint64_t{1} << 29) - 1) << 32;
      key.rest |= packet.key.rest & port_and_vlans;
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

}  // namespace surety
