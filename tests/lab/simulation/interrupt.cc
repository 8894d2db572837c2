// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace surety::lab {

namespace {

std::atomic<bool> stopped{false};
std::atomic<int> received{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void on_signal(int number) {
  received.store(number, std::memory_order_relaxed);
  stopped.store(true, std::memory_order_relaxed);
}

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  stopped = false;
  received = 0;
  set_handler(on_signal);
}

Interrupt::~Interrupt() {
  set_handler(SIG_DFL);
}

const std::atomic<bool>* Interrupt::stop() const {
  return &stopped;
}

int Interrupt::status() const {
  return received == 0 ? 0 : 128 + received;
}

}  // namespace surety::lab
