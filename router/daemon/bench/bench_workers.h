// SPDX-License-Identifier: BSD-3-Clause
// The workers part of `surety bench`: the gain from a second worker.
//
// The path `everything` on two pairs of ports, one per worker (`independent`); the same with one egress port,
// which one worker owns (`one owner`); one ingress and one egress port (`one port`), which have different
// owners by default; and a single flow on these (`elephant`), also on the path `core`. The last two also
// dispatched. Each with one worker and with two, in turns.
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

// Needs EAL with lcores 1 and 2, which run the workers; `cores`: the cores of these lcores.
std::vector<BenchWorkers> measure_workers(const std::vector<unsigned>& cores, std::uint32_t flows,
                                          int repetitions, double seconds);

}  // namespace surety
