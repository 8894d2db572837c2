// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/acl.h"

#include <rte_acl.h>
#include <rte_errno.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace surety {

namespace {

using config::Match;

// Addresses come first, since they distinguish most entries: fields behind the port ranges, which overlap,
// would be duplicated for each overlap. That takes minutes and gigabytes for some thousand entries.
constexpr std::uint8_t kProtocol = 0, kAddresses = 1;
enum Rest : std::uint8_t {
  source_port,
  destination_port,
  port,
  customer,
  ports,
  dscp,
  vlan,
  inner_vlan,
  interface,
  zero,
  count
};
constexpr std::uint8_t words(bool v6) {
  return v6 ? 4 : 1;
}
constexpr std::uint8_t place(Rest field, bool v6) {
  return static_cast<std::uint8_t>(kAddresses + 2 * words(v6) + field);
}

}  // namespace

RTE_ACL_RULE_DEF(AclRule, place(count, true));

namespace {

rte_acl_config layout(bool v6) {
  rte_acl_config c{};
  c.num_categories = 1;
  c.num_fields = place(count, v6);
  constexpr std::uint8_t bits = RTE_ACL_FIELD_TYPE_BITMASK, range = RTE_ACL_FIELD_TYPE_RANGE,
                         mask = RTE_ACL_FIELD_TYPE_MASK;
  const auto define = [&](std::uint8_t field, std::uint8_t type, std::uint8_t size, std::uint8_t group,
                          std::size_t offset) {
    c.defs[field] = {type, size, field, group, static_cast<std::uint32_t>(offset)};
  };
  define(kProtocol, bits, 1, 0, offsetof(AclInput, protocol));
  for (std::uint8_t i = 0; i < 2 * words(v6); ++i) {
    const std::size_t base = i < words(v6) ? offsetof(AclInput, source) : offsetof(AclInput, destination);
    const auto field = static_cast<std::uint8_t>(kAddresses + i);
    define(field, mask, 4, field, base + std::size_t{4} * (i % words(v6)));
  }
  const std::uint8_t group = place(source_port, v6);  // group of four bytes
  define(place(source_port, v6), range, 2, group, offsetof(AclInput, source_port));
  define(place(destination_port, v6), range, 2, group, offsetof(AclInput, destination_port));
  define(place(port, v6), bits, 1, group + 1, offsetof(AclInput, port));
  define(place(customer, v6), bits, 1, group + 1, offsetof(AclInput, customer));
  define(place(ports, v6), bits, 1, group + 1, offsetof(AclInput, ports));
  define(place(dscp, v6), bits, 1, group + 1, offsetof(AclInput, dscp));
  define(place(vlan, v6), bits, 2, group + 2, offsetof(AclInput, vlan));
  define(place(inner_vlan, v6), bits, 2, group + 2, offsetof(AclInput, inner_vlan));
  define(place(interface, v6), bits, 2, group + 3, offsetof(AclInput, interface));
  define(place(zero, v6), bits, 2, group + 3, offsetof(AclInput, zero));
  return c;
}

bool constrains(const config::PortRange& r) {
  return r.from != 0 || r.to != 65535;
}

bool of_family(const Match& m, bool v6) {
  return m.family != (v6 ? Match::Family::ipv4 : Match::Family::ipv6);
}
// The prefixes of a list that are of this family; nullopt: any address.
std::vector<std::optional<Prefix>> of_family(const std::vector<Prefix>& list, bool v6) {
  if (list.empty()) return {std::nullopt};
  std::vector<std::optional<Prefix>> some;
  for (const Prefix& p : list)
    if (p.address.is_v6() == v6) some.emplace_back(p);
  return some;
}

template <class T>
void set8(rte_acl_field& f, const std::optional<T>& value) {
  f.value.u8 = static_cast<std::uint8_t>(value.value_or(T{}));
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
void set_prefix(rte_acl_field* f, const std::optional<Prefix>& prefix, bool v6) {
  for (unsigned i = 0; i < words(v6); ++i) {
    std::uint32_t word = 0;
    if (prefix) std::memcpy(&word, prefix->address.data() + std::size_t{4} * i, 4);
    const unsigned length = prefix ? prefix->length : 0;
    f[i].value.u32 = __builtin_bswap32(word);
    f[i].mask_range.u32 = std::min(length - std::min(length, i * 32), 32u);
  }
}

AclRule compile(const AclEntry& e, const std::optional<Prefix>& source,
                const std::optional<Prefix>& destination, std::size_t priority, bool v6) {
  const Match& m = *e.match;
  AclRule r{};
  r.data.category_mask = 1;
  r.data.priority = static_cast<std::int32_t>(priority);
  r.data.userdata = e.number + 1;  // 0 says that nothing matched
  set8(r.field[kProtocol], e.any_protocol ? std::nullopt : m.protocol);
  set_prefix(r.field + kAddresses, source, v6);
  set_prefix(r.field + kAddresses + words(v6), destination, v6);
  const auto field = [&](Rest f) -> rte_acl_field& { return r.field[place(f, v6)]; };
  set_range(field(source_port), e.any_port ? config::PortRange{} : m.source_port);
  set_range(field(destination_port), e.any_port ? config::PortRange{} : m.destination_port);
  set8(field(port), m.port);
  set8(field(customer), e.customer);
  set8(field(ports), e.ports);
  set8(field(dscp), m.dscp);
  set16(field(vlan), m.vlan);
  set16(field(inner_vlan), m.inner_vlan);
  set16(field(interface), e.interface);
  return r;
}

bool has_ports_in_key(const ParsedPacket& packet) {
  const auto c = static_cast<FlowKey::Class>(packet.key.rest >> 61);
  return c == FlowKey::Class::tcp || c == FlowKey::Class::udp || c == FlowKey::Class::dccp ||
         c == FlowKey::Class::sctp;
}

// The number of different sets of fields that entries constrain.
std::size_t combinations(std::span<const AclEntry> entries) {
  std::set<std::array<bool, 8>> sets;
  for (const AclEntry& e : entries) {
    const Match& m = *e.match;
    sets.insert({!m.source.empty(), !m.destination.empty(), m.protocol.has_value(), constrains(m.source_port),
                 constrains(m.destination_port), m.dscp.has_value(), m.vlan.has_value(),
                 m.inner_vlan.has_value()});
  }
  return sets.size();
}
// 10,000 entries of 16 combinations take a second; with 64 combinations 1,000 take a second and 2,500 seven.
constexpr std::size_t kFewCombinations = 32, kMostOfMany = 1000;

[[noreturn]] void fail(const char* what, const char* step, int error) {
  throw std::runtime_error("cannot compile " + std::string(what) + ": " + step + ": " + rte_strerror(error));
}

}  // namespace

bool constrains_ports(const config::Match& m) {
  return constrains(m.source_port) || constrains(m.destination_port);
}

AclInput acl_input(const ParsedPacket& p) {
  AclInput in{};
  in.protocol = p.protocol;
  in.dscp = p.traffic_class >> 2;
  in.vlan = __builtin_bswap16(p.vlan);
  in.inner_vlan = __builtin_bswap16(p.inner_vlan);
  if (has_ports_in_key(p)) {
    in.ports = AclInput::known;
    const auto both = static_cast<std::uint32_t>(p.key.rest);
    std::memcpy(&in.source_port, &both, 4);
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

void Acl::Free::operator()(rte_acl_ctx* context) const {
  rte_acl_free(context);
}

Acl::Acl(std::span<const AclEntry> entries, bool v6, const char* what) {
  std::vector<AclRule> rules;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Match& m = *entries[i].match;
    if (!of_family(m, v6)) continue;
    const auto destinations = of_family(m.destination, v6);
    for (const auto& source : of_family(m.source, v6))
      for (const auto& destination : destinations)  // the first entry has the highest priority
        rules.push_back(compile(entries[i], source, destination, entries.size() - i, v6));
  }
  const std::size_t together = combinations(entries) > kFewCombinations ? kMostOfMany : rules.size();
  for (std::size_t i = 0; i < rules.size(); i += together)
    add(&rules[i], std::min(together, rules.size() - i), v6, what);
}

// Divides entries that are too many for one table into two.
void Acl::add(const AclRule* rules, std::size_t n, bool v6, const char* what) {
  // An existing name would return another context.
  static std::atomic<std::uint32_t> serial{0};
  const std::string name = "acl-" + std::to_string(serial.fetch_add(1));
  rte_acl_param param{};
  param.name = name.c_str();
  param.socket_id = SOCKET_ID_ANY;
  param.rule_size = sizeof(AclRule);
  param.max_rule_num = static_cast<std::uint32_t>(n);
  Context context(rte_acl_create(&param));
  if (!context) fail(what, "rte_acl_create", rte_errno);
  const auto* first = reinterpret_cast<const rte_acl_rule*>(rules);
  if (const int e = rte_acl_add_rules(context.get(), first, param.max_rule_num); e != 0)
    fail(what, "rte_acl_add_rules", -e);
  const rte_acl_config shape = layout(v6);
  const int e = rte_acl_build(context.get(), &shape);
  if (e == 0) return tables_.push_back(std::move(context));
  if (n == 1) fail(what, "rte_acl_build", -e);
  context.reset();
  add(rules, n / 2, v6, what);
  add(rules + n / 2, n - n / 2, v6, what);
}

void Acl::match(std::span<const AclInput> inputs, std::span<std::uint32_t> numbers) const {
  assert(inputs.size() <= kMostAtOnce && numbers.size() >= inputs.size());
  std::array<const std::uint8_t*, kMostAtOnce> data;
  std::array<std::uint8_t, kMostAtOnce> which;
  std::array<std::uint32_t, kMostAtOnce> found;
  std::size_t left = inputs.size();
  for (std::size_t i = 0; i < left; ++i) {
    data[i] = reinterpret_cast<const std::uint8_t*>(&inputs[i]);
    which[i] = static_cast<std::uint8_t>(i);
    numbers[i] = kNone;
  }
  for (auto table = tables_.begin(); left > 0 && table != tables_.end(); ++table) {
    rte_acl_classify(table->get(), data.data(), found.data(), static_cast<std::uint32_t>(left), 1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < left; ++i) {
      if (found[i] != 0) {
        numbers[which[i]] = found[i] - 1;
        continue;
      }
      data[kept] = data[i];
      which[kept++] = which[i];
    }
    left = kept;
  }
}

}  // namespace surety
