// SPDX-License-Identifier: BSD-3-Clause
// How a worker sleeps until there is something to do, and how others wake it.
//
// The worker: prepare(); look once more for work of every kind; then sleep() if there was none, cancel() if
// there was. Another thread: make the work visible (put it into a ring), then wake(). No wake-up is lost:
// prepare() stores "asleep" and wake() reads it, each behind a full fence that stands between it and the
// side's access to the work. One of the two fences comes first in their single order: if the waker's, the
// worker's second look sees the work; if the worker's, the waker sees "asleep" and writes the eventfd, which
// stays readable until the sleep that it ends. Waking a worker that is awake costs the fence and a load.
//
// By poll(), which is in the descriptors' wait queues only while it sleeps. An epoll descriptor is always:
// then the kernel tells it of each packet that an af_xdp socket gets, 0.1 us on the core that packets come
// from.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "conditioners/units.h"
#include "router/process/fd.h"

namespace surety {

class Sleeper {
 public:
  Sleeper();  // std::system_error where the kernel has no descriptors left

  // For the worker's thread.
  // The kernel rounds every sleep up by its timer slack, 50 us unless a thread asks for less: this one does.
  static void tighten_timer();
  // Readable: something to receive. It must stay open until unwatch(). Twice is once. False: it is none.
  bool watch(int fd);
  void unwatch(int fd);
  void prepare();
  // Until a watched descriptor is readable, wake(), or `at_most` has passed.
  void sleep(Duration at_most);
  void cancel() { asleep_.store(false, std::memory_order_relaxed); }

  // From any thread.
  void wake();

 private:
  void calm(int fd);

  Fd event_;
  std::vector<pollfd> watched_;  // that one first
  std::atomic<bool> asleep_{false};
};

}  // namespace surety
