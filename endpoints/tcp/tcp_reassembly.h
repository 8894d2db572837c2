// SPDX-License-Identifier: BSD-3-Clause
// Which parts of a TCP stream beyond RCV.NXT have arrived: an account of ranges, no bytes are kept.
//
// Fixed memory: kRanges disjoint ranges that do not touch each other, sorted. All sequence numbers given lie
// within 2^31 of each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace surety::endpoints {

class TcpReassembly {
 public:
  static constexpr std::size_t kRanges = 48;

  // What a segment brought: some of it new; nothing new; or nothing was noted, since it needs one range more
  // than there are.
  enum class Added : std::uint8_t { fresh, duplicate, full };

  // Notes [begin, end), begin before end, that lies beyond RCV.NXT.
  Added add(std::uint32_t begin, std::uint32_t end);

  // RCV.NXT, when everything before `next` has arrived in order: the end of what is contiguous then. Forgets
  // everything before that.
  std::uint32_t advance(std::uint32_t next);

  bool empty() const { return count_ == 0; }
  std::size_t ranges() const { return count_; }

 private:
  struct Range {
    std::uint32_t begin, end;
  };
  void replace(std::size_t first, std::size_t last, Range with);

  std::uint32_t count_ = 0;
  std::array<Range, kRanges> range_;
};

}  // namespace surety::endpoints
