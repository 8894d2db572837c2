// SPDX-License-Identifier: BSD-3-Clause
// Where a router's configuration and its generations stand, whether it runs or not.
#pragma once

#include <optional>
#include <string>

#include "router/generations/changes.h"
#include "router/generations/live_router.h"
#include "router/generations/store.h"

namespace surety {

struct Site {
  std::string name;
  std::optional<LiveRouter> router;  // none: it does not run
  Store store;
  std::filesystem::path file;  // what it is started with
};

// Throws std::runtime_error where there are several, or none.
Site find_site(const ChangeRequest& request, const TelemetryClient& client);

// 2026-11-25 18:54:12, of this place.
std::string time_text(std::int64_t unix_seconds);

}  // namespace surety
