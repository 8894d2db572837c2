// SPDX-License-Identifier: BSD-3-Clause
// The configuration of a running router, and its replacement by another one.
//
// First all steps that can fail, which change nothing; then workers adopt the snapshot between two turns;
// then addresses, interfaces and routes follow, and the old state is freed. All functions are called by the
// control thread.
//
// A device is opened before anything changes, and closed when no worker uses it. If the device of a new port
// is in use by an old one (with another name, or opened in another way), the port waits: workers have it
// without packets, and it is opened as soon as the old one is closed.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "conditioners/units.h"
#include "config/changes.h"
#include "config/parse.h"
#include "config/reload.h"
#include "router/daemon/trial.h"

namespace surety {

class Control;
class ForwardingPlane;
class Observatory;
class ProcessLog;
class Servers;

class Reconfiguration {
 public:
  static constexpr Duration kFollowEvery = std::chrono::milliseconds(100);

  // The parts of a router that have a configuration.
  struct Parts {
    ForwardingPlane& plane;
    Control& control;
    Observatory& observatory;
    Servers& servers;
    ProcessLog& log;
  };
  // The configuration at the start, with its places of ports.
  struct Start {
    InForce configuration;
    config::PortPlaces places;
    std::string file;
    // Files below it are read as if they were `file`: a client has stored a candidate there.
    std::filesystem::path candidates;
  };
  Reconfiguration(const Parts& parts, Start start);

  // The configuration with its ports at their places. Ports of devices that have no address of their own keep
  // the same one over restarts.
  static config::Config placed(const config::Config& config, config::PortPlaces& places);

  const InForce& in_force() const { return in_force_; }
  // The configuration at the start, with the current ports: authoritative for settings that need a restart.
  const config::Config& at_start() const { return written_; }

  // Adopts the configuration in a file; on any error everything stays as it is. Returns true if it is in
  // effect. The workers must be updated().
  bool take_over(const std::string& file);
  // Adopts a previous configuration again, likewise.
  bool go_back(InForce before);
  // The check of a candidate: verdict_of(), with the changes that it would make.
  Json judge(const std::string& file);
  // The result of the last attempt.
  Json answer(bool in_effect) const;
  const Json& changes() const { return changed_; }

  // Frees the old state when all workers have adopted the new one.
  void settle();
  // True if devices of new ports were in use by others: open_waiting() comes next.
  bool waits() const { return waiting_; }
  // Opens them. Returns true if one of them cannot be opened, and the previous configuration is in effect
  // again.
  bool open_waiting();
  // Opens the devices that were missing and exist now.
  void open_appeared();
  // Follows what other programs have changed of the ports' devices, if kFollowEvery has passed. The workers
  // must be updated().
  void follow_devices(Time now);

 private:
  config::ParseResult parse(const std::string& file, const config::Config* running);
  bool attempt(const std::function<bool()>& what);
  void refused(const std::string& reason);
  bool read(const std::string& file);
  bool adopt(InForce next, const config::Tree& tree);
  void go_on_by(config::Config config, const config::PortPlaces& places, bool missing_too = true);
  void tell_reloaded(const std::vector<config::Change>& changes) const;

  const Parts parts_;
  // The last candidate that was checked: what a client checks it tries next, and to read it takes longest.
  std::optional<config::ParseResult> judged_;
  const std::string file_;
  const std::filesystem::path candidates_;
  config::Config written_;
  InForce in_force_;
  InForce fall_back_;  // the previous one: used again if devices of in_force_ cannot be opened
  config::PortPlaces places_;
  bool waiting_ = false;            // devices of new ports were in use by others
  std::string appearance_trouble_;  // why a device that appeared was not opened
  Time next_follow_{};
  bool unpublished_ = false;              // a change of a device has no snapshot yet
  std::string follow_trouble_;            // why
  std::vector<config::Diagnostic> said_;  // diagnostics of the last configuration read
  std::string refusal_;                   // why it was refused, if no line is to blame
  Json changed_ = Json::array();          // changes of the last configuration adopted
};

}  // namespace surety
