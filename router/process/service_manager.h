// SPDX-License-Identifier: BSD-3-Clause
// Reports the state of this process to its service manager: systemd, or another reader of $NOTIFY_SOCKET.
// Without one, nothing is sent. Thread-safe, also for confined threads.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

namespace surety {

class ServiceManager {
 public:
  // Completion of start, reload and stop for systemctl, which waits between reloading() and ready().
  static void ready();
  static void reloading();
  static void stopping();

  // Sets the line of `systemctl status`; an unchanged line is not sent again. Called by one thread.
  void status(std::string line);

  // The interval in which the manager expects alive(), or it restarts the program; nullopt: no watchdog.
  static std::optional<std::chrono::microseconds> patience();
  static void alive();

  // The service of a process, "surety.service"; nullopt: systemd is not running, or the process belongs to no
  // unit.
  static std::optional<std::string> service_of(pid_t process);

 private:
  std::string told_;
};

}  // namespace surety
