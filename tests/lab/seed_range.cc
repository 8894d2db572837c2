// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/seed_range.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <stdexcept>

namespace surety::lab {

namespace {

constexpr std::uint64_t kMost = 1'000'000;

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

SeedRange parse_seeds(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = dash == text.npos ? 1 : number_of(text.substr(0, dash));
  const auto last = number_of(dash == text.npos ? text : text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first || *last > kMost)
    throw std::invalid_argument(
        fmt::format("`{}` is not seeds, as in `20` or `5-20`; at most {}", text, kMost));
  return {*first, *last};
}

}  // namespace surety::lab
