// SPDX-License-Identifier: BSD-3-Clause
// A worker's interface to a port: bursts of mbufs in and out, one indirect call each.
#pragma once

#include <rte_mbuf.h>

#include <cstddef>
#include <span>

namespace surety::endpoints {

struct FramePort {
  virtual ~FramePort() = default;
  // Fills `room` from the front; the mbufs are the caller's.
  virtual std::size_t receive(std::span<rte_mbuf*> room) = 0;
  // Takes the first n of the burst over and returns n; the others stay the caller's.
  virtual std::size_t transmit(std::span<rte_mbuf*> burst) = 0;
};

}  // namespace surety::endpoints
