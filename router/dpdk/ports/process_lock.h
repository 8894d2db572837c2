// SPDX-License-Identifier: BSD-3-Clause
// Keeps a thing to one process: a router's name, a kernel interface. The kernel drops the lock with the
// process, however it ends.
#pragma once

#include <optional>
#include <string>

#include "router/process/fd.h"

namespace surety {

class ProcessLock {
 public:
  // Files of root's locks stand in /run/surety, of others in /tmp. A holder that was killed keeps it until
  // the kernel has freed his memory: such a one is waited for, up to 10 s. Throws std::system_error when the
  // file cannot be written.
  explicit ProcessLock(const std::string& what);
  // Its holder has given `fd`, fd() of his, and will leave() it. Throws the same.
  ProcessLock(const std::string& what, Fd fd);
  ~ProcessLock();
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;

  static std::string directory();

  int fd() const { return fd_.get(); }
  // Another process has it from now on, too, and alone when this one ends.
  void leave() { left_ = true; }

  // The process that has it; none: it is ours.
  const std::optional<std::string>& holder() const { return holder_; }

 private:
  bool take();
  void write_pid() const;

  std::string path_;
  Fd fd_;
  bool left_ = false;
  std::optional<std::string> holder_;
};

}  // namespace surety
