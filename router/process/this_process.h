// SPDX-License-Identifier: BSD-3-Clause
// This process: the resources that it uses and may use, the files installed with it, and its user.
#pragma once

#include <dirent.h>
#include <sched.h>
#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "router/process/fd.h"

namespace surety {

// Resources used by this process, as in Prometheus' own client libraries (the process_ families).
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

// The cores that this process may run on, sorted by number; core 0 if the kernel reports none.
inline std::vector<unsigned> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (unsigned c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(c, &set)) cores.push_back(c);
  return cores;
}

// Identifies the network namespace of this process: the inode of /proc/self/ns/net (namespaces(7)); 0: not to
// be seen.
inline std::uint64_t network_namespace() {
  struct stat s {};
  return ::stat("/proc/self/ns/net", &s) == 0 ? s.st_ino : 0;
}

// Path of a compiled BPF program: beside the running executable, else in ../lib/surety/bpf/ from there.
// Empty: not found.
std::string bpf_object_path(std::string_view file);

// Directory of the console's files: ../share/surety/console from the running executable.
std::string console_files();

// The author of a change, "alice": the user of the login, also after su or sudo. From $SUDO_USER for root,
// else from the kernel's login (loginuid), else the process's user.
std::string author();
std::string name_of_user(unsigned user);  // "1000" without a name

}  // namespace surety
