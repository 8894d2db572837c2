// SPDX-License-Identifier: BSD-3-Clause
// Matches the entries of two versions of a list.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace surety::config {

struct Listed {
  std::string label;  // entries of the same label are the same, the first with the first, and so on
  bool named = true;  // false: the label is the whole text, so that a changed entry has another label
};
struct Aligned {
  std::optional<std::size_t> before, after;  // none: new, or removed
  bool moved = false;                        // true: in both, at another place
};

// In the order of `after`, with removed entries where they were. Takes n log n.
std::vector<Aligned> align(const std::vector<Listed>& before, const std::vector<Listed>& after);

}  // namespace surety::config
