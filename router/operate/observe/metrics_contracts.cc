// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/metrics.h"

namespace surety::metrics {

namespace {

constexpr auto kCounter = MetricType::Counter, kGauge = MetricType::Gauge;
constexpr const char *kDemanding =
                         "Demanding seconds of each contract: at least a tenth of its committed rate was "
                         "guaranteed, or the second is violated.",
                     *kMet =
                         "Demanding seconds that are not violated: the guaranteed bytes were delivered. "
                         "Conformance is their share.",
                     *kObjective = "The conformance that is agreed with the customer.";

std::uint64_t offered(const ServiceCounters& c) {
  return c.bytes[0] + c.bytes[1] + c.dropped_bytes;
}

void services(Families& out, const Reading& r) {
  using S = const ServiceReading&;
  const auto family = [&](MetricType type, const char* name, const char* help, auto value) {
    each(
        out, type, name, help, r.services,
        [](S s) {
          return Labels{{"service", s.name}};
        },
        value);
  };
  family(kCounter, "surety_service_offered_bytes_total",
         "Bytes of IP packets that came to a conditioner and were passed or dropped by it.",
         [](S s) { return offered(s.counters); });
  Family bytes(kCounter, "surety_service_delivered_bytes_total",
               "Bytes of IP packets that passed a conditioner and were not dropped behind it.");
  for (S s : r.services)
    for (const Precedence p : {Precedence::in, Precedence::out})
      bytes.add({{"service", s.name}, {"precedence", name(p)}}, s.delivered_bytes[index(p)]);
  bytes.move_to(out);
  // Services without a commitment have no such seconds.
  const auto seconds = [](S s, std::uint64_t n) {
    return s.objective || s.demanding_seconds > 0 ? std::optional(static_cast<double>(n)) : std::nullopt;
  };
  family(kCounter, "surety_service_demanding_seconds_total", kDemanding,
         [&](S s) { return seconds(s, s.demanding_seconds); });
  family(kCounter, "surety_service_met_seconds_total", kMet, [&](S s) { return seconds(s, s.met_seconds); });
  family(kGauge, "surety_service_objective_ratio", kObjective, [](S s) { return s.objective; });
}

}  // namespace

void contracts(Families& out, const Reading& r) {
  services(out, r);
  using C = const ContractReading&;
  const auto labels = [](C c) {
    return Labels{{"customer", c.customer}, {"service", c.service}, {"contract", c.contract}};
  };
  const auto family = [&](MetricType type, const char* name, const char* help, auto value) {
    each(out, type, name, help, r.contracts, labels, value);
  };
  family(kGauge, "surety_contract_committed_bytes_per_second",
         "Committed rate of the contracts in use; 0 if none is.",
         [](C c) { return c.committed_bytes_per_second; });
  family(kCounter, "surety_contract_offered_bytes_total",
         "Bytes of IP packets that came to the contract's conditioner and were passed or dropped by it.",
         [](C c) { return c.offered_bytes; });
  Family bytes(kCounter, "surety_contract_delivered_bytes_total",
               "Bytes of IP packets that passed the contract's conditioner and were not dropped behind it.");
  Family drops(kCounter, "surety_contract_dropped_packets_total",
               "Packets of the contract that were dropped, by place.");
  for (C c : r.contracts) {
    const auto with = [&](const char* key, const char* value) {
      Labels all = labels(c);
      all.push_back({key, value});
      return all;
    };
    for (const Precedence p : {Precedence::in, Precedence::out})
      bytes.add(with("precedence", name(p)), c.delivered_bytes[index(p)]);
    for (std::size_t place = 0; place < kLossPlaces.size(); ++place)
      drops.add(with("place", kLossPlaces[place]), c.lost.at(static_cast<LossPlace>(place)));
  }
  bytes.move_to(out);
  drops.move_to(out);
  family(kGauge, "surety_contract_held_packets", "Packets of the contract in input buffers.",
         [](C c) { return c.held; });
  family(kCounter, "surety_contract_demanding_seconds_total", kDemanding,
         [](C c) { return c.demanding_seconds; });
  family(kCounter, "surety_contract_met_seconds_total", kMet, [](C c) { return c.met_seconds; });
  family(kCounter, "surety_contract_held_back_seconds_total",
         "Seconds in which OUT packets were dropped behind the conditioner and less than 95 % of the "
         "committed rate was delivered over three seconds, for any of the contracts.",
         [](C c) { return c.held_back_seconds; });
  family(kGauge, "surety_contract_objective_ratio", kObjective, [](C c) { return c.objective; });
}

}  // namespace surety::metrics
