// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/service_manager.h"

#include <systemd/sd-daemon.h>

#include <cstdint>
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

}  // namespace surety
