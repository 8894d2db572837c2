// SPDX-License-Identifier: BSD-3-Clause
// A key that a dump of the process's memory does not show.
#pragma once

#include <array>
#include <cstdint>

namespace surety {

// Kept exclusive-ored with a pad of the process, random and in memory that is locked and left out of core
// dumps (sodium_malloc), so that copies may stand anywhere.
class HiddenKey {
 public:
  using Plain = std::array<std::uint8_t, 16>;

  HiddenKey() : HiddenKey(Plain{}) {}
  explicit HiddenKey(const Plain& plain);
  Plain reveal() const;  // whoever calls wipes it
  bool zero() const { return *this == HiddenKey(); }
  friend bool operator==(const HiddenKey&, const HiddenKey&) = default;

 private:
  Plain masked_;
};

}  // namespace surety
