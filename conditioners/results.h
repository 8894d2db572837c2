// SPDX-License-Identifier: BSD-3-Clause
// Makes an enumeration of results from a list of names with their meanings: a macro LIST(X) of X(name, help).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace surety {

struct ResultInfo {
  std::string_view name, help;  // shown by metrics and `surety show`
};

#define SURETY_RESULT_NAME(name, help) name,
#define SURETY_RESULT_INFO(name, help) ::surety::ResultInfo{#name, help},
// `Result`, whose last value is `none`; kResults, the number of the others; kResultInfo, indexed by them.
#define SURETY_RESULTS(Result, LIST)                                                  \
  enum class Result : std::uint8_t { LIST(SURETY_RESULT_NAME) none };                 \
  inline constexpr std::size_t k##Result##s = static_cast<std::size_t>(Result::none); \
  inline constexpr std::array<::surety::ResultInfo, k##Result##s> k##Result##Info{{LIST(SURETY_RESULT_INFO)}};

}  // namespace surety
