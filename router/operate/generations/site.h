// SPDX-License-Identifier: BSD-3-Clause
// The configuration file and the generations of a router, running or not.
#pragma once

#include <optional>
#include <string>

#include "router/operate/generations/changes.h"
#include "router/operate/generations/live_router.h"
#include "router/operate/generations/store.h"

namespace surety {

struct Site {
  std::string name;
  std::optional<LiveRouter> router;  // nullopt: it is not running
  Store store;
  std::filesystem::path file;  // the router's configuration file
};

// Throws std::runtime_error if there are several, or none.
Site find_site(const ChangeRequest& request, const TelemetryClient& client);

// 2026-11-25 18:54:12, in local time.
std::string time_text(std::int64_t unix_seconds);

}  // namespace surety
