// SPDX-License-Identifier: BSD-3-Clause
#include "config/sales.h"

#include <algorithm>
#include <array>
#include <limits>

namespace surety::config {
namespace {

using Of = Sale::Of;
using Way = Sale::Way;

struct Sum {
  std::size_t sellers = 0;
  double bits_per_second = 0;  // a million contracts of 1 Tbit/s, of each rule: more than a Rate counts
  Rate rate() const {
    return Rate::bits_per_second(static_cast<std::uint64_t>(std::min(bits_per_second, 1e18)));
  }
  void add(std::size_t n, Rate each) {
    sellers += each > Rate{} ? n : 0;
    bits_per_second += static_cast<double>(n) * static_cast<double>(each.bits_per_second());
  }
  void add(const Sum& other) {
    sellers += other.sellers;
    bits_per_second += other.bits_per_second;
  }
};

double bits(Rate r) {
  return static_cast<double>(r.bits_per_second());
}

// Guaranteed rate of each queue of a set, in bytes on the wire: a strict one has its cap, or without a cap
// its committed rate; a weighted one has its part of the rest, or its cap if that is less, which leaves more
// to the others.
std::vector<Rate> guarantees_of_wire(const QueueSet& set, Rate port, const std::vector<Rate>& sold) {
  std::vector<Rate> rates(set.classes.size());
  std::vector<std::size_t> weighted;
  double left = bits(port);
  std::uint64_t weights = 0;
  for (std::size_t q = 0; q < rates.size(); ++q) {
    const ClassParams& s = set.classes[q].scheduling;
    const auto cap = set.classes[q].cap_at(port);
    if (s.strict) {
      rates[q] = std::min(cap.value_or(port), port);
      left -= bits(cap.value_or(sold[q]));
    } else {
      weighted.push_back(q);
      weights += s.weight;
    }
  }
  const auto per_weight = [&](std::size_t q) {
    const auto cap = set.classes[q].cap_at(port);
    return cap ? bits(*cap) / set.classes[q].scheduling.weight : std::numeric_limits<double>::infinity();
  };
  std::ranges::stable_sort(weighted, {}, per_weight);
  for (const std::size_t q : weighted) {
    const std::uint32_t weight = set.classes[q].scheduling.weight;
    const double share = weight * std::max(left, 0.0) / static_cast<double>(weights);
    const auto cap = set.classes[q].cap_at(port);
    rates[q] = share * Rate::bits_per_second(1);
    if (!cap || bits(*cap) >= share) continue;
    rates[q] = *cap;
    left -= bits(*cap);
    weights -= weight;
  }
  return rates;
}

// For IP packets, as `sold` is.
std::vector<Rate> guarantees(const QueueSet& set, const UplinkShare& share, std::vector<Rate> sold) {
  for (Rate& r : sold) r = (1 / share.ip_part) * r;
  std::vector<Rate> rates = guarantees_of_wire(set, (1 / share.ip_part) * *share.rate, sold);
  for (Rate& r : rates) r = share.ip_part * r;
  return rates;
}

class Model {
 public:
  explicit Model(const Config& c)
      : c_(c),
        down_ports_(c.ports.size()),
        up_ports_(c.ports.size()),
        down_groups_(c.groups.size()),
        up_groups_(c.groups.size()),
        up_interfaces_(c.interfaces.size()) {
    shapers();
    contracts();
  }

  std::vector<Sale> take() {
    for (std::size_t p = 0; p < c_.ports.size(); ++p) {
      if (!c_.ports[p].exists()) continue;
      add({.of = Of::port, .way = Way::down, .index = p}, down_ports_[p], c_.ports[p].shaper.rate);
      if (!core_[p]) add({.of = Of::port, .way = Way::up, .index = p}, up_ports_[p], {});
    }
    uplinks();
    for (std::size_t g = 0; g < c_.groups.size(); ++g) {
      add({.of = Of::group, .way = Way::down, .index = g}, down_groups_[g], c_.groups[g].shaper.rate);
      add({.of = Of::group, .way = Way::up, .index = g}, up_groups_[g], c_.groups[g].shaper.rate);
    }
    for (std::size_t i = 0; i < c_.interfaces.size(); ++i) {
      const Interface& x = c_.interfaces[i];
      add({.of = Of::interface, .way = Way::down, .index = i}, one(x.shaper.rate.value_or(Rate{})), below(x));
      add({.of = Of::interface, .way = Way::up, .index = i}, each(up_interfaces_[i], x), {});
    }
    for (const UplinkShare& u : shares_) queues(u);
    return std::move(sales_);
  }

 private:
  // Down.
  void shapers() {
    for (const Interface& i : c_.interfaces)
      (i.group ? down_groups_[*i.group] : down_ports_[i.port])
          .add(i.own_count(), i.shaper.rate.value_or(Rate{}));
    std::vector<bool> used(c_.groups.size());
    for (const Interface& i : c_.interfaces)
      if (i.group) used[*i.group] = true;
    for (std::size_t g = 0; g < c_.groups.size(); ++g) {
      Sum& port = down_ports_[c_.groups[g].port];
      const auto& rate = c_.groups[g].shaper.rate;
      if (rate && used[g]) port.add(1, *rate);
      if (!rate) port.add(down_groups_[g]);
    }
  }
  // The lowest rate of an interface's group and port.
  std::optional<Rate> below(const Interface& i) const {
    const auto& port = c_.ports[i.port].shaper.rate;
    const std::optional<Rate> group = i.group ? c_.groups[*i.group].shaper.rate : std::nullopt;
    return group && port ? std::min(*group, *port) : group ? group : port;
  }

  // Up.
  void contracts() {
    for (const Rule& r : c_.rules) {
      if (from_core(r, c_)) continue;
      Sum sum;
      sum.add(contracts_of(r, c_), c_.services[r.service].committed);
      const auto from = r.subscriber ? r.subscriber : r.match.interface;
      if (!from && r.match.port) up_ports_[*r.match.port].add(sum);
      if (!from) continue;
      const Interface& i = c_.interfaces[*from];
      Sum own = sum;  // without tags that subscribers have
      if (i.is_template() && !is_for_all_of(r.match, i, c_))
        own.bits_per_second *= static_cast<double>(i.own_count()) / static_cast<double>(i.count());
      up_interfaces_[*from].add(own);
      up_ports_[i.port].add(sum);
      if (i.group) up_groups_[*i.group].add(sum);
    }
  }
  static Sum one(Rate rate) {
    Sum sum;
    sum.add(1, rate);
    return sum;
  }
  static Sum each(const Sum& all, const Interface& i) {
    return {all.sellers, all.bits_per_second / static_cast<double>(std::max<std::size_t>(i.own_count(), 1))};
  }

  // The sum of the rules that `counts` selects, and the first rule with which they exceed `room`.
  template <class Counts>
  std::pair<Sum, std::optional<std::size_t>> promised(Counts counts, std::optional<Rate> room) const {
    Promises sum(c_);
    Sum all;
    std::optional<std::size_t> beyond;
    for (std::size_t r = 0; r < c_.rules.size(); ++r) {
      if (!counts(c_.services[c_.rules[r].service]) || from_core(c_.rules[r], c_)) continue;
      sum.add(c_.rules[r]);
      all.sellers += contracts_of(c_.rules[r], c_);
      if (!beyond && room && sum.so_far() > *room) beyond = r;
    }
    all.bits_per_second = sum.all().both();
    return {all, beyond};
  }
  void uplinks() {
    const auto [all, beyond] = promised([](const Service&) { return true; }, way_out_);
    for (std::size_t p = 0; p < c_.ports.size(); ++p) {
      if (!core_[p]) continue;
      double part = 0;
      std::optional<Rate> capacity;
      for (const UplinkShare& u : shares_) {
        if (u.uplink.port != p) continue;
        part += u.part;
        if (u.rate) capacity = capacity.value_or(Rate{}) + *u.rate;
      }
      add({.of = Of::port, .way = Way::up, .index = p, .rule = beyond},
          {all.sellers, part * all.bits_per_second}, capacity);
    }
  }
  void queues(const UplinkShare& u) {
    const QueueSet* const set = u.uplink.queues;
    if (set == nullptr) return;
    const auto leads_to = [set](std::size_t q) {
      return [set, q](const Service& s) { return s.mark_in && set->by_dscp[*s.mark_in].class_index == q; };
    };
    std::vector<Sum> sums;
    std::vector<Rate> sold;
    for (std::size_t q = 0; q < set->classes.size(); ++q) {
      sums.push_back(promised(leads_to(q), {}).first);
      sums[q].bits_per_second *= u.part;
      sold.push_back(sums[q].rate());
    }
    const std::vector<Rate> room = u.rate ? guarantees(*set, u, sold) : std::vector<Rate>{};
    for (std::size_t q = 0; q < sums.size(); ++q) {
      Sale sale{.of = Of::queue, .way = Way::up, .index = u.uplink.port};
      if (u.uplink.interface) sale.interface = u.uplink.word;
      sale.queue = set->classes[q].scheduling.name;
      if (u.rate && sold[q] > room[q]) sale.rule = promised(leads_to(q), (1 / u.part) * room[q]).second;
      add(std::move(sale), sums[q], u.rate ? std::optional(room[q]) : std::nullopt);
    }
  }

  void add(Sale sale, const Sum& sum, std::optional<Rate> capacity) {
    if (sum.rate() == Rate{}) return;
    sale.sold = sum.rate();
    sale.sellers = sum.sellers;
    sale.capacity = capacity;
    std::size_t port = sale.index;
    if (sale.of == Of::group) {
      sale.group = c_.groups[sale.index].name;
      port = c_.groups[sale.index].port;
    }
    if (sale.of == Of::interface) {
      const Interface& i = c_.interfaces[sale.index];
      sale.interface = i.name;
      sale.members = i.members();
      if (i.group) sale.group = c_.groups[*i.group].name;
      port = i.port;
    }
    sale.port = c_.ports[port].name;
    sales_.push_back(std::move(sale));
  }

  const Config& c_;
  const std::vector<bool> core_ = towards(Port::Trust::core, c_);
  const std::vector<UplinkShare> shares_ = uplink_shares(c_);
  const std::optional<Rate> way_out_ = way_out(c_);
  std::vector<Sum> down_ports_, up_ports_, down_groups_, up_groups_, up_interfaces_;
  std::vector<Sale> sales_;
};

}  // namespace

std::optional<Rate> sure_of(const Config& c, Dscp mark) {
  std::optional<Rate> sum;
  for (const UplinkShare& u : uplink_shares(c)) {
    if (!u.rate) return {};
    const QueueSet* const set = u.uplink.queues;
    const auto of_queue = [&] {
      return guarantees(*set, u, std::vector<Rate>(set->classes.size()))[set->by_dscp[mark].class_index];
    };
    sum = sum.value_or(Rate{}) + (set ? of_queue() : *u.rate);
  }
  return sum;
}

std::vector<Sale> sales(const Config& c) {
  return Model(c).take();
}

}  // namespace surety::config
