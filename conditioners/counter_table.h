// SPDX-License-Identifier: BSD-3-Clause
// Tables of what is counted, from lists: structs of counters, and enumerations of results.
//
// Counters are declared as a list X(name, metric, help, column) beside the code that counts, one line
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
#include <cstddef>
#include <cstdint>
#include <string_view>

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

#define SURETY_TABLE_NAME(name, ...) name,
// An enumeration from a list, a macro LIST(X) of X(name, ...): `Enum`, whose last value is `none`; kEnums,
// the number of the others; kEnumInfo, indexed by them: a struct for each line, written by the macro INFO;
// and info(Enum), the struct of a value.
#define SURETY_ENUM_TABLE(Enum, LIST, INFO)                                       \
  enum class Enum : std::uint8_t { LIST(SURETY_TABLE_NAME) none };                \
  inline constexpr std::size_t k##Enum##s = static_cast<std::size_t>(Enum::none); \
  inline constexpr std::array k##Enum##Info{LIST(INFO)};                          \
  constexpr const auto& info(Enum e) {                                            \
    return k##Enum##Info[static_cast<std::size_t>(e)];                            \
  }

// The enumerations of results: a list of X(name, help).
struct ResultInfo {
  std::string_view name, help;  // shown by metrics and `surety show`
};
#define SURETY_RESULT_INFO(name, help) ::surety::ResultInfo{#name, help},
#define SURETY_RESULTS(Result, LIST) SURETY_ENUM_TABLE(Result, LIST, SURETY_RESULT_INFO)

}  // namespace surety
