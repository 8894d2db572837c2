// SPDX-License-Identifier: BSD-3-Clause
// Identifies the network namespace of this process.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace surety {

// The inode of /proc/self/ns/net (namespaces(7)); 0: not to be seen.
inline std::uint64_t network_namespace() {
  struct stat s {};
  return ::stat("/proc/self/ns/net", &s) == 0 ? s.st_ino : 0;
}

}  // namespace surety
