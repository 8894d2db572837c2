// SPDX-License-Identifier: BSD-3-Clause
// A key that is not readable in a memory dump of the process.
#pragma once

#include <array>
#include <cstdint>

namespace surety {

// Stored as exclusive-or with a pad of the process, random and in memory that is locked and excluded from
// core dumps (sodium_malloc), so that copies may be anywhere.
class HiddenKey {
 public:
  using Plain = std::array<std::uint8_t, 16>;

  HiddenKey() : HiddenKey(Plain{}) {}
  explicit HiddenKey(const Plain& plain);
  Plain reveal() const;  // the caller must wipe the result
  bool zero() const { return *this == HiddenKey(); }
  friend bool operator==(const HiddenKey&, const HiddenKey&) = default;

 private:
  Plain masked_;
};

}  // namespace surety
