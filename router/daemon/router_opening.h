// SPDX-License-Identifier: BSD-3-Clause
// The devices that a reload opens: closed again unless it succeeds.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "router/daemon/router.h"

namespace surety {

// A device could not be opened or changed.
struct PortError : std::runtime_error {
  PortError(std::string name, const std::string& what) : std::runtime_error(what), port(std::move(name)) {}
  std::string port;
};

class Router::Opening {
 public:
  explicit Opening(PortSet& ports) : ports_(ports) {}
  ~Opening();
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  // Opens all devices that are not open, except those still missing; true: some were skipped because others
  // use them. Throws PortError, as start() does.
  bool open(const config::Config& config);
  void start(const config::Config& config, const WorkPlan& plan) const;
  void keep() { opened_.clear(); }

 private:
  PortSet& ports_;
  std::vector<std::size_t> opened_;
};

}  // namespace surety
