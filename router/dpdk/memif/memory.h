// SPDX-License-Identifier: BSD-3-Clause
// The memory that a memif client shares with its server, in regions, and the only way to an address in it.
//
// Whoever has the descriptor of a file can make it shorter, and who then touches what is gone is killed
// (SIGBUS). So a region is a memfd sealed against that (fcntl(2), F_SEAL_SHRINK), of ordinary pages: nothing
// that its maker does afterwards takes a page away without the kernel giving a new one. Clients that share
// their huge pages ("zero-copy" of DPDK and VPP) cannot seal them, and are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "router/process/fd.h"

namespace surety::memif {

// What a peer asks for and does not get; the text is told to it.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Memory {
 public:
  static constexpr std::size_t kMostRegions = 16;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // of all regions together

  Memory() = default;
  Memory(Memory&& other) noexcept : regions_(std::move(other.regions_)) { other.regions_.clear(); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(regions_, other.regions_);
    return *this;
  }
  ~Memory();

  // Another region: `size` bytes of the peer's file, from its beginning. Refusal, unless all of them are
  // there and stay.
  void add(const Fd& file, std::uint64_t size);
  std::size_t regions() const { return regions_.size(); }

  // Where these bytes are; null: not all of them are in a region of this index. What is there may change at
  // any time: read what matters once.
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

// A file of that many bytes, zeros, which nobody can resize. std::system_error.
Fd make_region(std::uint64_t size);

}  // namespace surety::memif
