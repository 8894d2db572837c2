// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/episodes.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "conditioners/drop_reason.h"
#include "router/process/human.h"

namespace surety {
namespace {

constexpr std::array kOfTables{DropReason::buffer_total, DropReason::no_fragment_buffer};
constexpr std::array kOfLimits{DropReason::punt_overflow, DropReason::punt_limited, DropReason::buffer_share};

EventKind kind_of(DegradeReason reason) {
  return reason == DegradeReason::flow_table_full ? EventKind::table_full : EventKind::attack_limited;
}

}  // namespace

// A counter that is watched; `help` describes it.
struct LimitEvents::Subject {
  EventKind kind = EventKind::table_full;
  std::string port{};  // empty: the router's
  std::string reason{};
  std::string_view help{};
};

void LimitEvents::look(const Reading& r, Time now) {
  constexpr EventKind table = EventKind::table_full, limit = EventKind::attack_limited;
  for (const PortReading& p : r.ports) {
    for (std::size_t i = 0; i < kDegradeReasons; ++i)
      count({kind_of(static_cast<DegradeReason>(i)), p.name, std::string(kDegradeReasonInfo[i].name),
             kDegradeReasonInfo[i].help},
            p.counters.degraded[i], now);
    for (const DropReason d : kOfTables)
      count({table, p.name, std::string(info(d).name), info(d).help},
            p.counters.drops[static_cast<std::size_t>(d)], now);
    for (const DropReason d : kOfLimits)
      count({limit, p.name, std::string(info(d).name), info(d).help},
            p.counters.drops[static_cast<std::size_t>(d)], now);
    for (const NamedCount& n : p.responder)
      if (n.name == "table_full" || n.name == "limited")
        count({n.name == "limited" ? limit : table, p.name, fmt::format("responder_{}", n.name), n.help},
              n.count, now);
    for (const KernelCount& k : p.kernel)
      if (k.result == "limited")
        count({limit, p.name, fmt::format("kernel_{}", k.frame_class), k.help}, k.frames, now);
  }
  for (const NamedCount& n : r.icmp_errors)
    if (n.name == "limited") count({limit, {}, "icmp_errors", n.help}, n.count, now);
  tell({table, {}, "routes", "routes without room: raise `dpdk.max_routes`"}, r.routes_rejected,
       r.routes_rejected > 0, now);
  tell({table, {}, "packet_buffers", "packet buffers are free, less than 5 % of them: raise `dpdk.mbufs`"},
       r.mempool_available, r.mempool_available * kLow < r.mempool_size, now);
}

void LimitEvents::count(const Subject& s, std::uint64_t counted, Time now) {
  std::uint64_t& before = counted_[s.port + '\n' + s.reason];
  const std::uint64_t more = counted > before ? counted - before : 0;
  before = counted;
  tell(s, more, more > 0, now);
}

void LimitEvents::tell(const Subject& s, std::uint64_t n, bool happening, Time now) {
  if (episodes_.look(s.port + '\n' + s.reason, happening, now) != Episodes::Change::began) return;
  const std::string where = s.port.empty() ? "" : fmt::format("port {}: ", s.port);
  Json fields = {{"reason", s.reason}, {"count", n}};
  if (!s.port.empty()) fields["port"] = s.port;
  log_.add({EventLevel::warning, s.kind, fmt::format("{}{}: {}: {}", where, s.reason, n, s.help),
            std::move(fields)});
}

namespace {

std::string key_of(const PromiseSecond& s) {
  return fmt::format("{}\n{}\n{}", s.customer, s.service, s.contract);
}

Json fields_of(const PromiseSecond& s) {
  Json fields = {{"customer", s.customer},
                 {"service", s.service},
                 {"contract", s.contract},
                 {"committed_bytes_per_second", s.committed},
                 {"offered_bytes_per_second", s.offered},
                 {"delivered_in_bytes_per_second", s.delivered_in}};
  if (s.reason) fields["reason"] = info(*s.reason).name;
  return fields;
}

std::string why(const PromiseSecond& s) {
  if (!s.reason) return "";
  return fmt::format("; packets dropped for {} ({})", info(*s.reason).name, info(*s.reason).help);
}

}  // namespace

void PromiseEvents::look(const PromiseSecond& s, bool violated, Time now) {
  if (!violated && episodes_.size() == 0) return;
  const Episodes::Change change = episodes_.look(key_of(s), violated, now);
  if (change == Episodes::Change::none) return;
  const std::string whose =
      fmt::format("{} of customer {}, service {}{}", human::rate(s.committed), s.customer, s.service,
                  s.contract == s.customer ? "" : fmt::format(", contract {}", s.contract));
  if (change == Episodes::Change::began)
    log_.add({EventLevel::warning, EventKind::promise_missed,
              fmt::format("contract violated: {}: {} IN delivered of {} offered{}", whose,
                          human::rate(s.delivered_in), human::rate(s.offered), why(s)),
              fields_of(s)});
  else
    log_.add({EventLevel::notice, EventKind::promise_kept, fmt::format("contract conforms again: {}", whose),
              fields_of(s)});
}

void PromiseEvents::forget(const PromiseSecond& contract) {
  episodes_.forget(key_of(contract));
}

void GatewayEvents::look(std::span<const Routes::Resolution> unresolved, Time now) {
  for (auto& [gateway, s] : silent_) s.still = false;
  for (const Routes::Resolution& r : unresolved) {
    const auto gateway = std::pair(r.interface, r.address);
    Unanswered& s = silent_.try_emplace(gateway, Unanswered{now}).first->second;
    s.still = true;
    if (s.told || now - s.since < kGrace) continue;
    s.told = true;
    tell(EventLevel::warning, gateway, false);
  }
  std::erase_if(silent_, [&](const auto& entry) {
    const auto& [gateway, s] = entry;
    if (s.still) return false;
    // No event if the address is unknown: no route uses the gateway, or its link is down.
    if (s.told && known_(gateway.first, gateway.second)) tell(EventLevel::notice, gateway, true);
    return true;
  });
}

void GatewayEvents::tell(EventLevel level, const std::pair<InterfaceIndex, IpAddress>& gateway, bool found) {
  const std::string address = to_string(gateway.second), interface = name_of_(gateway.first);
  log_.add(
      {level,
       EventKind::neighbor,
       fmt::format("gateway {} by {} {}", address, interface, found ? "answers again" : "does not answer"),
       {{"address", address}, {"interface", interface}, {"state", found ? "found" : "lost"}}});
}

}  // namespace surety
