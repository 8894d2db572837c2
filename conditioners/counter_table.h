// SPDX-License-Identifier: BSD-3-Clause
// Structs of counters, declared as a list X(name, metric, help, column) beside the code that counts, one line
// for each counter.
//
// From the list follow the members, and a table from which router/operate/observe makes everything that is
// shown:
//   name    the member, and its name in JSON and telemetry; ends in _bytes unless it counts packets or things
//   metric  full name of the Prometheus family: ends in _total, or it is a gauge; "": has none of its own
//   help    what is counted, a sentence
//   column  title in `surety show`; "": not shown there
#pragma once

#include <array>
#include <cstdint>

namespace surety {

template <class Counters, class Number = std::uint64_t>
struct CounterInfo {
  const char *name, *metric, *help, *column;
  Number Counters::*member;
};

#define SURETY_COUNTER_MEMBER(name, metric, help, column) std::uint64_t name = 0;
#define SURETY_COUNTER_INFO(name, metric, help, column) {#name, metric, help, column, &Self::name},
// Inside of `Struct`: the members of a list, and table().
#define SURETY_COUNTERS(Struct, LIST)                                     \
  LIST(SURETY_COUNTER_MEMBER)                                             \
  static constexpr auto table() {                                         \
    using Self = Struct;                                                  \
    return std::to_array<CounterInfo<Self>>({LIST(SURETY_COUNTER_INFO)}); \
  }

}  // namespace surety
