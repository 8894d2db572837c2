// SPDX-License-Identifier: BSD-3-Clause
// The BPF programs, maps and types that this process has open, from /proc/self/fd.
//
// DPDK's net_af_xdp does not return its descriptors, and leaks them when it closes the device; the kernel
// opens none by number without CAP_SYS_ADMIN.
#pragma once

#include <cstdint>
#include <vector>

#include "router/process/fd.h"

namespace surety {

struct BpfDescriptor {
  enum class Kind : std::uint8_t { program, map, types };
  int fd;
  Kind kind;
  std::uint32_t id;  // the kernel's number, unique while it is open
  friend auto operator<=>(const BpfDescriptor&, const BpfDescriptor&) = default;
};

std::vector<BpfDescriptor> open_bpf();  // in the order of fd
// A duplicate of the descriptor with this number; empty: there is none.
Fd our_own(BpfDescriptor::Kind kind, std::uint32_t id);

// Finds descriptors opened since its construction.
class BpfWatch {
 public:
  BpfWatch() : before_(open_bpf()) {}
  std::vector<BpfDescriptor> appeared() const;

 private:
  std::vector<BpfDescriptor> before_;
};
// Closes the descriptors that still have the same number.
void close_bpf(const std::vector<BpfDescriptor>& descriptors);

}  // namespace surety
