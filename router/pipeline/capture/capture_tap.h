// SPDX-License-Identifier: BSD-3-Clause
// A worker's part of a capture: selects packets, and copies their first bytes.
//
// A worker without a tap pays one check per burst. With a tap it checks each packet; the rate of copies is
// bounded, and packets for which the ring is full are counted. One thread reads the ring and the counters
// meanwhile.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "conditioners/drop_reason.h"
#include "conditioners/token_bucket.h"
#include "config/config.h"
#include "router/pipeline/capture/packet_ring.h"
#include "router/pipeline/interfaces/interfaces.h"

namespace surety {

// The fields of a frame, valid or not, for captures of frames that were dropped as invalid.
//
// Every length is checked before it is used; missing fields are left out, and the others are parsed all the
// same.
struct FrameFields {
  // Outer tag first; protocol 0: no tag.
  std::uint16_t tag_protocol = 0, vlan = 0, inner_vlan = 0;
  struct Ip {
    IpAddress source, destination;
    std::uint8_t protocol = 0, dscp = 0;
    bool ports = false;  // a first fragment has them, too
    std::uint16_t source_port = 0, destination_port = 0;
  };
  std::optional<Ip> ip{};
};
FrameFields fields_of(std::span<const std::uint8_t> frame);

// A rule's match without its port or interface: fields that are missing match nothing.
bool matches(const config::Match& match, const FrameFields& fields);

// Immutable, and the same for all workers.
struct CaptureWish {
  bool drops = false;                      // false: packets received and sent
  std::bitset<kDropReasons> reasons{};     // reasons of drops
  std::uint32_t ports = 0;                 // one bit each: all frames of these ports
  std::vector<std::uint8_t> interfaces{};  // indexed by interface: frames with their tags
  std::vector<InterfaceIndex> hosts{};     // interfaces known by addresses: frames of these, on their link
  std::shared_ptr<const Interfaces> known{};
  config::Match match{};
  bool matches_all = true;
  std::uint32_t snap = 256;     // bytes of each frame
  std::uint32_t rate = 10'000;  // packets per second and worker
};

class CaptureTap {
 public:
  CaptureTap(std::shared_ptr<const CaptureWish> wish, Time now);

  // --- For the worker.

  // Sets the time; once per turn.
  void at(Time now) { now_ = now; }
  // Frames that a device has received or is about to send, with their tags.
  void frames(std::span<rte_mbuf* const> burst, std::uint8_t port, pcapng::Direction direction);
  void dropped(const rte_mbuf* m, std::uint8_t port, DropReason reason);

  // --- For the reader.

  PacketRing& ring() { return ring_; }
  std::uint64_t beyond_rate() const { return beyond_rate_.load(std::memory_order_relaxed); }
  std::uint64_t no_room() const { return no_room_.load(std::memory_order_relaxed); }

 private:
  bool is_wanted(std::span<const std::uint8_t> frame, std::uint8_t port) const;
  bool is_of_interface(const FrameFields& fields, std::uint8_t port) const;
  void copy(const rte_mbuf* m, std::uint8_t port, pcapng::Direction direction, DropReason reason);
  static void add(std::atomic<std::uint64_t>& counter) {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  const std::shared_ptr<const CaptureWish> wish_;
  const TokenBucketParams rate_;
  TokenBucket allowed_;
  PacketRing ring_;
  Time now_;
  std::atomic<std::uint64_t> beyond_rate_{0}, no_room_{0};
};

}  // namespace surety
