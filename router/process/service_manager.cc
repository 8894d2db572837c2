// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/service_manager.h"

#include <systemd/sd-daemon.h>
#include <systemd/sd-login.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

namespace surety {

void ServiceManager::ready() {
  ::sd_notify(0, "READY=1");
}

void ServiceManager::reloading() {
  ::sd_notify(0, "RELOADING=1");
}

void ServiceManager::stopping() {
  ::sd_notify(0, "STOPPING=1");
}

void ServiceManager::status(std::string line) {
  if (line == told_) return;
  ::sd_notify(0, ("STATUS=" + line).c_str());
  told_ = std::move(line);
}

std::optional<std::chrono::microseconds> ServiceManager::patience() {
  std::uint64_t microseconds = 0;
  if (::sd_watchdog_enabled(0, &microseconds) <= 0) return {};
  return std::chrono::microseconds(microseconds);
}

void ServiceManager::alive() {
  ::sd_notify(0, "WATCHDOG=1");
}

std::optional<std::string> ServiceManager::service_of(pid_t process) {
  char* name = nullptr;
  if (::sd_booted() <= 0 || ::sd_pid_get_unit(process, &name) < 0) return {};
  std::string unit(name);
  std::free(name);
  if (!unit.ends_with(".service")) return {};
  return unit;
}

}  // namespace surety
