// SPDX-License-Identifier: BSD-3-Clause
// Writes to a peer's eventfd without ever blocking.
//
// write(2) to an eventfd blocks while its count is at the maximum, unless O_NONBLOCK is set. A peer can
// change both at any time through its own descriptor, and so could block a worker for ever. The kernel's
// asynchronous I/O adds to an eventfd without blocking (io_submit(2), IOCB_FLAG_RESFD), and accepts only
// eventfds. The request "reads" /dev/null.
#pragma once

#include <linux/aio_abi.h>

#include <cstdint>

#include "router/process/fd.h"

namespace surety::memif {

class Doorbell {
 public:
  // Used by one thread at a time.
  Doorbell();
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // True if this kernel has asynchronous I/O.
  bool able() const { return context_ != 0; }
  // false: `eventfd` is no eventfd, or not able().
  bool ring(int eventfd);

 private:
  void forget();

  Fd null_;
  aio_context_t context_ = 0;
  unsigned rung_ = 0;  // completions that the kernel still holds
};

}  // namespace surety::memif
