// SPDX-License-Identifier: BSD-3-Clause
// One descriptor for the lifetime of a queue, readable when the current peer has written its eventfd.
//
// Edge-triggered: the eventfd, which the peer shares, is never read, so that the peer cannot block the
// reader.
#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "router/process/fd.h"

namespace surety::memif {

class Wake {
 public:
  Wake() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), own_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    follow(own_.get());
  }

  int fd() const { return epoll_.get(); }
  // `event`: an eventfd.
  void follow(int event) {
    epoll_event e{.events = EPOLLIN | EPOLLET, .data = {}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event, &e);
  }
  void leave(int event) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, event, nullptr); }
  void ring() { ::eventfd_write(own_.get(), 1); }
  // Clears the descriptor until the next write.
  void calm() {
    epoll_event events[2];
    ::epoll_wait(epoll_.get(), events, 2, 0);
  }

 private:
  Fd epoll_, own_;
};

}  // namespace surety::memif
