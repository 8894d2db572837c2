// SPDX-License-Identifier: BSD-3-Clause
// Changes of a router's configuration by requests (router/operate/generations/changes_schema.json), and
// configurations that are in effect on trial.
//
// A configuration on trial is not in the router's file; when the time is over, the file alone decides: a
// configuration installed there in time stays, else the previous one returns. All functions are called by
// one thread; they decide, and the router acts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "conditioners/units.h"
#include "config/config.h"
#include "router/operate/observe/reading_json.h"

namespace surety {

class ConfigHistory;

// A configuration as the operator wrote it, and the hash of its texts.
struct InForce {
  config::Config config;
  std::string hash;
};

class Trial {
 public:
  // The router, for a trial.
  struct Router {
    std::string name, file;
    std::function<Time()> now;
    std::function<const InForce&()> in_force;
    // Adopts the configuration in a file, or else leaves all as it is. Returns true if it is in effect.
    std::function<bool(const std::string& file)> take_over;
    std::function<bool(InForce before)> go_back;  // likewise
    // The answer about the last attempt, and its changes.
    std::function<Json(bool in_effect)> answer;
    std::function<Json()> changes;
  };
  Trial(Router router, ConfigHistory& history) : router_(std::move(router)), history_(history) {}

  // Requests by name: `changes` (the state), `try`, `confirm`, `installed`, `back`, `reload`. They throw
  // std::runtime_error for the client.
  using Request = std::function<Json(std::string_view arguments)>;
  std::map<std::string, Request> requests();
  // Adopts the configuration in the router's file, which ends a trial: the file decides. `who`: see
  // ConfigHistory::remember().
  bool reload(const std::string& who);

  bool is_on() const { return on_.has_value(); }
  // True if the time of a trial is over: end() comes next.
  bool is_over(Time now) const { return on_ && now >= on_->until; }
  // The file decides.
  void end();
  // The configuration on trial is no longer in effect.
  void forget() { on_.reset(); }

 private:
  struct OnTrial {
    InForce before;  // returns if the trial fails
    std::string who, hash;
    Time until{};
    std::int64_t until_unix = 0;
    bool installing = false;  // the client that applies it is about to install the file
  };
  Json status() const;
  Json try_out(std::string_view wanted);
  Json confirm();
  Json installed();
  Json back();
  bool stays();
  bool go_back(bool by_itself);

  const Router router_;
  ConfigHistory& history_;
  std::optional<OnTrial> on_;  // set while the configuration in force is not installed
  Json went_back_;             // last rollback: time, author, whether it timed out
};

}  // namespace surety
