// SPDX-License-Identifier: BSD-3-Clause
// The links of a live run: the plan's lines on a Wire, carried by a thread in the wire's namespace.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "tests/lab/live/live_layout.h"
#include "tests/lab/live/live_wire.h"

namespace surety::lab {

// What a line does to frames. The port before it is held back by its shaper
// (live_config.h), so that it may take all.
Impairment impairment_of(const LinkDirection& direction);

// A wire with every line of the plan, in the calling thread's namespace. `seed`: of the losses.
void lay(Wire& wire, const Plan& plan, const LiveLayout& layout, std::uint64_t seed);

class LiveLinks {
 public:
  LiveLinks(const Plan& plan, const LiveLayout& layout,
            std::uint64_t seed);  // throws LiveError, std::system_error
  ~LiveLinks();
  LiveLinks(const LiveLinks&) = delete;
  LiveLinks& operator=(const LiveLinks&) = delete;

  // Ends them.
  Wire::Counters end();

 private:
  Wire wire_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace surety::lab
