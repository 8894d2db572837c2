// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/fib.h"

#include <rte_eal.h>
#include <rte_fib.h>
#include <rte_rib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "router/pipeline/routes/prefix_table.h"
#include "router/pipeline/routes/route_events.h"

namespace surety {
namespace {

// The 32nd bit of an entry marks a group; the 31st is ours, see add4(), and lookups clear it.
constexpr std::uint32_t kNewcomer = 1u << 30;
constexpr std::uint32_t kMaxValue = kNewcomer - 1;
constexpr std::uint8_t kFirstLevelBits = 24;
constexpr std::uint32_t kFirstRoutes = 2048;  // capacity of a table that can grow

// A group per /24 that has longer prefixes in it: neighbours and point-to-point subnets,
// a small part of any table.
std::uint32_t groups4(std::uint32_t max_routes) {
  return (4096 + max_routes / 8 + 63) / 64 * 64;
}

std::uint32_t first_routes(std::uint32_t max_routes) {
  return rte_eal_has_hugepages() != 0 ? max_routes : std::min(max_routes, kFirstRoutes);
}

// DPDK 22.11 reserves no group for a route with the value of the next shorter one but frees one when it is
// removed; the count then falls below zero, and additions fail for good. A route is therefore first added
// with a unique value.
bool add_route(rte_fib* fib, std::uint32_t address, std::uint8_t length, std::uint64_t value) {
  if (length > kFirstLevelBits && rte_fib_add(fib, address, length, value | kNewcomer) != 0) return false;
  return rte_fib_add(fib, address, length, value) == 0;
}

struct Route4 {
  std::uint32_t address;
  std::uint8_t length;
  std::uint64_t value;
};

bool copy_routes(rte_fib* from, rte_fib* to) {
  std::vector<Route4> routes;
  rte_rib* rib = rte_fib_get_rib(from);
  for (rte_rib_node* node = nullptr;
       (node = rte_rib_get_nxt(rib, 0, 0, node, RTE_RIB_GET_NXT_ALL)) != nullptr;) {
    Route4& r = routes.emplace_back();
    rte_rib_get_ip(node, &r.address);
    rte_rib_get_depth(node, &r.length);
    rte_rib_get_nh(node, &r.value);
  }
  std::stable_sort(routes.begin(), routes.end(), [](auto& a, auto& b) { return a.length < b.length; });
  return std::all_of(routes.begin(), routes.end(),
                     [&](const Route4& r) { return add_route(to, r.address, r.length, r.value); });
}

}  // namespace

// A change in progress of a table, which may free groups.
class Fib::Change {
 public:
  explicit Change(Fib& fib) : changes_(fib.changes_) {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Change() { changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  std::atomic<std::uint32_t>& changes_;
};

Fib::Fib(const std::string& name, std::uint32_t max_routes)
    : name_(name),
      max_routes_(max_routes),
      routes4_(first_routes(max_routes)),
      table4_(std::make_unique<FibTable4>(name + "4.0", routes4_, groups4(routes4_))),
      v4_(table4_->fib()),
      table6_(max_routes) {}

void Fib::set_quiesce(std::function<void()> quiesce) {
  quiesce_ = quiesce;
  table6_.set_quiesce(std::move(quiesce));
}

// Grows to the full size in one step: after some thousands of routes a full table may follow.
bool Fib::grow4() {
  if (routes4_ == max_routes_ || !can_grow4_) return false;
  try {
    auto next = std::make_unique<FibTable4>(name_ + "4.1", max_routes_, groups4(max_routes_));
    if (!copy_routes(table4_->fib(), next->fib())) throw std::runtime_error("its routes do not fit");
    table4_.swap(next);
    v4_.store(table4_->fib(), std::memory_order_release);
    freed_ = true;
    quiesce();
  } catch (const std::runtime_error&) {
    can_grow4_ = false;
    return false;
  }
  routes4_ = max_routes_;
  return true;
}

void Fib::quiesce() {
  if (freed_ && quiesce_) quiesce_();
  freed_ = false;
}

// A change frees a group by making all its 256 entries equal. After an addition these can only be the group
// that the prefix lies in, if both its ends have the value, or those of longer prefixes inside. (A full table
// is loaded with next to no waiting for workers that way.)
bool Fib::may_have_freed(std::uint32_t address, std::uint8_t length, std::uint32_t value) const {
  if (rte_rib_get_nxt(rte_fib_get_rib(table4_->fib()), address, length, nullptr, RTE_RIB_GET_NXT_COVER) !=
      nullptr)
    return true;
  if (length <= kFirstLevelBits) return false;
  const std::array<std::uint32_t, 2> ends{address & ~0xffu, address | 0xff};
  std::array<std::uint64_t, 2> values{};
  lookup4(ends.data(), values.data(), 2);
  return values[0] == value && values[1] == value;
}

bool Fib::add(const Prefix& prefix, std::uint32_t value) {
  if (value > kMaxValue) return false;
  if (prefix.address.is_v6()) return add6(prefix, value);
  if (prefix.length == 0) return set_default(false, value);
  const std::uint32_t address = prefix.masked().address.v4_host_order();
  // Only prefixes longer than the first level use a group of the second one.
  if (prefix.length > kFirstLevelBits) quiesce();
  const bool added = add4(address, prefix.length, value);
  freed_ = freed_ || may_have_freed(address, prefix.length, value);
  return added;
}

bool Fib::put4(std::uint32_t address, std::uint8_t length, std::uint32_t value) {
  const auto try_add = [&] {
    const Change change(*this);
    return add_route(table4_->fib(), address, length, value);
  };
  return try_add() || (grow4() && try_add());
}

bool Fib::add4(std::uint32_t address, std::uint8_t length, std::uint32_t value) {
  if (const auto top = TopPrefixes::find(address, length)) return set_top(*top, value);
  return put4(address, length, value);
}

bool Fib::remove4(std::uint32_t address, std::uint8_t length) {
  const Change change(*this);
  return rte_fib_delete(table4_->fib(), address, length) == 0;
}

bool Fib::set_default(bool v6, std::uint32_t value) {
  return default_[v6].exchange(value, std::memory_order_relaxed) != value || value != 0;
}

bool Fib::set_top(std::size_t which, std::optional<std::uint32_t> value) {
  const TopPrefixes before = top_;
  top_.set(which, value);
  freed_ = true;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto was = before.stored()[i], now = top_.stored()[i];
    if (was.value == now.value) continue;
    if (!now.value) {
      remove4(now.address, now.length);
    } else if (!put4(now.address, now.length, *now.value)) {
      const auto had = before.has(which);
      if (!had) set_top(which, {});  // no room: removes the route just added
      return had;
    }
  }
  return true;
}

bool Fib::remove(const Prefix& prefix) {
  if (prefix.address.is_v6()) return remove6(prefix);
  if (prefix.length == 0) return set_default(false, RouteTarget{kNextHopNone}.encode());
  freed_ = true;
  const std::uint32_t address = prefix.masked().address.v4_host_order();
  if (const auto top = TopPrefixes::find(address, prefix.length)) return top_.has(*top) && set_top(*top, {});
  return remove4(address, prefix.length);
}

bool Fib::add6(const Prefix& prefix, std::uint32_t value) {
  bool added = true;
  if (prefix.length == 0)
    added = set_default(true, value);
  else if (ShortPrefixes::holds(prefix))
    short6_.set(prefix, value);
  else
    added = table6_.add(prefix, value);
  if (added) generations6_.changed(prefix);
  return added;
}

bool Fib::remove6(const Prefix& prefix) {
  const bool removed = prefix.length == 0             ? set_default(true, RouteTarget{kNextHopNone}.encode())
                       : ShortPrefixes::holds(prefix) ? short6_.remove(prefix)
                                                      : table6_.remove(prefix);
  if (removed) generations6_.changed(prefix);
  return removed;
}

std::size_t Fib::memory_bytes(std::uint32_t max_routes, bool hugepages) {
  if (!hugepages) return 0;
  return FibTable4::bytes(max_routes, groups4(max_routes)) + PrefixTrie6::bytes(max_routes);
}

Fib::Resident Fib::resident(std::uint32_t max_routes) {
  const std::uint32_t first = std::min(max_routes, kFirstRoutes);
  return {FibTable4::empty_bytes(first), FibTable4::bytes(max_routes, groups4(max_routes)), 0,
          PrefixTrie6::most_bytes(max_routes)};
}

namespace {

// Repeats a lookup, `again(i)`, if a table has returned "none" while `changes` moved on from `before`.
template <class Again>
void ask_again(const std::uint64_t* values, unsigned n, const std::atomic<std::uint32_t>& changes,
               std::uint32_t before, Again&& again) {
  bool none = false;
  for (unsigned i = 0; i < n; ++i) none |= values[i] == 0;
  if (!none) return;
  std::atomic_thread_fence(std::memory_order_acquire);
  if (before % 2 == 0 && changes.load(std::memory_order_relaxed) == before) return;
  for (unsigned i = 0; i < n; ++i)
    if (values[i] == 0) again(i);
}

// Turns results of the tables into results of a lookup. Without a branch per value, so that several are
// processed at a time.
void settle(std::uint64_t* values, unsigned n, std::uint32_t otherwise) {
  for (unsigned i = 0; i < n; ++i) {
    const std::uint64_t value = values[i] & kMaxValue;
    values[i] = value != 0 ? value : otherwise;
  }
}

}  // namespace

void Fib::lookup4(const std::uint32_t* addresses, std::uint64_t* values, unsigned n) const {
  const std::uint32_t before = changes_.load(std::memory_order_acquire);
  rte_fib* const table = v4_.load(std::memory_order_acquire);
  auto* const ips = const_cast<std::uint32_t*>(addresses);  // rte_fib's prototype; it only reads
  rte_fib_lookup_bulk(table, ips, values, static_cast<int>(n));
  ask_again(values, n, changes_, before,
            [&](unsigned i) { rte_fib_lookup_bulk(table, ips + i, values + i, 1); });
  settle(values, n, default_[0].load(std::memory_order_relaxed));
}

void Fib::lookup6(const std::uint8_t (*addresses)[16], std::uint64_t* values, unsigned n) const {
  table6_.lookup(addresses, values, n);
  if (const ShortPrefixes::Slots* const slots = short6_.slots())
    for (unsigned i = 0; i < n; ++i)
      if (values[i] == 0) values[i] = slots->of(addresses[i]);
  settle(values, n, default_[1].load(std::memory_order_relaxed));
}

std::uint32_t ShortPrefixes::node_of(const Prefix& prefix) {
  const std::uint8_t* const bytes = prefix.address.data();
  const std::uint32_t bits = std::uint32_t{bytes[0]} << 8 | bytes[1];
  return (1u << prefix.length) | bits >> (kBits - prefix.length);
}

// Half a megabyte that most routers do without.
void ShortPrefixes::make() {
  nodes_ = std::make_unique<std::array<Node, 2 << kBits>>();
  slots_ = std::make_unique<Slots>();
  published_.store(slots_.get(), std::memory_order_release);
}

void ShortPrefixes::set(const Prefix& prefix, std::uint32_t value) {
  if (!slots_) make();
  const std::uint32_t node = node_of(prefix);
  (*nodes_)[node] = {value, true};
  fill(node, value);
}

bool ShortPrefixes::remove(const Prefix& prefix) {
  const std::uint32_t node = node_of(prefix);
  if (!nodes_ || !(*nodes_)[node].used) return false;
  (*nodes_)[node] = {};
  std::uint32_t above = node;
  while (above > 0 && !(*nodes_)[above].used) above /= 2;
  fill(node, (*nodes_)[above].value);
  return true;
}

// `value`: the next shorter prefix's.
void ShortPrefixes::fill(std::uint32_t node, std::uint32_t value) {
  const Node& n = (*nodes_)[node];
  if (n.used) value = n.value;
  if (node >= 1u << kBits) {
    slots_->values_[node - (1u << kBits)].store(value, std::memory_order_relaxed);
    return;
  }
  fill(2 * node, value);
  fill(2 * node + 1, value);
}

}  // namespace surety
