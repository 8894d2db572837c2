// The feed of `surety bench`: 64-byte packets of many flows, copied into buffers that net_null hands out.
//
// PERF.md: the cheapest feed there is (7-8 cycles), whatever the number of flows. A feed made at run time
// knows nothing of the router; it replaces a device, so it stands in dpdk/.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace surety {

struct BenchTraffic {
  std::uint32_t flows = 1000;
  bool v6 = false;
  std::array<std::uint8_t, 6> destination_mac{};
  std::uint32_t routes = 65536;
};

// The i-th route's prefix: 16.0.0.0 + i /24, or 2001:db8:i::/48 spread over 32 bits.
std::uint32_t bench_route4(std::uint32_t i);
std::array<std::uint8_t, 16> bench_route6(std::uint32_t i);

class BenchFeed {
 public:
  explicit BenchFeed(const BenchTraffic& traffic);

  // Fills received mbufs with the next packets of the table, round and round.
  void fill(rte_mbuf** mbufs, std::uint16_t n);
  std::uint16_t frame_length() const { return frame_length_; }

  // rte_rx_callback_fn; `self` is a BenchFeed.
  static std::uint16_t callback(std::uint16_t port, std::uint16_t queue, rte_mbuf** mbufs, std::uint16_t n,
                                std::uint16_t max, void* self);

 private:
  struct alignas(64) Frame {
    std::array<std::uint8_t, 64> bytes;
  };
  struct Unmap {
    std::size_t bytes;
    void operator()(Frame* p) const;
  };
  static std::unique_ptr<Frame, Unmap> map(std::size_t frames);

  std::uint32_t count_, next_ = 0;
  std::uint16_t frame_length_;
  std::unique_ptr<Frame, Unmap> frames_;
};

}  // namespace surety
