// SPDX-License-Identifier: BSD-3-Clause
// Exclusive use by one process: of a router's name, of a kernel interface. The kernel releases the lock when
// the process ends.
#pragma once

#include <optional>
#include <string>

#include "router/process/fd.h"

namespace surety {

class ProcessLock {
 public:
  // Root's lock files are in /run/surety, others' in /tmp. A killed holder keeps the lock until the kernel
  // has freed its memory: the constructor then waits, up to 10 s. Throws std::system_error when the file
  // cannot be written.
  explicit ProcessLock(const std::string& what);
  // Takes over a lock: `fd` is the holder's fd(), and the holder will call leave(). Throws the same.
  ProcessLock(const std::string& what, Fd fd);
  ~ProcessLock();
  ProcessLock(const ProcessLock&) = delete;
  ProcessLock& operator=(const ProcessLock&) = delete;

  static std::string directory();

  int fd() const { return fd_.get(); }
  // Shares the lock with another process, which keeps it when this one ends.
  void leave() { left_ = true; }

  // The process that holds the lock; nullopt: this one.
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
