// SPDX-License-Identifier: BSD-3-Clause
// The workers part of `surety bench`: what a second worker is worth.
//
// The path `everything` on two pairs of ports, of which each worker has one (`independent`); the same, but
// all that comes leaves by one port, which one worker owns (`one owner`); what comes by one port and leaves
// by one (`one port`), which have different owners by default; and a single flow there (`elephant`), also of
// the path `core`. The last two also dispatched. Each with one worker and with two, in turns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace surety {

struct BenchWorkers {
  std::string what;
  std::uint64_t flows = 0;
  std::vector<double> one, two;  // packets transmitted in a second, one per repetition
};

// Needs EAL with lcores 1 and 2, which run the workers; `cores`: what those run on.
std::vector<BenchWorkers> measure_workers(const std::vector<unsigned>& cores, std::uint32_t flows,
                                          int repetitions, double seconds);

}  // namespace surety
