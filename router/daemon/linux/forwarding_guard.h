// SPDX-License-Identifier: BSD-3-Clause
// Keeps the kernel from forwarding frames from the network, whatever its sysctl settings: frames are marked
// when they enter the kernel, and marked frames are dropped when they leave by a port or a TAP mirror
// (divert.bpf.c). Frames that the kernel itself sends pass, and so do those it forwards for other interfaces.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "router/daemon/linux/divert_state.h"
#include "router/daemon/linux/tc_program.h"

namespace surety {

// The programs and maps of one divert.bpf.o.
class DivertObject {
 public:
  DivertObject();
  TcProgram& program() { return program_; }
  divert_state& state() const { return *state_; }
  // Frames from the network that the programs of this object have dropped.
  std::uint64_t refused() const;

 private:
  struct Unmap {
    void operator()(divert_state* s) const;
  };
  TcProgram program_;
  std::unique_ptr<divert_state, Unmap> state_;  // shared with the programs
};

class ForwardingGuard {
 public:
  using Watched = std::vector<TcProgram::Attachment>;

  // Works in the calling thread's network namespace; needs CAP_NET_ADMIN and CAP_BPF. All here throw
  // std::runtime_error.
  ForwardingGuard() = default;
  // Marks frames that arrive by a device. Divert handles its egress.
  TcProgram::Attachment mark(int ifindex);
  // Marks frames that arrive by a TAP mirror, and drops marked frames that leave by it.
  Watched watch(int ifindex);
  std::uint64_t refused() const { return object_.refused(); }

 private:
  DivertObject object_;
};

}  // namespace surety
