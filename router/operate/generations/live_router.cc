// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/live_router.h"

namespace surety {

std::optional<LiveRouter> LiveRouter::find(const TelemetryClient& client,
                                           const std::optional<std::string>& name) {
  if (!client.runs(name)) return std::nullopt;
  LiveRouter found(client);
  found.status_ = client.ask("changes", "", name);
  found.name_ = found.status_.at("router");
  return found;
}

void LiveRouter::look() {
  status_ = client_->ask("changes", "", name_);
}

Json LiveRouter::diff(const std::filesystem::path& file) const {
  return client_->ask("diff", file.string(), name_);
}

Json LiveRouter::try_out(const std::filesystem::path& file, std::optional<std::chrono::seconds> time,
                         const std::string& who) const {
  Json wanted = {{"file", file.string()}, {"who", who}};
  if (time) wanted["seconds"] = time->count();
  return client_->ask("try", wanted.dump(), name_);
}

}  // namespace surety
