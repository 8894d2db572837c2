// SPDX-License-Identifier: BSD-3-Clause
// Interfaces as observers see them: one row each; a template has one for all its members, and those that have
// carried something have one of their own, up to a ceiling, since thousands of series nobody reads.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "router/interfaces/interface_counters.h"
#include "router/interfaces/interfaces.h"
#include "router/observe/reading.h"

namespace surety {

inline constexpr std::size_t kMostMemberRows = 1000;

// `counters`: of all workers, which may be counting.
std::vector<InterfaceReading> interface_rows(const Interfaces& interfaces,
                                             std::span<const InterfaceCounters* const> counters);

}  // namespace surety
