// SPDX-License-Identifier: BSD-3-Clause
// Merges the readings of several workers into one of the router, and sums their counters of interfaces.
//
// Pure. Rows of ports, queues, services, filters, domains and aggregates have the same index in all readings
// of one snapshot, and rows of a single owner (queues, domains and aggregates: the owner of their port's
// egress) are zero in the other workers' (worker_reading.h), so that sums are right for every assignment.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "router/operate/observe/contract_book.h"
#include "router/operate/observe/reading.h"
#include "router/pipeline/interfaces/interface_counters.h"
#include "router/pipeline/interfaces/interfaces.h"

namespace surety {

// Adds a worker's reading to those of others. A default Reading is neutral: it becomes `part`.
//   ports, queues, services, filters, flows, stages: sums (the respect ratio: of the sums)
//   handover: what was given less what was taken
//   workers: appended; top flows: of both, most bytes first
//   signalling: sums by result and by queue; the age of the last signal; for a path that several workers
//     hold back, the lowest alpha
//   what the router fills in for itself (version, uptime, routes, buffers, ...): stays as it is
void merge(Reading& into, const Reading& part);

// Merges places without a port, and removed ports whose places are in use again, into one row for observers
// (kGonePorts), which exists if they have counted anything.
void settle_gone(Reading& reading);

// Handles rows of earlier configurations (snapshot.h) for observers: a retired service counts for the current
// one of its name; without one it is left out, unless it still has flows; retired domains are left out. Other
// rows get the order of the configuration.
void settle_retired(Reading& reading);
// Adds the numbers of another queue.
void add_numbers(QueueReading& into, const QueueReading& part);
// Moves queues of interfaces behind those of ports.
void settle_below(Reading& reading);

inline constexpr std::size_t kMostMemberRows = 1000;

// Rows of interfaces: one each; a template has one for all its members, and members with traffic have one of
// their own, up to kMostMemberRows, since thousands of series are of no use.
//
// `counters`: all workers', which may be running. `sold`: has the shapers of the same configuration.
std::vector<InterfaceReading> interface_rows(const Interfaces& interfaces,
                                             std::span<const InterfaceCounters* const> counters,
                                             std::span<const config::Sale> sold);

// Report rows of shapers of interfaces, beside those of contracts: the bytes that passed since the last call,
// of service `shaper`, towards the customer. A template has a row for each member whose queues have rows.
class ShaperMinutes {
 public:
  static constexpr const char* kService = "shaper";
  // `workers`: the sum of their readings. Offered is an estimate: dropped packets count with the mean length
  // of passed ones.
  std::vector<ContractMinute> take(std::span<const InterfaceReading> interfaces, const Reading& workers);

 private:
  struct Count {
    std::array<std::uint64_t, kPrecedences> bytes{};
    std::uint64_t packets = 0, dropped = 0;
  };
  static std::map<std::string, Count> counts(const Reading& workers);

  std::map<std::string, Count> before_;  // indexed by interface
};

}  // namespace surety
