// SPDX-License-Identifier: BSD-3-Clause
// Reads and changes a router's configuration through its socket, and stores generations.
//
// The control thread performs all requests between two rounds, so that requests, reloads and the ends of
// trials have one order. A configuration on trial is not in the router's file; when the time is over, the
// file alone decides: a configuration installed there in time stays.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <thread>

#include "config/reload.h"
#include "router/daemon/router.h"
#include "router/operate/generations/changes.h"
#include "router/operate/generations/disk.h"
#include "router/process/change_lock.h"
#include "router/process/this_process.h"

namespace surety {

namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerPatience = 30s;         // until the control thread answers
constexpr auto kInstalling = 10s;             // until a new configuration is in the file: ample for a disk
constexpr std::int64_t kMostSeconds = 86400;  // longest trial
constexpr std::string_view kFallBack = "the previous configuration is in effect again";

void warn_once(std::string& told, const std::string& what) {
  if (told != what) spdlog::warn("{}", told = what);
}

}  // namespace

TelemetryServer::Commands Router::changes() {
  using Answer = std::function<Json(std::string_view)>;
  TelemetryServer::Commands all;
  const auto add = [&](const char* name, Answer answer) {
    all.emplace(name, [this, answer = std::move(answer)](std::string_view arguments, Fd&) {
      return between_rounds([&] { return answer(arguments); });
    });
  };
  add("changes", [this](std::string_view) { return changes_status(); });
  add("diff", [this](std::string_view file) { return judge(std::string(file)); });
  add("try", [this](std::string_view wanted) { return try_out(wanted); });
  add("confirm", [this](std::string_view) { return confirm(); });
  add("installed", [this](std::string_view) { return installed(); });
  add("back", [this](std::string_view) {
    if (!trial_) throw std::runtime_error("no configuration is on trial");
    const bool kept = end_trial(false);
    Json said = answer(kept || last_reload_successful_);
    said["kept"] = kept;
    return said;
  });
  add("reload", [this](std::string_view who) { return answer_reload(who); });
  return all;
}

// Exceptions are for the client, not for the control thread.
Json Router::between_rounds(const std::function<Json()>& what) {
  Json result;
  std::exception_ptr thrown;
  const auto guarded = [&] {
    try {
      // A new process that takes over has read its configuration; a router that ends accepts none.
      if (stage_.load() != Stage::forwards || new_process_.is_there())
        throw std::runtime_error("the router is ending, or another process is taking over: try again");
      if (!updated()) throw std::runtime_error("the last reload is still in progress: try again");
      settle();
      result = what();
    } catch (...) {
      thrown = std::current_exception();
    }
  };
  for (auto waited = 0ms; stage_.load() == Stage::begins && waited < kAnswerPatience; waited += 10ms)
    std::this_thread::sleep_for(10ms);
  if (!control_call_.run(
          guarded, [] {}, kAnswerPatience))
    throw std::runtime_error("the router is busy: try again");
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Json::exception&) {
    throw std::runtime_error("invalid request: is it from another version of surety?");
  }
  return result;
}

Json Router::changes_status() const {
  Json status = {{"router", written_.router.name},
                 {"state", std::filesystem::absolute(store_.directory()).string()},
                 {"file", std::filesystem::absolute(file_).string()},
                 {"hash", config_hash_}};
  if (trial_)
    status["trial"] = {{"who", trial_->who},
                       {"hash", trial_->hash},
                       {"before", trial_->before_hash},
                       {"installing", trial_->installing},
                       {"until", static_cast<std::int64_t>(trial_->until_unix)}};
  if (!went_back_.is_null()) status["went_back"] = went_back_;
  return status;
}

// A candidate is in the router's state directory, and is read as if it were the router's file.
config::ParseResult Router::parse(const std::string& file, const config::Config* running) const {
  const auto below = std::filesystem::path(file).lexically_relative(store_.directory());
  if (below.empty() || !inside(below)) return config::parse_file(file, running);
  return config::parse_stored(as_installed(file, file_), running);
}

Json Router::judge(const std::string& file) const {
  const auto next = parse(file, nullptr);
  if (!next.ok()) return verdict_of(next.diagnostics);
  return verdict_of(next.diagnostics,
                    in_json(config::changes(running_, *next.config, config::fixed(written_, *next.config))));
}

// The result of the last attempt.
Json Router::answer(bool in_effect) const {
  Json a = verdict_of(said_, in_effect ? changed_ : Json::array());
  if (!in_effect && !has_errors(a) && !refusal_.empty()) a["errors"].push_back(refusal_);
  a["in_effect"] = in_effect;
  return a;
}

Json Router::try_out(std::string_view text) {
  const Json wanted = Json::parse(text);
  const std::string file = wanted.at("file"), who = wanted.at("who");
  const bool installing = !wanted.contains("seconds");
  const std::int64_t time =
      installing ? std::chrono::seconds(kInstalling).count() : wanted["seconds"].get<std::int64_t>();
  if (time < 1 || time > kMostSeconds) throw std::runtime_error("a trial lasts from 1 s to 24 h");
  if (trial_)
    throw std::runtime_error(
        fmt::format("a configuration of {} is on trial already: `surety confirm` or `surety rollback` first",
                    trial_->who));
  Trial trial{running_, config_hash_, {}, who, {}, 0, installing};
  bool taken = false;
  attempt([&] { return taken = take_over(file); });
  if (!taken) return answer(false);
  trial.hash = config_hash_;
  trial.until = clock_.now() + std::chrono::seconds(time);
  trial.until_unix = unix_seconds() + static_cast<double>(time);
  trial_ = std::move(trial);
  went_back_ = Json();
  return answer(true);
}

// The time to install it in the file starts now.
Json Router::confirm() {
  if (!trial_) throw std::runtime_error("no configuration is on trial: the trial is over");
  trial_->until = clock_.now() + kInstalling;
  trial_->installing = true;
  return {{"hash", trial_->hash}, {"seconds", std::chrono::seconds(kInstalling).count()}};
}

bool Router::is_installed(const std::string& hash) const try {
  return gather(file_).hash() == hash;
} catch (const std::runtime_error&) {
  return false;
}

// Called by a client that has replaced the file.
Json Router::installed() {
  if (is_installed(config_hash_)) {
    if (trial_) remember(trial_->who, "confirmed", changed_);
    trial_.reset();
    return answer(true);
  }
  reload();
  return answer(last_reload_successful_);
}

Json Router::answer_reload(std::string_view who) {
  reload();
  if (last_reload_successful_) remember(std::string(who), "reload", changed_);
  return answer(last_reload_successful_);
}

// The file decides. False: the router rolls back.
bool Router::end_trial(bool by_itself) {
  if (!is_installed(trial_->hash)) return go_back(by_itself), false;
  remember(trial_->who, "confirmed", changed_, true);
  trial_.reset();
  return true;
}

// The current content of the file needs a reload, which was not requested.
void Router::go_back(bool by_itself) {
  Trial trial = std::move(*std::exchange(trial_, std::nullopt));
  spdlog::warn("trial ended: author={} result={}; {}", trial.who, by_itself ? "not-confirmed" : "rolled-back",
               kFallBack);
  went_back_ = {{"who", trial.who},
                {"hash", trial.hash},
                {"when", static_cast<std::int64_t>(unix_seconds())},
                {"by_itself", by_itself}};
  attempt([&] { return adopt(std::move(trial.before), trial.before_hash, config::tree_at(file_)); });
}

// Called before the process is confined: confine() then permits writing there.
void Router::open_store() try {
  store_.open();
  remember("", "start", Json::array());
} catch (const std::runtime_error& e) {
  spdlog::warn("history not stored: {}; `surety history` has no data of this run", e.what());
}

void Router::remember(std::string who, std::string how, Json changes, bool staged_is_taken) {
  try {
    ConfigTree tree = gather(file_);
    if (tree.hash() != config_hash_) return;  // edited since
    if (who.empty()) who = name_of_user(disk::rights_of(file_)->user.value_or(0));
    Generation g;
    g.when = static_cast<std::int64_t>(unix_seconds());
    g.who = std::move(who);
    g.how = std::move(how);
    g.installed = std::filesystem::absolute(file_);
    for (const Json& change : changes) g.changes.push_back(change.at("what"));
    unkept_ = {std::move(tree), std::move(g), staged_is_taken};
  } catch (const std::runtime_error& e) {
    warn_once(store_trouble_, e.what());
  }
}

// Tried again each second: a client that is changing something has the lock.
void Router::keep_generation() {
  if (!unkept_) return;
  try {
    const auto lock = ChangeLock::if_free(store_.directory(), "the router", "stores a generation");
    if (!lock) return;
    if (is_installed(unkept_->tree.hash()))
      store_.settle(unkept_->tree, unkept_->about, trial_.has_value(), unkept_->staged_is_taken);
    store_trouble_.clear();
  } catch (const std::runtime_error& e) {
    warn_once(store_trouble_, fmt::format("generation not stored: {}", e.what()));
  }
  unkept_.reset();
}

}  // namespace surety
