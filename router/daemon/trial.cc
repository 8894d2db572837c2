// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/trial.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "router/daemon/config_history.h"
#include "router/daemon/time_of_day.h"

namespace surety {

namespace {

constexpr std::chrono::seconds kInstalling{10};  // until a new configuration is in the file: ample for a disk
constexpr std::int64_t kMostSeconds = 86400;     // longest trial
constexpr std::string_view kFallBack = "the previous configuration is in effect again";

}  // namespace

std::map<std::string, Trial::Request> Trial::requests() {
  return {{"changes", [this](std::string_view) { return status(); }},
          {"try", [this](std::string_view wanted) { return try_out(wanted); }},
          {"confirm", [this](std::string_view) { return confirm(); }},
          {"installed", [this](std::string_view) { return installed(); }},
          {"back", [this](std::string_view) { return back(); }},
          {"reload", [this](std::string_view who) { return router_.answer(reload(std::string(who))); }}};
}

Json Trial::status() const {
  Json status = {{"router", router_.name},
                 {"state", std::filesystem::absolute(history_.directory()).string()},
                 {"file", std::filesystem::absolute(router_.file).string()},
                 {"hash", router_.in_force().hash}};
  if (on_)
    status["trial"] = {{"who", on_->who},
                       {"hash", on_->hash},
                       {"before", on_->before.hash},
                       {"installing", on_->installing},
                       {"until", on_->until_unix}};
  if (!went_back_.is_null()) status["went_back"] = went_back_;
  return status;
}

Json Trial::try_out(std::string_view text) {
  const Json wanted = Json::parse(text);
  const std::string file = wanted.at("file"), who = wanted.at("who");
  const bool installing = !wanted.contains("seconds");
  const std::int64_t time = installing ? kInstalling.count() : wanted["seconds"].get<std::int64_t>();
  if (time < 1 || time > kMostSeconds) throw std::runtime_error("a trial lasts from 1 s to 24 h");
  if (on_)
    throw std::runtime_error(fmt::format(
        "a configuration of {} is on trial already: `surety confirm` or `surety rollback` first", on_->who));
  OnTrial trial{router_.in_force(), who, {}, {}, 0, installing};
  if (!router_.take_over(file)) return router_.answer(false);
  trial.hash = router_.in_force().hash;
  trial.until = router_.now() + std::chrono::seconds(time);
  trial.until_unix = unix_seconds() + time;
  on_ = std::move(trial);
  went_back_ = Json();
  return router_.answer(true);
}

// The time to install it in the file starts now.
Json Trial::confirm() {
  if (!on_) throw std::runtime_error("no configuration is on trial: the trial is over");
  on_->until = router_.now() + kInstalling;
  on_->installing = true;
  return {{"hash", on_->hash}, {"seconds", kInstalling.count()}};
}

// Called by a client that has replaced the file.
Json Trial::installed() {
  const std::string& hash = router_.in_force().hash;
  if (history_.is_installed(hash)) {
    if (on_) history_.remember(hash, on_->who, "confirmed", router_.changes());
    on_.reset();
    return router_.answer(true);
  }
  const bool successful = router_.take_over(router_.file);
  if (successful) on_.reset();
  return router_.answer(successful);
}

bool Trial::reload(const std::string& who) {
  if (!router_.take_over(router_.file)) return false;
  on_.reset();
  history_.remember(router_.in_force().hash, who, "reload", router_.changes());
  return true;
}

Json Trial::back() {
  if (!on_) throw std::runtime_error("no configuration is on trial");
  const bool kept = stays();
  Json said = router_.answer(kept || go_back(false));
  said["kept"] = kept;
  return said;
}

void Trial::end() {
  if (!stays()) go_back(true);
}

// True if the file has the configuration on trial, which then is no longer on trial.
bool Trial::stays() {
  if (!history_.is_installed(on_->hash)) return false;
  history_.remember(router_.in_force().hash, on_->who, "confirmed", router_.changes(), true);
  on_.reset();
  return true;
}

// The current content of the file needs a reload, which was not requested.
bool Trial::go_back(bool by_itself) {
  OnTrial trial = std::move(*std::exchange(on_, std::nullopt));
  spdlog::warn("trial ended: author={} result={}; {}", trial.who, by_itself ? "not-confirmed" : "rolled-back",
               kFallBack);
  went_back_ = {{"who", trial.who}, {"hash", trial.hash}, {"when", unix_seconds()}, {"by_itself", by_itself}};
  return router_.go_back(std::move(trial.before));
}

}  // namespace surety
