// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/workers/sleeper.h"

#include <rte_atomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace surety {

namespace {

int must(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

timespec to_timespec(Duration d) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(d);
  return {.tv_sec = s.count(), .tv_nsec = (d - s).count()};
}

}  // namespace

Sleeper::Sleeper()
    : epoll_(must(epoll_create1(EPOLL_CLOEXEC), "cannot make an epoll descriptor")),
      event_(must(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "cannot make an eventfd")) {
  if (!watch(event_.get()))
    throw std::system_error(errno, std::generic_category(), "cannot watch a descriptor");
}

void Sleeper::tighten_timer() {
  prctl(PR_SET_TIMERSLACK, 1ul);
}

bool Sleeper::watch(int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST;
}

void Sleeper::unwatch(int fd) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

// An error that nobody takes would end every sleep at once: of a device that is gone or down. A socket has
// said it then and is as good as before; of what goes on about it nothing more is to be expected.
void Sleeper::calm(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error == 0) unwatch(fd);
}

void Sleeper::prepare() {
  asleep_.store(true, std::memory_order_relaxed);
  rte_atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void Sleeper::sleep(Duration at_most) {
  epoll_event event;
  if (at_most.count() > 0) {
    const timespec limit = to_timespec(at_most);
    const int woken = epoll_pwait2(epoll_.get(), &event, 1, &limit, nullptr);
    if (woken == 1 && (event.events & (EPOLLERR | EPOLLHUP)) != 0) calm(event.data.fd);
  }
  asleep_.store(false, std::memory_order_relaxed);
  // Whoever woke it after this store leaves the eventfd readable: the next sleep is a short one, no harm.
  std::uint64_t wakes;
  [[maybe_unused]] const auto n = ::read(event_.get(), &wakes, sizeof wakes);
}

void Sleeper::wake() {
  rte_atomic_thread_fence(__ATOMIC_SEQ_CST);
  // One writer is enough: the first takes the announcement away.
  if (!asleep_.load(std::memory_order_relaxed) || !asleep_.exchange(false, std::memory_order_relaxed)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(event_.get(), &one, sizeof one);
}

}  // namespace surety
