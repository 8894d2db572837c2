// SPDX-License-Identifier: BSD-3-Clause
// SIGTERM and SIGINT end the program's loop, so that it releases its resources in order.
#pragma once

#include <atomic>
#include <csignal>

namespace surety {

namespace stop_signals {
inline std::atomic<bool> received{false};
inline std::atomic<int> which{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
// Name of the last signal received.
inline const char* name() {
  return which.load(std::memory_order_relaxed) == SIGINT ? "SIGINT" : "SIGTERM";
}
}  // namespace stop_signals

// Makes these signals only set the flag.
inline const std::atomic<bool>& stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int signal) {
    stop_signals::which.store(signal, std::memory_order_relaxed);
    stop_signals::received.store(true, std::memory_order_relaxed);
  };
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  return stop_signals::received;
}

}  // namespace surety
