// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C: the program prints what is done; pressed again, it ends at once.
#pragma once

#include <atomic>

namespace surety::lab {

// While it lives, the first SIGINT or SIGTERM is only noted; the next one does what it does
// by default. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>* stop() const;
  // What the shell expects of a program that a signal ended: 128 and its number; 0: there was none.
  int status() const;
};

}  // namespace surety::lab
