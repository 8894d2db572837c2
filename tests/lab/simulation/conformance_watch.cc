// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/conformance_watch.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace surety::lab {
namespace {

// Each contract has a line of its own, and its line has the number of its record.
ContractName name_of(const ContractSighting& s) {
  const std::string number = std::to_string(s.flow);
  return {number, number};
}

FlowId record_of(const ContractReading& r) {
  FlowId id = kNoFlow;
  std::from_chars(r.contract.data(), r.contract.data() + r.contract.size(), id);
  return id;
}

}  // namespace

ConformanceWatch::Meter::Meter(const RouterDriver& router)
    : watch({{&router.ingress(), &router.losses()}}, router.snapshot()),
      book(std::numeric_limits<std::size_t>::max()) {}

ConformanceWatch::ConformanceWatch(std::span<const std::unique_ptr<RouterDriver>> routers) {
  for (const auto& router : routers)
    meters_.push_back(router->sells_rates() ? std::make_unique<Meter>(*router) : nullptr);
}

void ConformanceWatch::second(Time now) {
  for (const auto& m : meters_)
    if (m) m->book.sample(m->watch.look(), m->watch.terms(), name_of, now);
}

ConformanceWatch::Counts ConformanceWatch::counts() const {
  Counts counts;
  for (const auto& m : meters_) {
    auto& of_router = counts.emplace_back();
    if (!m) continue;
    m->book.each([&](const ContractReading& r) {
      Seconds& s = of_router[record_of(r)];
      s.demanding += r.demanding_seconds;
      s.met += r.met_seconds;
    });
  }
  return counts;
}

}  // namespace surety::lab
