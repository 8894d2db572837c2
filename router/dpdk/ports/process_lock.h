// SPDX-License-Identifier: BSD-3-Clause
// Keeps a thing to one process: a router's name, a kernel interface. The kernel drops the lock with the
// process, however it ends.
#pragma once

#include <optional>
#include <string>

namespace surety {

class ProcessLock {
 public:
  // Files of root's locks stand in /run/surety, of others in /tmp.
  // Throws std::system_error when the file cannot be written.
  explicit ProcessLock(const std::string& what);
  ~ProcessLock();
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;

  static std::string directory();

  // The process that has it; none: it is ours.
  const std::optional<std::string>& holder() const { return holder_; }

 private:
  std::string path_;
  int fd_ = -1;
  std::optional<std::string> holder_;
};

}  // namespace surety
