// SPDX-License-Identifier: BSD-3-Clause
// Tells the service manager that has started this process how it does: systemd, or whoever else reads
// $NOTIFY_SOCKET. Where nobody does, nothing is told. From any thread; confined ones, too.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace surety {

class ServiceManager {
 public:
  // What systemctl starts, reloads or stops is over, or will be. Between reloading() and ready() it waits.
  static void ready();
  static void reloading();
  static void stopping();

  // One line, for `systemctl status`; one that has just been told is not told again. From one thread.
  void status(std::string line);

  // Within this the manager wants to hear alive(), or it starts the program anew; none: it does not watch.
  static std::optional<std::chrono::microseconds> patience();
  static void alive();

  // The service that a process belongs to, "surety.service"; none: systemd does not run, or the process
  // belongs to no unit.
  static std::optional<std::string> service_of(pid_t process);

 private:
  std::string told_;
};

}  // namespace surety
