// SPDX-License-Identifier: BSD-3-Clause
#include "config/sales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "config/sections.h"

namespace surety::config {

Rate Promised::all() const {
  return Rate::bits_per_second(static_cast<std::uint64_t>(std::min(both(), 1e18)));
}

void Promises::add(const Rule& rule) {
  const Service& service = config_.services[rule.service];
  const double rate = static_cast<double>(contracts_of(rule, config_)) *
                      static_cast<double>(service.committed.bits_per_second());
  const auto from = rule.subscriber ? rule.subscriber : rule.match.interface;
  const auto group = from ? config_.interfaces[*from].group : std::nullopt;
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

namespace {

// The part of IP packets of that size in what the wire carries.
double ip_part(const WireOverhead& overhead, std::uint16_t mtu, std::optional<Bytes> packet) {
  const auto length = static_cast<std::uint32_t>(packet.value_or(Bytes(mtu)).count());
  return static_cast<double>(length) / overhead.wire_bytes(length);
}

// In bit/s; infinite where nothing is shaped.
double bound_of(const std::optional<Rate>& rate) {
  return rate ? static_cast<double>(rate->bits_per_second()) : std::numeric_limits<double>::infinity();
}

// Upper bound of the interface's rate, all of a template together.
double bound_of(const Interface& i, const Config& c) {
  if (i.own_count() == 0) return 0;
  return std::min({bound_of(i.shaper.rate) * static_cast<double>(i.own_count()),
                   bound_of(c.ports[i.port].shaper.rate),
                   i.group ? bound_of(c.groups[*i.group].shaper.rate) : bound_of({})});
}

// Interfaces that could send more together than their group or port share it in proportion.
void divide(std::vector<double>& bounds, const std::vector<std::size_t>& below,
            const std::optional<Rate>& rate) {
  double sum = 0;
  for (const std::size_t i : below) sum += bounds[i];
  for (const std::size_t i : below)
    if (sum > bound_of(rate)) bounds[i] *= bound_of(rate) / sum;
}

}  // namespace

std::vector<UplinkShare> uplink_shares(const Config& c, std::optional<Bytes> packet) {
  std::vector<UplinkShare> all;
  std::vector<double> bounds;
  std::vector<std::vector<std::size_t>> of_groups(c.groups.size()), of_ports(c.ports.size());
  for (const Uplink& u : uplinks(c)) {
    const Port& port = c.ports[u.port];
    const Interface* const interface = u.interface ? &c.interfaces[*u.interface] : nullptr;
    if (interface && port.trust == Port::Trust::core) continue;  // a part of what leaves by the port
    if (interface && interface->group) of_groups[*interface->group].push_back(all.size());
    of_ports[u.port].push_back(all.size());
    bounds.push_back(interface ? bound_of(*interface, c) : bound_of(u.rate));
    all.push_back({.uplink = u,
                   .ip_part = interface ? ip_part(interface->shaper.overhead, interface->mtu, packet)
                                        : ip_part(port.shaper.overhead, port.mtu, packet)});
  }
  for (std::size_t g = 0; g < of_groups.size(); ++g) divide(bounds, of_groups[g], c.groups[g].shaper.rate);
  for (std::size_t p = 0; p < of_ports.size(); ++p) divide(bounds, of_ports[p], c.ports[p].shaper.rate);
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) sum += bounds[i] *= all[i].ip_part;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].part = std::isfinite(sum) && sum > 0 ? bounds[i] / sum : 1 / static_cast<double>(all.size());
    if (std::isfinite(sum))
      all[i].rate = Rate::bits_per_second(static_cast<std::uint64_t>(std::llround(bounds[i])));
  }
  return all;
}

std::optional<Rate> way_out(const Config& c, std::optional<Bytes> packet) {
  std::optional<Rate> sum;
  for (const UplinkShare& u : uplink_shares(c, packet)) {
    if (!u.rate) return {};
    sum = sum.value_or(Rate{}) + *u.rate;
  }
  return sum;
}

}  // namespace surety::config
