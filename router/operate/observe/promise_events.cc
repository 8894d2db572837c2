// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/promise_events.h"

#include <fmt/format.h>

#include "router/process/human.h"

namespace surety {
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

}  // namespace surety
