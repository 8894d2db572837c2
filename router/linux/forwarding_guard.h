// SPDX-License-Identifier: BSD-3-Clause
// Keeps the kernel from forwarding what came from the network, whatever its sysctl settings are: frames are
// marked where they come to the kernel, and dropped where a marked one leaves by a port or a TAP twin
// (divert.bpf.c). What the kernel itself sends passes, and so does what it forwards for other interfaces.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "router/linux/divert_state.h"
#include "router/linux/tc_program.h"

namespace surety {

// One mapped divert.bpf.o.
class DivertObject {
 public:
  DivertObject();
  TcProgram& program() { return program_; }
  divert_state& state() const { return *state_; }
  // Frames of the network that the programs of this object have kept the kernel from forwarding.
  std::uint64_t refused() const;

 private:
  struct Unmap {
    void operator()(divert_state* s) const;
  };
  TcProgram program_;
  std::unique_ptr<divert_state, Unmap> state_;  // the programs'
};

class ForwardingGuard {
 public:
  using Watched = std::vector<TcProgram::Attachment>;

  // In the calling thread's network namespace; needs CAP_NET_ADMIN and CAP_BPF. All here throw
  // std::runtime_error.
  ForwardingGuard() = default;
  // Marks the frames that come in by a device. Its egress is Divert's.
  TcProgram::Attachment mark(int ifindex);
  // Marks the frames that come in by a TAP twin, and drops marked frames that leave by it.
  Watched watch(int ifindex);
  std::uint64_t refused() const { return object_.refused(); }

 private:
  DivertObject object_;
};

}  // namespace surety
