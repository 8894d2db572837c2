// SPDX-License-Identifier: BSD-3-Clause
// The feed of `surety bench`: 64-byte packets of many flows, copied into buffers that net_null hands out.
//
// Costs 7-8 cycles per packet for any number of flows. The feed is independent of the router; it replaces a
// device, and is therefore in dpdk/.
#pragma once

#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conditioners/huge_memory.h"
#include "conditioners/rng.h"
#include "config/config.h"
#include "router/daemon/bench/bench_paths.h"

namespace surety {

struct BenchTraffic {
  std::uint32_t flows = 1000;
  bool v6 = false;
  MacAddress destination_mac{};
  std::span<const Prefix> routes;       // random destinations lie in them; of the same family
  std::span<const config::Dscp> dscps;  // drawn at random, by flow; none: BE
  std::uint32_t first = 0;              // number of the first flow
  BenchInterfaces interfaces{};         // ingress interfaces of flows. IPv4 only
  // The number of routes that flows use, in an order with jumps, instead of random destinations; the DSCP
  // changes after each round. 0: random.
  std::uint32_t spread = 0;
  // Bad input (bench_paths.h).
  bool new_flows = false;                    // no two packets are of one flow
  bool options = false;                      // in the IPv4 headers
  std::span<const std::uint16_t> lengths{};  // frame lengths, in turn; empty, or 0: the shortest
  std::span<const Prefix> other_family{};    // destinations of every other flow, which has that family
  std::uint32_t in_a_row = 1;                // packets of every other flow
};

class BenchFeed {
 public:
  // Offset of the arrival time that a paced feed writes into the frame: behind the UDP header.
  static constexpr std::size_t kStamp = 44;

  explicit BenchFeed(const BenchTraffic& traffic);

  // Spaces packets evenly, this many per TSC cycle, stamped with the cycle of their arrival; 0: no pacing, no
  // stamps. IPv4 only: IPv6's 64 bytes have no room.
  void pace(double packets_per_cycle);
  // Gives each packet a new flow.
  void flood(bool on) { flood_ = on; }

  // The i-th packet: of the i-th flow, unless some flows have several in a row. Only the headers of long
  // packets.
  std::span<const std::uint8_t> frame(std::uint32_t i) const {
    const Frame& f = frames_[i];
    return std::span(f.bytes).first(std::min<std::size_t>(f.length, kHeaders));
  }
  // Fills received mbufs with the next packets of the table, round and round. Returns their number; the other
  // mbufs are freed.
  std::uint16_t receive(rte_mbuf** mbufs, std::uint16_t n);
  // Packets that receive() has returned so far.
  std::uint64_t received() const { return received_; }

 private:
  static constexpr std::size_t kHeaders = 62;
  struct alignas(64) Frame {
    std::array<std::uint8_t, kHeaders> bytes;
    std::uint16_t length;  // bytes without FCS
  };
  void make(Frame& frame, const BenchTraffic& t, std::uint32_t flow, Rng& rng);
  void fill(rte_mbuf** mbufs, std::uint16_t n);
  std::uint16_t due(std::uint16_t most) const;
  void stamp(rte_mbuf** mbufs, std::uint16_t n);
  void make_new(rte_mbuf** mbufs, std::uint16_t n);

  std::uint32_t count_, next_ = 0;  // number of frames, and the next one
  std::uint16_t ports_at_;          // offset of the UDP header
  HugeArray<Frame> frames_;
  double per_cycle_ = 0;
  std::uint64_t start_ = 0, paced_ = 0;  // cycle of the first packet, and how many came since
  bool flood_;
  std::uint32_t ports_ = 0;  // ports of the last flooded packet
  std::uint64_t received_ = 0;
};

}  // namespace surety
