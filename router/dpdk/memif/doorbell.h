// SPDX-License-Identifier: BSD-3-Clause
// Rings the eventfd of a stranger, without ever waiting for it.
//
// write(2) to an eventfd waits while its count is at the top, unless O_NONBLOCK says otherwise, and a peer
// can change both at any time, of this descriptor as of its own: it could make a worker stand still for ever.
// The kernel's asynchronous I/O adds to an eventfd by itself and never waits (io_submit(2), IOCB_FLAG_RESFD),
// and takes nothing that is no eventfd. What it "reads" for that is /dev/null.
#pragma once

#include <linux/aio_abi.h>

#include <cstdint>

#include "router/process/fd.h"

namespace surety::memif {

class Doorbell {
 public:
  // For one thread at a time.
  Doorbell();
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // Whether this kernel has asynchronous I/O.
  bool able() const { return context_ != 0; }
  // false: it is no eventfd, or not able().
  bool ring(int eventfd);

 private:
  void forget();

  Fd null_;
  aio_context_t context_ = 0;
  unsigned rung_ = 0;  // completions that the kernel keeps for us
};

}  // namespace surety::memif
