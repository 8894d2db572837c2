// SPDX-License-Identifier: BSD-3-Clause
// The configuration file and the generations of a router, running or not.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "router/operate/generations/changes.h"
#include "router/operate/generations/store.h"
#include "router/operate/observe/telemetry_client.h"

namespace surety {

// Client of a running router's configuration commands (answers: changes_schema.json).
class LiveRouter {
 public:
  // nullopt: none of that name is running; without a name: none at all. Throws as TelemetryClient does.
  static std::optional<LiveRouter> find(const TelemetryClient& client,
                                        const std::optional<std::string>& name);

  void look();  // reads the status again
  const std::string& name() const { return name_; }
  std::filesystem::path state() const { return status_.at("state").get<std::string>(); }
  std::filesystem::path file() const { return status_.at("file").get<std::string>(); }
  std::string hash() const { return status_.at("hash"); }  // hash of the configuration in force
  const Json* trial() const { return status_.contains("trial") ? &status_.at("trial") : nullptr; }
  const Json* went_back() const { return status_.contains("went_back") ? &status_.at("went_back") : nullptr; }

  Json diff(const std::filesystem::path& file) const;
  // `time`: until it is confirmed; nullopt: it will be installed at once.
  Json try_out(const std::filesystem::path& file, std::optional<std::chrono::seconds> time,
               const std::string& who) const;
  Json confirm() const { return client_->ask("confirm", "", name_); }
  Json installed() const { return client_->ask("installed", "", name_); }
  Json back() const { return client_->ask("back", "", name_); }
  Json reload(const std::string& who) const { return client_->ask("reload", who, name_); }

 private:
  explicit LiveRouter(const TelemetryClient& client) : client_(&client) {}
  const TelemetryClient* client_;
  std::string name_;
  Json status_;
};

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
