// SPDX-License-Identifier: BSD-3-Clause
// The system's clock, for what people read and what travels between machines: the only place where it is read
// for the router and its commands.
#pragma once

#include <chrono>
#include <cstdint>

#include "router/pipeline/signals/unix_time.h"

namespace surety {

inline UnixTime time_of_day() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

inline std::int64_t unix_seconds() {
  return std::chrono::floor<std::chrono::seconds>(time_of_day()).time_since_epoch().count();
}

}  // namespace surety
