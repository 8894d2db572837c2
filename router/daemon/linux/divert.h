// SPDX-License-Identifier: BSD-3-Clause
// Diverts the frames that the kernel sends out of the device of an af_xdp or af_packet port to the router
// (divert.bpf.c): answers to pings, ARP, neighbour discovery, OSPF, SSH, forwarded frames. They then pass the
// port's queues and shaper like all packets.
//
// The kernel delivers frames in sending order, segmented and with checksums.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include "router/daemon/linux/forwarding_guard.h"
#include "router/process/fd.h"

namespace surety {

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
