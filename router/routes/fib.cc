// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/fib.h"

#include <rte_eal.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_rib.h>
#include <rte_rib6.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "router/routes/prefixes.h"
#include "router/routes/route_events.h"

namespace surety {
namespace {

// The 32nd bit of an entry says that it leads to a group; the 31st is ours, see add4(), and lookups take it
// off.
constexpr std::uint32_t kNewcomer = 1u << 30;
constexpr std::uint32_t kMaxValue = kNewcomer - 1;
constexpr std::uint8_t kFirstLevelBits = 24;
constexpr std::uint32_t kFirstRoutes = 2048;  // of a table that can grow
constexpr std::uint32_t kMostGroups6 = 13;    // of one route: a /128 with nothing above it

// A group per /24 that has longer prefixes in it: neighbours and point-to-point subnets,
// a small part of any table.
std::uint32_t groups4(std::uint32_t max_routes) {
  return (4096 + max_routes / 8 + 63) / 64 * 64;
}

// rte_fib6 reserves a group per started byte that a prefix reaches beyond /24 or beyond the next shorter
// route, siblings apart: 3 for a lone /48, 2 for one below a /32, 8 for a neighbour on a /64. The table grows
// by rebuild6() when it is more.
std::uint32_t first_groups6(std::uint32_t max_routes) {
  return 4096 + max_routes / 2;
}

std::uint32_t first_routes(std::uint32_t max_routes) {
  return rte_eal_has_hugepages() != 0 ? max_routes : std::min(max_routes, kFirstRoutes);
}

// Addresses as rte_fib6 wants them: bytes, and from DPDK 24.11 on a struct that holds just these. Whatever a
// prototype says, they are lent to it.
class Lent6 {
 public:
  explicit Lent6(const std::uint8_t* bytes) : bytes_(const_cast<std::uint8_t*>(bytes)) {}
  template <class Addresses>
  operator Addresses*() const {
    return static_cast<Addresses*>(bytes_);
  }

 private:
  void* bytes_;
};

struct Route6 {
  std::uint8_t address[16];
  std::uint8_t length;
  std::uint64_t value;
};

std::vector<Route6> all_routes(rte_fib6* fib) {
  constexpr std::uint8_t kAny[16] = {};
  std::vector<Route6> routes;
  rte_rib6* rib = rte_fib6_get_rib(fib);
  for (rte_rib6_node* node = nullptr;
       (node = rte_rib6_get_nxt(rib, Lent6(kAny), 0, node, RTE_RIB6_GET_NXT_ALL)) != nullptr;) {
    Route6& r = routes.emplace_back();
    rte_rib6_get_ip(node, Lent6(r.address));
    rte_rib6_get_depth(node, &r.length);
    rte_rib6_get_nh(node, &r.value);
  }
  // Shorter ones first, since groups are reserved beyond the next shorter route.
  std::stable_sort(routes.begin(), routes.end(), [](auto& a, auto& b) { return a.length < b.length; });
  return routes;
}

bool copy_routes(rte_fib6* from, rte_fib6* to) {
  const auto routes = all_routes(from);
  return std::all_of(routes.begin(), routes.end(), [&](const Route6& r) {
    return rte_fib6_add(to, Lent6(r.address), r.length, r.value) == 0;
  });
}

// DPDK 22.11 reserves no group for a route that has the value of the next shorter one but gives one back when
// it goes; the count then falls below zero, and additions fail for good. So a route comes with a value that
// no other has, first.
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

std::string table_name(const std::string& fib, const char* family, std::uint32_t serial) {
  return fib + family + std::to_string(serial);
}

}  // namespace

// What is about to be done to a table may free groups of it.
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
      routes6_(routes4_),
      groups6_(first_groups6(routes6_)),
      table4_(std::make_unique<FibTable4>(name + "4.0", routes4_, groups4(routes4_))),
      table6_(std::make_unique<FibTable6>(name + "6.0", routes6_, groups6_)),
      v4_(table4_->fib()),
      v6_(table6_->fib()) {}

// To its full size, in one step: what comes after the first thousands may be a full table.
bool Fib::grow4() {
  if (routes4_ == max_routes_ || !can_grow4_) return false;
  try {
    auto next =
        std::make_unique<FibTable4>(table_name(name_, "4.", ++serial_), max_routes_, groups4(max_routes_));
    if (!copy_routes(table4_->fib(), next->fib())) throw std::runtime_error("what was in it is too much");
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

// DPDK 22.11 does not give reservations back when a route goes, after some time of which additions fail for
// good. A new table has the right count, and a larger one more room; workers move over in one store. `full`:
// it is the routes that there are too many of.
bool Fib::rebuild6(bool full) {
  const bool small = routes6_ < max_routes_ && can_grow6_;
  // Else it is full, and to rebuild it for each route too slow.
  const bool leaked = !full && removed6_ * kMostGroups6 > groups6_ / 8;
  if (!leaked && (!can_grow6_ || (full && !small))) return false;
  const std::uint32_t routes = !leaked && small ? max_routes_ : routes6_;
  const std::uint32_t groups = leaked ? groups6_ : small ? first_groups6(routes) : groups6_ * 2;
  removed6_ = 0;
  try {
    auto next = std::make_unique<FibTable6>(table_name(name_, "6.", ++serial_), routes, groups);
    if (!copy_routes(table6_->fib(), next->fib())) throw std::runtime_error("what was in it is too much");
    table6_.swap(next);
    v6_.store(table6_->fib(), std::memory_order_release);
    freed_ = true;
    quiesce();
  } catch (const std::runtime_error&) {
    can_grow6_ = can_grow6_ && leaked;
    return false;
  }
  routes6_ = routes;
  groups6_ = groups;
  return true;
}

void Fib::quiesce() {
  if (freed_ && quiesce_) quiesce_();
  freed_ = false;
}

// A change frees a group by making all its 256 entries equal. After an addition these can only be the group
// that the prefix lies in, if both its ends have the value, or those of longer prefixes inside. (A full table
// is loaded with next to no waiting for workers that way.)
bool Fib::may_have_freed(const Prefix& prefix, std::uint32_t value) const {
  const Prefix p = prefix.masked();
  if (p.address.is_v6()) {
    rte_rib6* const rib = rte_fib6_get_rib(table6_->fib());
    if (rte_rib6_get_nxt(rib, Lent6(p.address.data()), p.length, nullptr, RTE_RIB6_GET_NXT_COVER) != nullptr)
      return true;
  } else if (rte_rib_get_nxt(rte_fib_get_rib(table4_->fib()), p.address.v4_host_order(), p.length, nullptr,
                             RTE_RIB_GET_NXT_COVER) != nullptr) {
    return true;
  }
  if (p.length <= kFirstLevelBits) return false;
  const Prefix group{p.address, static_cast<std::uint8_t>((p.length - 1) / 8 * 8)};
  const IpAddress first = group.masked().address, last = last_address(group);
  std::array<std::uint64_t, 2> values{};
  if (p.address.is_v6()) {
    const std::array<IpAddress, 2> ends{first, last};
    lookup6(reinterpret_cast<const std::uint8_t(*)[16]>(ends.data()), values.data(), 2);
  } else {
    const std::array<std::uint32_t, 2> ends{first.v4_host_order(), last.v4_host_order()};
    lookup4(ends.data(), values.data(), 2);
  }
  return values[0] == value && values[1] == value;
}

bool Fib::add(const Prefix& prefix, std::uint32_t value) {
  if (value > kMaxValue) return false;
  if (prefix.length == 0) return set_default(prefix.address.is_v6(), value);
  if (ShortPrefixes::holds(prefix)) {
    short6_.set(prefix, value);
    return true;
  }
  // Only prefixes beyond the first level take a group.
  if (prefix.length > kFirstLevelBits) quiesce();
  const bool added = prefix.address.is_v6()
                         ? add6(prefix, value)
                         : add4(prefix.masked().address.v4_host_order(), prefix.length, value);
  freed_ = freed_ || may_have_freed(prefix, value);
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

bool Fib::add6(const Prefix& prefix, std::uint32_t value) {
  const auto try_add = [&] {
    const Change change(*this);
    return rte_fib6_add(table6_->fib(), Lent6(prefix.address.data()), prefix.length, value);
  };
  int result = try_add();
  // First, perhaps, a table of the same size with the right count; then a larger one.
  for (int i = 0; i < 2 && (result == -ENOSPC || result == -ENOMEM); ++i)
    if (rebuild6(result == -ENOMEM)) result = try_add();
  return result == 0;
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
      if (!had) set_top(which, {});  // no room: what has gone in comes out again
      return had;
    }
  }
  return true;
}

bool Fib::remove(const Prefix& prefix) {
  if (prefix.length == 0) return set_default(prefix.address.is_v6(), RouteTarget{kNextHopNone}.encode());
  if (ShortPrefixes::holds(prefix)) return short6_.remove(prefix);
  freed_ = true;
  if (!prefix.address.is_v6()) {
    const std::uint32_t address = prefix.masked().address.v4_host_order();
    if (const auto top = TopPrefixes::find(address, prefix.length))
      return top_.has(*top) && set_top(*top, {});
    return remove4(address, prefix.length);
  }
  ++removed6_;
  const Change change(*this);
  return rte_fib6_delete(table6_->fib(), Lent6(prefix.address.data()), prefix.length) == 0;
}

std::size_t Fib::memory_bytes(std::uint32_t max_routes, bool hugepages) {
  if (!hugepages) return 0;
  const std::uint32_t groups6 = first_groups6(max_routes);
  return FibTable4::bytes(max_routes, groups4(max_routes)) + 2 * FibTable6::bytes(max_routes, groups6) +
         std::size_t{groups6} * 1024;
}

Fib::Resident Fib::resident(std::uint32_t max_routes) {
  const std::uint32_t first = std::min(max_routes, kFirstRoutes);
  return {FibTable4::empty_bytes(first), FibTable4::bytes(max_routes, groups4(max_routes)),
          FibTable6::empty_bytes(first), FibTable6::bytes(max_routes, first_groups6(max_routes))};
}

namespace {

// Asks once more, `again(i)`, where a table has answered "none" while `changes` went from `before`.
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

// What the tables have answered becomes what a lookup says. Without a branch per value, so that it is done
// for several at a time.
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
  const std::uint32_t before = changes_.load(std::memory_order_acquire);
  rte_fib6* const table = v6_.load(std::memory_order_acquire);
  rte_fib6_lookup_bulk(table, Lent6(addresses[0]), values, static_cast<int>(n));
  ask_again(values, n, changes_, before,
            [&](unsigned i) { rte_fib6_lookup_bulk(table, Lent6(addresses[i]), values + i, 1); });
  if (const ShortPrefixes::Slots* const slots = short6_.slots())
    for (unsigned i = 0; i < n; ++i)
      if ((values[i] & kMaxValue) == 0) values[i] = slots->of(addresses[i]);
  settle(values, n, default_[1].load(std::memory_order_relaxed));
}

}  // namespace surety
