// SPDX-License-Identifier: BSD-3-Clause
// The payload of our TCP senders:
// byte i of the stream is a function of i alone, so that any receiver can check it.
//
// byte(i) = a fixed pseudo-random table of kPeriod bytes at i mod kPeriod. kPeriod is an odd prime, so that a
// stream that is shifted by any power of two does not match itself. Writing is one copy; the checksum comes
// from prefix sums of the table without touching the bytes again.
#pragma once

#include <cstdint>
#include <span>

#include "router/pipeline/wire/checksum.h"

namespace surety::endpoints {

class StreamPattern {
 public:
  static constexpr std::uint64_t kPeriod = 65521;

  static std::uint8_t byte(std::uint64_t offset);
  // Writes the bytes of stream offsets [offset, offset + to.size()); returns their sum as if `to` began at an
  // even offset of the message.
  static Sum write(std::span<std::uint8_t> to, std::uint64_t offset);
  // Returns the sum without writing.
  static Sum sum(std::uint64_t offset, std::size_t length);
  // True if `data` equals the stream at `offset`.
  static bool matches(std::span<const std::uint8_t> data, std::uint64_t offset);
};

}  // namespace surety::endpoints
