// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/workers/sleeper.h"

#include <rte_atomic.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace surety {

namespace {

int must(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

constexpr std::size_t kRoom = 256;  // descriptors that are watched without allocating

timespec to_timespec(Duration d) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(d);
  return {.tv_sec = s.count(), .tv_nsec = (d - s).count()};
}

}  // namespace

Sleeper::Sleeper() : event_(must(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "cannot make an eventfd")) {
  watched_.reserve(kRoom);
  watch(event_.get());
}

void Sleeper::tighten_timer() {
  prctl(PR_SET_TIMERSLACK, 1ul);
}

bool Sleeper::watch(int fd) {
  if (fd < 0) return false;
  if (std::ranges::find(watched_, fd, &pollfd::fd) == watched_.end())
    watched_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  return true;
}

void Sleeper::unwatch(int fd) {
  std::erase_if(watched_, [&](const pollfd& p) { return p.fd == fd; });
}

// Takes a pending error of a device that was removed or is down, which would end every sleep at once. A
// socket works afterwards; other descriptors are unwatched.
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
  if (at_most.count() > 0) {
    const timespec limit = to_timespec(at_most);
    constexpr short kError = POLLERR | POLLHUP | POLLNVAL;
    const auto failed = [](const pollfd& p) { return (p.revents & kError) != 0; };
    const int woken = ::ppoll(watched_.data(), watched_.size(), &limit, nullptr);
    const auto bad = woken > 0 ? std::ranges::find_if(watched_, failed) : watched_.end();
    if (bad != watched_.end()) [[unlikely]]
      calm(bad->fd);
  }
  asleep_.store(false, std::memory_order_relaxed);
  // A wake-up after this store leaves the eventfd readable: the next sleep is short, which is harmless.
  std::uint64_t wakes;
  [[maybe_unused]] const auto n = ::read(event_.get(), &wakes, sizeof wakes);
}

void Sleeper::wake() {
  rte_atomic_thread_fence(__ATOMIC_SEQ_CST);
  // One write is enough: the first waker clears asleep_.
  if (!asleep_.load(std::memory_order_relaxed) || !asleep_.exchange(false, std::memory_order_relaxed)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(event_.get(), &one, sizeof one);
}

}  // namespace surety
