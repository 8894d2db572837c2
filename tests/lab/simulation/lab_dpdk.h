// SPDX-License-Identifier: BSD-3-Clause
// DPDK for the lab: memory and packet buffers, no port, no hugepages, no privileges.
//
// What is not used is only reserved: a process takes about 2 kB for each packet that
// is on the way at one time.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

struct rte_mbuf;
struct rte_mempool;

namespace surety::lab {

struct DropObserver;

struct DpdkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr unsigned kMaxThreads = 64;  // that may have a PacketPool at the same time
inline constexpr std::uint32_t kPoolPackets = 60'000;
inline constexpr std::uint16_t kLongestPacket = 1500;  // bytes of an IP packet

// One per core that this process may use, at most kMaxThreads.
unsigned default_threads();

// Before anything else of the lab; later calls do nothing. Quiet unless it fails, leaves no file behind, and
// the calling thread may use the same cores as before. Reserves memory for so many packet pools (0:
// default_threads()) with so many packets of that length, and for routing tables. Throws DpdkError.
void start_dpdk(unsigned pools = 0, std::uint16_t longest_packet = kLongestPacket,
                std::uint32_t packets = kPoolPackets);

// The packet buffers of one thread: the one that makes it, which also ends it. Makes the thread known to DPDK
// while it lives. Made in portions when they are needed, up to `packets`; what was freed last is used next,
// so that the buffers in use stay in the cache. Throws DpdkError.
class PacketPool {
 public:
  explicit PacketPool(std::uint32_t packets = kPoolPackets, std::uint16_t longest_packet = kLongestPacket);
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // Fills `out` with buffers as rte_pktmbuf_alloc() gives them. false: there are not as many; none is taken.
  bool take(std::span<rte_mbuf*> out);
  // Who is told of packets freed on their way (packet_stack.h); null: nobody.
  void observe(DropObserver* observer);
  std::uint16_t longest_packet() const { return longest_; }
  std::uint32_t in_use() const;

 private:
  bool grow();

  std::vector<rte_mempool*> portions_;
  std::uint32_t limit_, made_ = 0;
  std::uint16_t longest_;
  DropObserver* observer_ = nullptr;
  bool registered_ = false;
};

}  // namespace surety::lab
