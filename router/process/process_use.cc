// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/process_use.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace surety {
namespace {

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

// The second number of statm, in pages.
std::uint64_t resident_pages(int statm) {
  std::array<char, 128> text{};
  unsigned long pages = 0;
  if (::pread(statm, text.data(), text.size() - 1, 0) <= 0) return 0;
  return std::sscanf(text.data(), "%*u %lu", &pages) == 1 ? pages : 0;
}

std::uint64_t entries(DIR* directory) {
  std::uint64_t count = 0;
  if (directory == nullptr) return 0;
  ::rewinddir(directory);
  while (const dirent* const entry = ::readdir(directory)) count += entry->d_name[0] != '.';
  return count;
}

}  // namespace

ProcessMeter::ProcessMeter(double start_time_seconds)
    : start_time_seconds_(start_time_seconds),
      memory_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      descriptors_(::opendir("/proc/self/fd")) {}

ProcessUse ProcessMeter::read() const {
  ProcessUse use;
  use.start_time_seconds = start_time_seconds_;
  if (rusage used{}; ::getrusage(RUSAGE_SELF, &used) == 0)
    use.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  use.resident_bytes = resident_pages(memory_.get()) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  use.open_fds = entries(descriptors_.get());
  if (rlimit limit{}; ::getrlimit(RLIMIT_NOFILE, &limit) == 0) use.max_fds = limit.rlim_cur;
  return use;
}

}  // namespace surety
