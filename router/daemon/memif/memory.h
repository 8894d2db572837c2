// SPDX-License-Identifier: BSD-3-Clause
// The memory that a memif client shares with its server, in regions; at() is the only access to it.
//
// A process with the descriptor of a file can truncate it, and access to the missing part kills the reader
// (SIGBUS). A region is therefore a memfd sealed against truncation (fcntl(2), F_SEAL_SHRINK), of ordinary
// pages: if its owner drops a page, the kernel provides a new one. Clients that share their huge pages
// ("zero-copy" of DPDK and VPP) cannot seal them, and are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "router/process/fd.h"

namespace surety::memif {

// A peer's request is refused; the text is sent to the peer.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Memory {
 public:
  static constexpr std::size_t kMostRegions = 16;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // all regions together

  Memory() = default;
  Memory(Memory&& other) noexcept : regions_(std::move(other.regions_)) { other.regions_.clear(); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(regions_, other.regions_);
    return *this;
  }
  ~Memory();

  // Adds a region: the first `size` bytes of the peer's file. Throws Refusal unless all of them exist and the
  // file is sealed.
  void add(const Fd& file, std::uint64_t size);
  std::size_t regions() const { return regions_.size(); }

  // The address of these bytes; nullptr: they are not all in a region of this index. The peer may change them
  // at any time: read each value once.
  std::uint8_t* at(std::uint16_t region, std::uint32_t offset, std::uint32_t length) const {
    if (region >= regions_.size()) return nullptr;
    const Region& r = regions_[region];
    return std::uint64_t{offset} + length <= r.size ? r.base + offset : nullptr;
  }

 private:
  struct Region {
    std::uint8_t* base;
    std::uint64_t size;
  };
  std::vector<Region> regions_;
};

// A sealed file of that many zero bytes. Throws std::system_error.
Fd make_region(std::uint64_t size);

}  // namespace surety::memif
