// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/wake_fds.h"

#include <dirent.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

namespace surety {

namespace {

int family_of(int fd) {
  int family = -1;
  socklen_t size = sizeof family;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &size) == 0 ? family : -1;
}

}  // namespace

std::set<int> open_sockets(int family) {
  std::set<int> sockets;
  if (family < 0) return sockets;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), &closedir);
  if (!directory) return sockets;
  while (const dirent* entry = readdir(directory.get())) {
    int fd = -1;  // `.` and `..` are none
    std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), fd);
    if (fd >= 0 && family_of(fd) == family) sockets.insert(fd);
  }
  return sockets;
}

void WakeFds::add(std::uint16_t queue, int fd) {
  if (by_queue_.size() <= queue) by_queue_.resize(queue + 1u);
  by_queue_[queue].push_back(fd);
}

std::span<const int> WakeFds::of(std::uint16_t queue) const {
  if (queue >= by_queue_.size()) return {};
  return by_queue_[queue];
}

std::vector<int> SocketWatch::appeared() {
  std::set<int> now = open_sockets(family_);
  std::vector<int> fresh;
  std::set_difference(now.begin(), now.end(), known_.begin(), known_.end(), std::back_inserter(fresh));
  known_ = std::move(now);
  return fresh;
}

}  // namespace surety
