// SPDX-License-Identifier: BSD-3-Clause
// Lets a worker sleep until it has work, and other threads wake it.
//
// The worker calls prepare(), checks once more for work of every kind, then sleep() if there is none, else
// cancel(). Another thread makes the work visible (in a ring), then calls wake(). No wake-up is lost:
// prepare() stores "asleep" and wake() reads it, each behind a full fence between it and the side's access to
// the work. One of the two fences is first in their single order: if the waker's, the worker's second check
// sees the work; if the worker's, the waker sees "asleep" and writes the eventfd, which stays readable until
// the sleep that it ends. Waking a worker that is awake costs the fence and a load.
//
// Uses poll(), which is in the descriptors' wait queues only while it sleeps. An epoll descriptor always is:
// the kernel would then signal each packet of an af_xdp socket, 0.1 us on the sender's core.
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
  Sleeper();  // throws std::system_error without free descriptors

  // Sets the timer slack of the calling thread, the worker's, to the minimum. By default the kernel rounds
  // every sleep up by 50 us.
  static void tighten_timer();
  // Wakes on a readable descriptor, which must stay open until unwatch(). Repeated calls have no effect.
  // False: not a descriptor.
  bool watch(int fd);
  void unwatch(int fd);
  void prepare();
  // Sleeps until a watched descriptor is readable, wake() is called, or `at_most` has passed.
  void sleep(Duration at_most);
  void cancel() { asleep_.store(false, std::memory_order_relaxed); }

  // Thread-safe.
  void wake();

 private:
  void calm(int fd);

  Fd event_;
  std::vector<pollfd> watched_;  // event_ first
  std::atomic<bool> asleep_{false};
};

}  // namespace surety
