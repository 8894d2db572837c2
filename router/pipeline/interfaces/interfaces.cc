// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/interfaces/interfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

namespace surety {

namespace {

std::uint16_t filter(const std::optional<std::size_t>& f) {
  return f ? static_cast<std::uint16_t>(*f) : kNoFilter;
}

// The largest packet that leaves by the port or an interface on it, whose own MTU is `mtu`.
std::uint16_t usable_mtu(std::uint16_t mtu, const config::Port& port) {
  return port.device_mtu != 0 ? std::min(mtu, port.device_mtu) : mtu;
}

bool may_lease(config::Port::Trust trust, const std::vector<Prefix>& addresses) {
  return trust == config::Port::Trust::core &&
         std::ranges::all_of(addresses, [](const Prefix& p) { return p.address.is_v6(); });
}

}  // namespace

std::string to_string(const InterfaceRecord& r) {
  if (r.tags.inner() == 0) return fmt::format("{}", r.tags.outer());
  return r.is_template ? fmt::format("{}.*", r.tags.outer())
                       : fmt::format("{}.{}", r.tags.outer(), r.tags.inner());
}

Interfaces::Interfaces(const config::Config& config, const Interfaces* before)
    : tables_(config.ports.size()) {
  place_ports(config);
  place(config, before);
  for (std::size_t d = 0; d < blocks_.size(); ++d) fill(config, blocks_[d], d);
  build_tables();
  summarize();
}

void Interfaces::summarize() {
  summaries_.resize(ports_.size());
  for (const InterfaceRecord& r : records_) {
    if (!r.live) continue;
    Summary& s = summaries_[r.port];
    s.least_mtu = std::min(s.least_mtu, r.mtu);
    s.checks_sources |= r.source_check != config::Port::SourceCheck::off;
    s.filters_in |= r.filter_in != kNoFilter;
    s.filters_out |= r.filter_out != kNoFilter;
    s.leased |= r.leased;
    s.addressed |= r.within != kNoInterface;
  }
}

void Interfaces::place_ports(const config::Config& config) {
  for (std::size_t p = 0; p < config.ports.size(); ++p) {
    const config::Port& port = config.ports[p];
    ports_.push_back(port.name);
    InterfaceRecord& r = records_.emplace_back();
    r.port = static_cast<std::uint8_t>(p);
    r.link = static_cast<InterfaceIndex>(p);
    r.mtu = usable_mtu(port.mtu, port);
    r.filter_in = filter(port.filter_in);
    r.filter_out = filter(port.filter_out);
    r.trust = port.trust;
    r.source_check = port.source_check;
    r.definition = kNoInterface;
    r.leased = may_lease(port.trust, port.addresses);
    r.live = port.exists();
    if (!r.live) r.trust = config::Port::Trust::customer;  // state left by a removed port
  }
}

Interfaces::Block Interfaces::block_of(const config::Interface& i) {
  return {.name = i.name,
          .customer = i.customer,
          .prefixes = i.prefixes,
          .within = i.is_tag_of_template() ? i.within : std::nullopt,
          .port = i.port,
          .first_inner = i.first_inner,
          .count = 1 + i.members()};
}

// Places existing interfaces first, so that no new one takes their places.
void Interfaces::place(const config::Config& config, const Interfaces* before) {
  std::vector<bool> taken(ports_.size(), true);
  const auto take = [&](const Block& b) {
    if (taken.size() < b.first + b.count) taken.resize(b.first + b.count);
    std::fill_n(taken.begin() + b.first, b.count, true);
  };
  std::unordered_map<std::string_view, const Block*> known;
  if (before != nullptr)
    for (const Block& b : before->blocks_)
      if (!b.within) known.emplace(b.name, &b);
  for (const auto& i : config.interfaces) {
    Block& block = blocks_.emplace_back(block_of(i));
    if (block.within) continue;
    const auto old = known.find(block.name);
    if (old == known.end() || old->second->port != block.port || old->second->count != block.count ||
        old->second->first_inner != block.first_inner)
      continue;
    block.first = old->second->first;
    take(block);
    known.erase(old);
  }
  for (const auto& [name, block] : known) retired_.push_back(*block);
  for (const Block& b : retired_) take(b);
  std::size_t from = 0;  // below it all are taken
  for (Block& b : blocks_)
    if (b.within) {
      const Block& all = blocks_[*b.within];
      b.first = static_cast<InterfaceIndex>(all.first + 1 + b.first_inner - all.first_inner);
    } else if (b.first == 0) {
      b.first = find_room(b.count, taken, from);
      take(b);
      if (b.count == 1) from = b.first + std::size_t{1};
    }
  // The number of records never decreases: packets that wait longer than a reload find an empty record.
  records_.resize(std::max(taken.size(), before == nullptr ? 0 : before->records_.size()));
  // Packets that wait for their port still leave by them.
  for (const Block& b : retired_)
    for (std::size_t i = b.first; i < b.first + b.count; ++i) {
      records_[i] = before->records_[i];
      records_[i].live = false;
      records_[i].definition = kNoInterface;
      records_[i].filter_in = records_[i].filter_out =
          kNoFilter;  // indices into a configuration that is gone
    }
}

InterfaceIndex Interfaces::find_room(std::size_t count, const std::vector<bool>& taken, std::size_t from) {
  std::size_t free = 0, at = from;
  for (; free < count; ++at) free = at < taken.size() && taken[at] ? 0 : free + 1;
  if (at > kMostInterfaces)
    throw std::runtime_error(
        fmt::format("there are more than {} interfaces, including those of the previous configuration",
                    kMostInterfaces - 1));
  return static_cast<InterfaceIndex>(at - count);
}

void Interfaces::fill(const config::Config& config, const Block& block, std::size_t definition) {
  const config::Interface& i = config.interfaces[definition];
  if (block.within) {
    InterfaceRecord& member = records_[block.first];
    member.definition = static_cast<std::uint16_t>(definition);
    member.filter_in = filter(i.filter_in);
    member.filter_out = filter(i.filter_out);
    return;
  }
  InterfaceRecord r;
  r.port = static_cast<std::uint8_t>(i.port);
  r.mtu = usable_mtu(i.mtu, config.ports[i.port]);
  r.link = block.first;
  r.definition = static_cast<std::uint16_t>(definition);
  r.filter_in = filter(i.filter_in);
  r.filter_out = filter(i.filter_out);
  r.trust = i.trust;
  r.source_check = i.source_check;
  r.leased = may_lease(i.trust, i.addresses);
  r.live = true;
  r.tags = VlanTags(i.vlan_protocol, i.vlan, i.first_inner);
  r.is_template = i.is_template();
  if (!i.has_link()) {
    r.within = i.within ? blocks_[*i.within].first : static_cast<InterfaceIndex>(i.port);
    r.tags = records_[r.within].tags;
  }
  records_[block.first] = r;
  r.is_template = false;
  for (std::size_t m = 0; m < i.members(); ++m) {
    r.tags = VlanTags(i.vlan_protocol, i.vlan, static_cast<std::uint16_t>(i.first_inner + m));
    records_[block.first + 1 + m] = r;
  }
}

// Sorted by outer and inner tag, as TagTable requires.
void Interfaces::build_tables() {
  struct Entry {
    VlanTags tags;
    InterfaceIndex interface;
  };
  std::vector<std::vector<Entry>> entries(tables_.size());
  for (std::size_t i = ports_.size(); i < records_.size(); ++i) {
    const InterfaceRecord& r = records_[i];
    if (!r.live || r.is_template || r.within != kNoInterface) continue;
    entries[r.port].push_back({r.tags, static_cast<InterfaceIndex>(i)});
  }
  for (std::size_t p = 0; p < tables_.size(); ++p) {
    if (entries[p].empty()) continue;
    std::ranges::sort(entries[p], [](const Entry& a, const Entry& b) {
      return std::pair(a.tags.outer(), a.tags.inner()) < std::pair(b.tags.outer(), b.tags.inner());
    });
    auto table = std::make_shared<TagTable>();
    for (const Entry& e : entries[p])
      table->add(e.tags.protocol(), e.tags.outer(), e.tags.inner(), e.interface);
    tables_[p] = std::move(table);
  }
}

std::string Interfaces::name(InterfaceIndex i) const {
  if (!exists(i)) return "?";
  if (i < ports_.size()) return ports_[i];
  const Block& block = blocks_[records_[i].definition];
  if (i == block.first) return block.name;
  return fmt::format("{}.{}", block.name, block.first_inner + (i - block.first) - 1);
}

const std::string& Interfaces::customer(InterfaceIndex i) const {
  static const std::string kNobody = "?";
  if (!exists(i)) return kNobody;
  if (i < ports_.size()) return ports_[i];
  const std::uint16_t definition = records_[i].definition;
  return definition == kNoInterface ? kNobody : blocks_[definition].customer;
}

const std::vector<Prefix>& Interfaces::prefixes(InterfaceIndex i) const {
  static const std::vector<Prefix> kNone;
  const bool by_address = exists(i) && records_[i].within != kNoInterface;
  return by_address ? blocks_[records_[i].definition].prefixes : kNone;
}

std::size_t Interfaces::bytes() const {
  std::size_t n = records_.capacity() * sizeof(InterfaceRecord);
  for (const auto& t : tables_) n += t ? t->bytes() : 0;
  return n;
}

void TagTable::add(std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner,
                   InterfaceIndex interface) {
  Outer& o = outer_[outer];
  if (inner == 0) {
    o.one = interface;
    o.one_protocol = protocol;
    return;
  }
  if (o.count == 0) {
    o.begin = static_cast<std::uint32_t>(inner_.size());
    o.first = inner;
    o.two_protocol = protocol;
  }
  o.count = static_cast<std::uint16_t>(inner - o.first + 1);
  inner_.resize(o.begin + o.count, kNoInterface);
  inner_.back() = interface;
}

TagAdmission::TagAdmission(const config::Config& config) : ports_(config.ports.size()) {
  for (const config::Rule& rule : config.rules) {
    const config::Match& m = rule.match;
    if (m.interface) continue;  // the tags belong to the interface
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      const bool customer = config.ports[p].trust == config::Port::Trust::customer;
      if (m.port ? *m.port != p : !customer) continue;  // condition of Classifier
      if (m.vlan && m.inner_vlan)
        ports_[p].pairs.insert(pair(*m.vlan, *m.inner_vlan));
      else if (m.vlan)
        ports_[p].single.set(*m.vlan);
      else if (rule.per == config::Rule::Per::vlan)
        ports_[p].single.set();
    }
  }
}

}  // namespace surety
