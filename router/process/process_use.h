// SPDX-License-Identifier: BSD-3-Clause
// What this process takes of its host, as Prometheus' own client libraries have it (the process_ families).
#pragma once

#include <dirent.h>

#include <cstdint>
#include <memory>

#include "router/process/fd.h"

namespace surety {

struct ProcessUse {
  double start_time_seconds = 0;  // of the day, since 1970
  double cpu_seconds = 0;         // of all threads, in user and system
  std::uint64_t resident_bytes = 0, open_fds = 0, max_fds = 0;
};

class ProcessMeter {
 public:
  // What it reads is opened here: later, the process may be confined to other files.
  explicit ProcessMeter(double start_time_seconds);
  // Not twice at the same time. What cannot be read is 0.
  ProcessUse read() const;

 private:
  struct Close {
    void operator()(DIR* d) const { ::closedir(d); }
  };
  double start_time_seconds_;
  Fd memory_;
  std::unique_ptr<DIR, Close> descriptors_;
};

}  // namespace surety
