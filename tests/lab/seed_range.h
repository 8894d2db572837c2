// SPDX-License-Identifier: BSD-3-Clause
// The seeds of one `surety-lab run`: `--seeds 20` or `--seeds 5-20`.
#pragma once

#include <cstdint>
#include <string_view>

namespace surety::lab {

struct SeedRange {
  std::uint64_t first = 1, last = 1;
  std::uint64_t count() const { return last - first + 1; }
  bool operator==(const SeedRange&) const = default;
};

// Throws std::invalid_argument, which says what to write instead.
SeedRange parse_seeds(std::string_view text);

}  // namespace surety::lab
