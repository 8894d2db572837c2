// SPDX-License-Identifier: BSD-3-Clause
// Room for one packet or frame that somebody is to write.
#pragma once

#include <cstdint>
#include <span>

namespace surety {

// `data` is where it begins, `capacity` bytes may be written; who writes sets `length`.
struct Slot {
  std::uint8_t* data = nullptr;
  std::uint32_t capacity = 0;
  std::uint32_t length = 0;
  std::uint16_t interface = 0;  // that a frame is to leave by, where its maker has several
};
using Room = std::span<Slot>;

}  // namespace surety
