// SPDX-License-Identifier: BSD-3-Clause
// BPF programs, their maps and types, that this process has open, as /proc/self/fd shows them.
//
// DPDK's net_af_xdp hands its own to nobody, and forgets them when it closes the device; and the kernel opens
// nothing by its number for who has no CAP_SYS_ADMIN.
#pragma once

#include <cstdint>
#include <vector>

#include "router/process/fd.h"

namespace surety {

struct BpfDescriptor {
  enum class Kind : std::uint8_t { program, map, types };
  int fd;
  Kind kind;
  std::uint32_t id;  // the kernel's number, which is nobody else's as long as it is open
  friend auto operator<=>(const BpfDescriptor&, const BpfDescriptor&) = default;
};

std::vector<BpfDescriptor> open_bpf();  // in the order of fd
// A descriptor of its own for one of those; none: there is no such.
Fd our_own(BpfDescriptor::Kind kind, std::uint32_t id);

// Notes which appear from its making on.
class BpfWatch {
 public:
  BpfWatch() : before_(open_bpf()) {}
  std::vector<BpfDescriptor> appeared() const;

 private:
  std::vector<BpfDescriptor> before_;
};
// Closes those of them that are still the same.
void close_bpf(const std::vector<BpfDescriptor>& descriptors);

}  // namespace surety
