// SPDX-License-Identifier: BSD-3-Clause
// `surety-lab live FILE`: the same scenario on the wire, beside the simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

struct LiveOptions {
  std::string file;
  std::vector<Setting> settings;
  std::uint64_t seed = 1;  // of the live run, and the first of the lab's five
  std::string keep_dir;    // gets configurations, logs and the endpoints' report; empty: they go
  bool json = false;
};

// Exit status: 0; 1: a flow's live mean is not within 5 % of the lab's
// (live_compare.h says when more is allowed); 2: the scenario is wrong, or cannot
// be had live; 3: this machine cannot run it (no root, a program is missing, one failed, or they differ and
// it was too slow); 128 and the signal's number when a signal ended it. Whatever it is, no namespace and no
// process is left behind.
int command_live(const LiveOptions& options);

}  // namespace surety::lab
