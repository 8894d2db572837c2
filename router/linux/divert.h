// SPDX-License-Identifier: BSD-3-Clause
// What the kernel itself sends out of the device of an af_xdp or af_packet port comes to us instead
// (divert.bpf.c): answers to pings, ARP, neighbour discovery, OSPF, SSH, what it forwards. It goes on through
// the port's queues and shaper like everything else.
//
// The kernel hands it over in the order it sends, each segment by itself and with its checksum.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "router/linux/forwarding_guard.h"
#include "router/process/fd.h"

namespace surety {

class Divert {
 public:
  // In the calling thread's network namespace; needs CAP_NET_ADMIN and CAP_BPF. Nothing is diverted before
  // keep() is called, nor once the object, or the process, has gone. Throws std::runtime_error.
  explicit Divert(int ifindex);

  // From now until then, unless told again. CLOCK_MONOTONIC, as the kernel's program has no other.
  void keep(std::chrono::steady_clock::time_point until);

  // Frames of the network that the kernel would have forwarded by it.
  std::uint64_t refused() const { return object_.refused(); }

  int fd() const { return fd_.get(); }  // readable: there are frames
  // The next frame, at the start of `room`; empty: there is none now. One that is larger than the room is
  // cut: it fills the room.
  std::span<const std::uint8_t> read(std::span<std::uint8_t> room);

 private:
  Fd fd_;
  DivertObject object_;
  TcProgram::Attachment attached_;
};

}  // namespace surety
