// SPDX-License-Identifier: BSD-3-Clause
// The two uses of divert.bpf.c: Divert has frames of the kernel pass the port's queues, and ForwardingGuard
// keeps the kernel from forwarding frames from the network.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "router/daemon/linux/bpf_programs.h"
#include "router/daemon/linux/divert_state.h"
#include "router/process/fd.h"

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

// Keeps the kernel from forwarding frames from the network, whatever its sysctl settings: frames are marked
// when they enter the kernel, and marked frames are dropped when they leave by a port or a TAP mirror
// (divert.bpf.c). Frames that the kernel itself sends pass, and so do those it forwards for other interfaces.
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

// Diverts the frames that the kernel sends out of the device of an af_xdp or af_packet port to the router
// (divert.bpf.c): answers to pings, ARP, neighbour discovery, OSPF, SSH, forwarded frames. They then pass the
// port's queues and shaper like all packets.
//
// The kernel delivers frames in sending order, segmented and with checksums.
class Divert {
 public:
  // Works in the calling thread's network namespace; needs CAP_NET_ADMIN and CAP_BPF. Diverts nothing before
  // keep() is called, nor after the end of the object or the process. Throws std::runtime_error.
  explicit Divert(int ifindex);

  // Diverts until `until`, or the time of the next call. CLOCK_MONOTONIC, the only clock of the kernel's
  // program.
  void keep(std::chrono::steady_clock::time_point until);

  // Frames from the network that the kernel would have forwarded by the device.
  std::uint64_t refused() const { return object_.refused(); }

  int fd() const { return fd_.get(); }  // readable: there are frames
  // The next frame, at the start of `room`; empty: there is none now. A frame larger than the room is
  // truncated to it.
  std::span<const std::uint8_t> read(std::span<std::uint8_t> room);

 private:
  Fd fd_;
  DivertObject object_;
  TcProgram::Attachment attached_;
};

}  // namespace surety
