// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/site.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <stdexcept>

#include "config/parse.h"
#include "router/operate/observe/report.h"

namespace surety {
namespace {

namespace fs = std::filesystem;

std::string only_one_in(const fs::path& root) {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root, none))
    if (fs::is_directory(entry.path() / "generations", none)) names.insert(entry.path().filename());
  if (names.size() == 1) return *names.begin();
  throw std::runtime_error(
      names.empty() ? fmt::format("no router is running, and {} has no data of any", root.string())
                    : fmt::format("several routers: choose one of {} with --name", fmt::join(names, ", ")));
}

// The router's name in the candidate.
std::string name_in(const fs::path& file) {
  const auto parsed = config::parse_file(file);
  return parsed.ok() ? parsed.config->router.name : std::string();
}

fs::path installed_before(const Store& store) {
  const auto all = store.all();
  return all.empty() ? fs::path() : fs::path(all.back().installed);
}

}  // namespace

Site find_site(const ChangeRequest& request, const TelemetryClient& client) {
  if (auto router = LiveRouter::find(client, request.router)) {
    Site site{router->name(), router, Store(router->state()), router->file()};
    return site;
  }
  const fs::path root = request.state.empty() ? state_directory() : request.state;
  std::string name = request.router.value_or("");
  if (name.empty() && !request.file.empty()) name = name_in(request.file);
  if (name.empty()) name = only_one_in(root);
  Site site{name, std::nullopt, Store(root / name), request.to};
  if (site.file.empty()) site.file = installed_before(site.store);
  if (site.file.empty()) site.file = fs::path("/etc/surety") / (name + ".yaml");
  return site;
}

std::string time_text(std::int64_t unix_seconds) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(unix_seconds)));
}

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
