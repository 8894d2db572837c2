// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/config_history.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <stdexcept>
#include <utility>

#include "router/daemon/time_of_day.h"
#include "router/operate/generations/disk.h"
#include "router/process/change_lock.h"
#include "router/process/this_process.h"

namespace surety {

void ConfigHistory::open(const std::string& config_hash) try {
  store_.open();
  remember(config_hash, "", "start", Json::array());
} catch (const std::runtime_error& e) {
  spdlog::warn("history not stored: {}; `surety history` has no data of this run", e.what());
}

void ConfigHistory::remember(const std::string& config_hash, std::string who, std::string how,
                             const Json& changes, bool staged_is_taken) {
  try {
    ConfigTree tree = gather(file_);
    if (tree.hash() != config_hash) return;  // edited since
    if (who.empty()) who = name_of_user(disk::rights_of(file_)->user.value_or(0));
    Generation g;
    g.when = unix_seconds();
    g.who = std::move(who);
    g.how = std::move(how);
    g.installed = std::filesystem::absolute(file_);
    for (const Json& change : changes) g.changes.push_back(change.at("what"));
    unkept_ = {std::move(tree), std::move(g), staged_is_taken};
  } catch (const std::runtime_error& e) {
    warn_once(e.what());
  }
}

void ConfigHistory::keep(bool on_trial) {
  if (!unkept_) return;
  try {
    const auto lock = ChangeLock::if_free(store_.directory(), "the router", "stores a generation");
    if (!lock) return;
    if (is_installed(unkept_->tree.hash()))
      store_.settle(unkept_->tree, unkept_->about, on_trial, unkept_->staged_is_taken);
    trouble_.clear();
  } catch (const std::runtime_error& e) {
    warn_once(fmt::format("generation not stored: {}", e.what()));
  }
  unkept_.reset();
}

bool ConfigHistory::is_installed(const std::string& config_hash) const try {
  return gather(file_).hash() == config_hash;
} catch (const std::runtime_error&) {
  return false;
}

void ConfigHistory::warn_once(const std::string& what) {
  if (trouble_ != what) spdlog::warn("{}", trouble_ = what);
}

}  // namespace surety
