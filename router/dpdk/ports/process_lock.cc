// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/ports/process_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace surety {

ProcessLock::ProcessLock(const std::string& what) {
  const bool root = geteuid() == 0;
  if (root && access(directory().c_str(), F_OK) != 0) mkdir(directory().c_str(), 0755);
  path_ = root ? fmt::format("{}/{}.lock", directory(), what)
               : fmt::format("{}/surety-{}-{}.lock", directory(), geteuid(), what);
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "cannot write " + path_);
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 16> pid{};
    const auto n = read(fd_, pid.data(), pid.size());
    holder_ = n > 0 ? std::string(pid.data(), static_cast<std::size_t>(n)) : "unknown";
    return;
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(fd_, 0) != 0 || write(fd_, pid.data(), pid.size()) < 0)
    throw std::system_error(errno, std::generic_category(), "cannot write " + path_);
}

std::string ProcessLock::directory() {
  return geteuid() == 0 ? "/run/surety" : "/tmp";
}

ProcessLock::~ProcessLock() {
  if (!holder_) unlink(path_.c_str());
  close(fd_);
}

}  // namespace surety
