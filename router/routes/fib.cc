// SPDX-License-Identifier: BSD-3-Clause
#include "router/routes/fib.h"

#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_memory.h>
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

constexpr std::size_t kMegabyte = 1 << 20;
constexpr std::size_t kFirstLevel = 64 * kMegabyte;  // 2^24 entries of 4 bytes, in either family
constexpr std::size_t kGroup = 1024;                 // 256 entries of 4 bytes
// The 32nd bit of an entry says that it leads to a group; the 31st is ours, see add4(), and lookups take it
// off. Alone it is what the tables answer where they have no route: a group just freed reads as zero.
constexpr std::uint32_t kNewcomer = 1u << 30;
constexpr std::uint32_t kNothing = kNewcomer;
constexpr std::uint32_t kMaxValue = kNewcomer - 1;
constexpr std::uint8_t kFirstLevelBits = 24;
constexpr std::uint32_t kMostGroups6 = 13;  // of one route: a /128 with nothing above it

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

}  // namespace

Fib::Fib(const std::string& name, std::uint32_t max_routes)
    : name_(name), max_routes_(max_routes), groups6_(first_groups6(max_routes)) {
  rte_fib_conf conf{};
  conf.type = RTE_FIB_DIR24_8;
  conf.default_nh = kNothing;
  conf.max_routes = static_cast<int>(max_routes);
  conf.dir24_8 = {RTE_FIB_DIR24_8_4B, groups4(max_routes)};
  v4_ = rte_fib_create((name + "4").c_str(), SOCKET_ID_ANY, &conf);
  if (v4_ == nullptr) throw std::runtime_error("FIB for IPv4: " + std::string(rte_strerror(rte_errno)));
  v6_ = create6(second6_);
  if (v6_ == nullptr) {
    const int error = rte_errno;
    rte_fib_free(v4_);
    throw std::runtime_error("FIB for IPv6: " + std::string(rte_strerror(error)));
  }
}

Fib::~Fib() {
  rte_fib_free(v4_);
  rte_fib6_free(v6_);
}

rte_fib6* Fib::create6(bool second) {
  rte_fib6_conf conf{};
  conf.type = RTE_FIB6_TRIE;
  conf.default_nh = kNothing;
  conf.max_routes = static_cast<int>(max_routes_);
  conf.trie = {RTE_FIB6_TRIE_4B, groups6_};
  return rte_fib6_create((name_ + (second ? "6.1" : "6.0")).c_str(), SOCKET_ID_ANY, &conf);
}

// DPDK 22.11 does not give reservations back when a route goes, after some time of which additions fail for
// good. A new table has the right count, and a larger one more room; workers move over in one store.
bool Fib::rebuild6() {
  // Else it is full, and to rebuild it for each route too slow.
  const bool leaked = removed6_ * kMostGroups6 > groups6_ / 8;
  if (!leaked && !can_grow6_) return false;
  const std::uint32_t before = groups6_;
  if (!leaked) groups6_ *= 2;
  rte_fib6* const old = v6_.load(std::memory_order_relaxed);
  rte_fib6* const table = create6(!second6_);
  if (table == nullptr || !copy_routes(old, table)) {
    rte_fib6_free(table);
    groups6_ = before;
    can_grow6_ = can_grow6_ && leaked;
    removed6_ = 0;
    return false;
  }
  removed6_ = 0;
  second6_ = !second6_;
  v6_.store(table, std::memory_order_release);
  freed_ = true;
  quiesce();
  rte_fib6_free(old);
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
    rte_rib6* const rib = rte_fib6_get_rib(v6_);
    if (rte_rib6_get_nxt(rib, Lent6(p.address.data()), p.length, nullptr, RTE_RIB6_GET_NXT_COVER) != nullptr)
      return true;
  } else if (rte_rib_get_nxt(rte_fib_get_rib(v4_), p.address.v4_host_order(), p.length, nullptr,
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

// DPDK 22.11 reserves no group for a route that has the value of the next shorter one but gives one back when
// it goes; the count then falls below zero, and additions fail for good. So a route comes with a value that
// no other has, first.
bool Fib::add4(std::uint32_t address, std::uint8_t length, std::uint32_t value) {
  if (const auto top = TopPrefixes::find(address, length)) return set_top(*top, value);
  if (length > kFirstLevelBits && rte_fib_add(v4_, address, length, value | kNewcomer) != 0) return false;
  return rte_fib_add(v4_, address, length, value) == 0;
}

bool Fib::add6(const Prefix& prefix, std::uint32_t value) {
  const auto try_add = [&] { return rte_fib6_add(v6_, Lent6(prefix.address.data()), prefix.length, value); };
  int result = try_add();
  // First, perhaps, a table of the same size with the right count; then a larger one.
  for (int i = 0; i < 2 && result == -ENOSPC; ++i)
    if (rebuild6()) result = try_add();
  return result == 0;
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
      rte_fib_delete(v4_, now.address, now.length);
    } else if (rte_fib_add(v4_, now.address, now.length, *now.value) != 0) {
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
    return rte_fib_delete(v4_, address, prefix.length) == 0;
  }
  ++removed6_;
  return rte_fib6_delete(v6_, Lent6(prefix.address.data()), prefix.length) == 0;
}

std::size_t Fib::memory_bytes(std::uint32_t max_routes) {
  constexpr std::size_t kNode =
      192;  // two in the RIB for each route, with the mempool's header and ring slot
  const std::size_t nodes = 2 * kNode * max_routes + kMegabyte;
  const std::size_t v4 = kFirstLevel + groups4(max_routes) * kGroup + nodes;
  const std::size_t v6 = kFirstLevel + first_groups6(max_routes) * (kGroup + 4) + nodes;
  return v4 + 2 * v6 + first_groups6(max_routes) * kGroup;
}

namespace {

// Asks once more, `again(i)`, where a table has answered nothing at all.
template <class Again>
void ask_again(const std::uint64_t* values, unsigned n, Again&& again) {
  bool none = false;
  for (unsigned i = 0; i < n; ++i) none |= values[i] == 0;
  for (unsigned i = 0; none && i < n; ++i)
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
  auto* const ips = const_cast<std::uint32_t*>(addresses);  // rte_fib's prototype; it only reads
  rte_fib_lookup_bulk(v4_, ips, values, static_cast<int>(n));
  ask_again(values, n, [&](unsigned i) { rte_fib_lookup_bulk(v4_, ips + i, values + i, 1); });
  settle(values, n, default_[0].load(std::memory_order_relaxed));
}

void Fib::lookup6(const std::uint8_t (*addresses)[16], std::uint64_t* values, unsigned n) const {
  rte_fib6* const table = v6_.load(std::memory_order_acquire);
  rte_fib6_lookup_bulk(table, Lent6(addresses[0]), values, static_cast<int>(n));
  ask_again(values, n, [&](unsigned i) { rte_fib6_lookup_bulk(table, Lent6(addresses[i]), values + i, 1); });
  if (const ShortPrefixes::Slots* const slots = short6_.slots())
    for (unsigned i = 0; i < n; ++i)
      if ((values[i] & kMaxValue) == 0) values[i] = slots->of(addresses[i]);
  settle(values, n, default_[1].load(std::memory_order_relaxed));
}

}  // namespace surety
