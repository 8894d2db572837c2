// SPDX-License-Identifier: BSD-3-Clause
// Rows of interfaces: one each; a template has one for all its members, and members with traffic have one of
// their own, up to a ceiling, since thousands of series are of no use.
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

inline constexpr std::size_t kMostMemberRows = 1000;

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
