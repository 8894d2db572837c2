// SPDX-License-Identifier: BSD-3-Clause
// How a scenario is run, and who looks on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "conditioners/units.h"

namespace surety::lab {

// Sees every frame offered to a link, in order: Ethernet header, tags, IP packet. `direction` 0: forth; `now`
// counts from the start of the run.
struct LinkTap {
  virtual ~LinkTap() = default;
  virtual void on_frame(std::size_t link, int direction, std::span<const std::uint8_t> frame, Time now) = 0;
};

struct RunOptions {
  std::uint64_t seed = 1;
  LinkTap* tap = nullptr;  // of `tap_link`
  std::size_t tap_link = 0;
  const std::atomic<bool>* stop = nullptr;  // true: ends at the next sample, with what is there
  std::function<void(double)> progress;     // called now and then with the part done, 0..1
};

}  // namespace surety::lab
