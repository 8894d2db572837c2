// SPDX-License-Identifier: BSD-3-Clause
// Room for one packet or frame.
#pragma once

#include <cstdint>
#include <span>

namespace surety {

// `data`: start, `capacity`: bytes that may be written; the writer sets `length`.
struct Slot {
  std::uint8_t* data = nullptr;
  std::uint32_t capacity = 0;
  std::uint32_t length = 0;
  std::uint16_t interface = 0;  // egress interface of a frame, if its writer has several
};
using Room = std::span<Slot>;

}  // namespace surety
