// SPDX-License-Identifier: BSD-3-Clause
// Resources used by this process, as in Prometheus' own client libraries (the process_ families).
#pragma once

#include <dirent.h>

#include <cstdint>
#include <memory>

#include "router/process/fd.h"

namespace surety {

struct ProcessUse {
  double start_time_seconds = 0;  // Unix seconds
  double cpu_seconds = 0;         // sum over all threads, user and system
  std::uint64_t resident_bytes = 0, open_fds = 0, max_fds = 0;
};

class ProcessMeter {
 public:
  // Opens its files here, since the process may be confined to others later.
  explicit ProcessMeter(double start_time_seconds);
  // Not thread-safe. Values that cannot be read are 0.
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
