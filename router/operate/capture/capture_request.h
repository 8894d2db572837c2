// SPDX-License-Identifier: BSD-3-Clause
// The request of `surety capture`: which packets, how many, for how long.
//
//   lan0 source=10.1.0.0/16 protocol=udp rate=10000 snap=256 seconds=60
//   drops reason=early,forced destination=10.2.0.1
//
// The first word is `drops`, a port, an interface, or a customer (all current interfaces of the customer),
// looked up in this order. The others are the fields of a `match`, and limits.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "router/pipeline/capture/capture_tap.h"

namespace surety {

struct CaptureRequest {
  static constexpr std::uint32_t kMostRate = 100'000, kMostSnap = 16'384, kMostSeconds = 86'400;
  std::string what{};  // for messages
  CaptureWish wish{};
  Duration time = std::chrono::seconds(60);
};

// Throws std::runtime_error, one sentence, if the request is invalid.
CaptureRequest parse_capture(std::string_view text, std::shared_ptr<const Interfaces> interfaces);

}  // namespace surety
