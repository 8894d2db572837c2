// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/report/report.h"

#include <algorithm>

namespace surety::endpoints {

bool Report::kept() const {
  return std::all_of(flows.begin(), flows.end(), [&](const auto& f) { return f.kept(tolerance); });
}

}  // namespace surety::endpoints
