// SPDX-License-Identifier: BSD-3-Clause
#include "config/sales.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/sections.h"

namespace surety::config {

Rate Promised::all() const {
  return Rate::bits_per_second(static_cast<std::uint64_t>(std::min(both(), 1e18)));
}

void Promises::add(const Rule& rule) {
  const Service& service = config_.services[rule.service];
  const double rate = static_cast<double>(contracts_of(rule, config_)) *
                      static_cast<double>(service.committed.bits_per_second());
  const auto group = rule.match.interface ? config_.interfaces[*rule.match.interface].group : std::nullopt;
  Promised& part = group ? groups_[*group] : others_;
  const double before = group ? at_most(*group, part) : part.both();
  (std::holds_alternative<Police>(service.conditioner) ? part.policed : part.open) += rate;
  sum_ += (group ? at_most(*group, part) : part.both()) - before;
}

// Each contract of an overbooked group gets less in the same proportion.
Promised Promises::all() const {
  Promised sum = others_;
  for (const auto& [group, promised] : groups_) {
    const double part = promised.both() > 0 ? at_most(group, promised) / promised.both() : 1;
    sum.policed += promised.policed * part;
    sum.open += promised.open * part;
  }
  return sum;
}

double Promises::at_most(std::size_t group, const Promised& of_it) const {
  const auto& rate = config_.groups[group].shaper.rate;
  return rate ? std::min(of_it.both(), static_cast<double>(rate->bits_per_second())) : of_it.both();
}

std::size_t contracts_of(const Rule& rule, const Config& c) {
  if (rule.contracts || !rule.most) return rule.contracts.value_or(0);
  return *rule.most * std::max<std::size_t>(1, places_of(rule.match, c));
}

std::vector<bool> towards(Port::Trust trust, const Config& c) {
  std::vector<bool> ports;
  for (const Port& p : c.ports) ports.push_back(p.exists() && p.trust == trust);
  for (const Interface& i : c.interfaces)
    if (i.trust == trust) ports[i.port] = true;
  return ports;
}

std::string Uplink::name() const {
  return fmt::format("{} `{}`", kind, word);
}

std::vector<Uplink> uplinks(const Config& c) {
  constexpr auto core = Port::Trust::core;
  std::vector<Uplink> all;
  for (std::size_t p = 0; p < c.ports.size(); ++p)
    if (c.ports[p].exists() && c.ports[p].trust == core)
      all.push_back({"port", c.ports[p].name, p, {}, c.set_of(c.ports[p].queues), c.ports[p].shaper.rate});
  for (std::size_t i = 0; i < c.interfaces.size(); ++i)
    if (c.interfaces[i].trust == core)
      all.push_back({"interface", c.interfaces[i].name, c.interfaces[i].port, i, c.queues_of(c.interfaces[i]),
                     c.rate_of(c.interfaces[i])});
  return all;
}

bool from_core(const Rule& rule, const Config& c) {
  if (rule.match.interface) return c.interfaces[*rule.match.interface].trust == Port::Trust::core;
  if (!rule.match.port || c.ports[*rule.match.port].trust != Port::Trust::core) return false;
  return std::ranges::none_of(c.interfaces, [&](const Interface& i) {
    return i.trust == Port::Trust::customer && matched(rule.match, i, c) > 0;
  });
}

std::optional<Rate> way_out(const Config& c, std::optional<Bytes> packet) {
  const auto core = towards(Port::Trust::core, c);
  std::optional<Rate> sum;
  for (std::size_t i = 0; i < c.ports.size(); ++i) {
    const Port& p = c.ports[i];
    if (!core[i]) continue;
    if (!p.shaper.rate) return {};
    const auto length = static_cast<std::uint32_t>(packet.value_or(Bytes(1)).count());
    const double part = packet ? static_cast<double>(length) / p.shaper.overhead.wire_bytes(length) : 1;
    sum = sum.value_or(Rate{}) + part * *p.shaper.rate;
  }
  return sum;
}

}  // namespace surety::config
