// SPDX-License-Identifier: BSD-3-Clause
// Stores the configurations that a running router has had in effect as generations.
//
// A configuration is stored only if the router's file has it, too. A client that is changing something has
// the store's lock: the configuration then waits for the next keep(). Nothing throws; troubles are logged.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "router/operate/generations/store.h"

namespace surety {

class ConfigHistory {
 public:
  // `state`: the router's state directory. `file`: the router's.
  ConfigHistory(std::filesystem::path state, std::string file)
      : store_(std::move(state)), file_(std::move(file)) {}

  // Creates the state directory. Called before the process is confined.
  void open(const std::string& config_hash);
  // The configuration with this hash is in effect. `who`: empty for the owner of the file. `changes`: as
  // verdict_of() has them. `staged_is_taken`: true if its author does not store it again.
  void remember(const std::string& config_hash, std::string who, std::string how, const Json& changes,
                bool staged_is_taken = false);
  // Stores what was remembered, if it is still installed. Called once a second.
  void keep(bool on_trial);

  // True if the router's file has the configuration with this hash.
  bool is_installed(const std::string& config_hash) const;
  const std::filesystem::path& directory() const { return store_.directory(); }

 private:
  struct Unkept {
    ConfigTree tree;
    Generation about;
    bool staged_is_taken;
  };
  void warn_once(const std::string& what);

  Store store_;
  const std::string file_;
  std::optional<Unkept> unkept_;  // stored when no other process is changing the store
  std::string trouble_;           // the last one logged
};

}  // namespace surety
