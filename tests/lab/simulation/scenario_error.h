// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a scenario and only shows when it is planned or run: one sentence for its author.
#pragma once

#include <stdexcept>

namespace surety::lab {

struct ScenarioError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline constexpr const char* kNoBuffers =
    "the packet buffers are used up: too many packets are on the way at one time";

}  // namespace surety::lab
