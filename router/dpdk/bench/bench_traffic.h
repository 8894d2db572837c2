// SPDX-License-Identifier: BSD-3-Clause
// The feed of `surety bench`: 64-byte packets of many flows, copied into buffers that net_null hands out.
//
// The cheapest feed there is (7-8 cycles), whatever the number of flows. A feed made at run time
// knows nothing of the router; it replaces a device, so it stands in dpdk/.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "config/config.h"
#include "router/dpdk/bench/bench_interfaces.h"

namespace surety {

struct BenchTraffic {
  std::uint32_t flows = 1000;
  bool v6 = false;
  MacAddress destination_mac{};
  std::span<const Prefix> routes;       // destinations lie in them, drawn at random; of the family
  std::span<const config::Dscp> dscps;  // drawn at random, by flow; none: BE
  std::uint32_t first = 0;              // number of the first flow
  BenchInterfaces interfaces{};         // that flows come in by. IPv4 only
  // Else than at random: flows have so many of the routes in an order that hops, and the DSCP changes when
  // each has been there.
  std::uint32_t spread = 0;
};

class BenchFeed {
 public:
  // Where a paced feed writes when a packet came, from the start of the frame: behind its UDP header.
  static constexpr std::size_t kStamp = 44;

  explicit BenchFeed(const BenchTraffic& traffic);

  // From now on packets come evenly, so many per TSC cycle, stamped with the cycle of their coming; 0: as
  // fast as they are taken, unstamped. IPv4 only: there is no room in IPv6's 64 bytes.
  void pace(double packets_per_cycle);
  // From now on no two packets are of one flow.
  void flood(bool on) { flood_ = on; }

  // The packet of the i-th flow.
  std::span<const std::uint8_t> frame(std::uint32_t i) const {
    return std::span(frames_.get()[i].bytes).first(frame_length_);
  }
  // Fills received mbufs with the next packets of the table, round and round.
  // Returns how many there are; the others are freed.
  std::uint16_t receive(rte_mbuf** mbufs, std::uint16_t n);

 private:
  struct alignas(64) Frame {
    std::array<std::uint8_t, 64> bytes;
  };
  struct Unmap {
    std::size_t bytes;
    void operator()(Frame* p) const;
  };
  static std::unique_ptr<Frame, Unmap> map(std::size_t frames);
  void fill(rte_mbuf** mbufs, std::uint16_t n);
  std::uint16_t due(std::uint16_t most) const;
  void stamp(rte_mbuf** mbufs, std::uint16_t n);
  void make_new(rte_mbuf** mbufs, std::uint16_t n);

  std::uint32_t count_, next_ = 0;
  std::uint16_t frame_length_;
  std::unique_ptr<Frame, Unmap> frames_;
  double per_cycle_ = 0;
  std::uint64_t start_ = 0, paced_ = 0;  // cycle of the first packet, and how many came since
  bool flood_ = false;
  std::uint32_t ports_ = 0;  // of the last flooded packet
};

}  // namespace surety
