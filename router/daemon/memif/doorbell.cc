// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/memif/doorbell.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <array>
#include <ctime>

namespace surety::memif {

namespace {
constexpr unsigned kKept = 64;
}  // namespace

Doorbell::Doorbell() : null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  if (::syscall(SYS_io_setup, kKept, &context_) != 0) context_ = 0;
}

Doorbell::~Doorbell() {
  if (context_ != 0) ::syscall(SYS_io_destroy, context_);
}

bool Doorbell::ring(int eventfd) {
  if (context_ == 0) return false;
  if (rung_ == kKept) forget();
  iocb request{};
  request.aio_lio_opcode = IOCB_CMD_PREAD;
  request.aio_fildes = static_cast<std::uint32_t>(null_.get());
  request.aio_flags = IOCB_FLAG_RESFD;
  request.aio_resfd = static_cast<std::uint32_t>(eventfd);
  iocb* const requests = &request;
  const bool rung = ::syscall(SYS_io_submit, context_, 1, &requests) == 1;
  rung_ += rung ? 1 : 0;
  return rung;
}

void Doorbell::forget() {
  std::array<io_event, kKept> events;
  timespec now{};
  ::syscall(SYS_io_getevents, context_, 0, kKept, events.data(), &now);
  rung_ = 0;
}

}  // namespace surety::memif
