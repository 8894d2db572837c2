// SPDX-License-Identifier: BSD-3-Clause
// Arrival of a flow's packets, by 32-bit sequence numbers that begin at 0 and wrap.
//
// A packet is lost while it has not arrived although a later one has; a late packet is lost no more.
// Guarantees: a packet at most kSize - 1 behind the highest is distinguished from its duplicate; one further
// behind counts as a duplicate. A restarted sender is recognised by two consecutive numbers near the
// beginning, from far behind (as in RTP, RFC 3550 A.1).
#pragma once

#include <array>
#include <cstdint>

namespace surety::endpoints {

class SequenceWindow {
 public:
  static constexpr std::uint32_t kSize = 256;

  enum class Arrival : std::uint8_t { in_order, after_gap, reordered, duplicate, restart };

  // The first packet: a number below kSize is taken for that of a flow that began at 0 (what came before it
  // is lost so far), a higher one for the beginning itself. `restart`: it was restarted by this packet.
  Arrival on_packet(std::uint32_t sequence) {
    if (sequence == highest_ + 1 && expected_ != 0) [[likely]] {
      highest_ = sequence;
      ++expected_;
      ++arrived_;
      mark(sequence);
      return Arrival::in_order;
    }
    return on_other(sequence);
  }
  // The sender has restarted: the next packet is the first.
  void restart();

  bool started() const { return expected_ != 0; }
  // Number 0 is the next after a wrap, or nearly.
  bool about_to_wrap() const { return 0u - highest_ < 0x10000; }
  std::uint64_t lost() const { return expected_ - arrived_; }      // since it began
  std::uint64_t lost_in_all() const { return earlier_ + lost(); }  // restarts included

 private:
  Arrival on_other(std::uint32_t sequence);
  void begin(std::uint32_t sequence);
  void advance(std::uint32_t sequence, std::uint32_t by);
  std::uint64_t& word(std::uint32_t sequence) { return bits_[sequence / 64 % bits_.size()]; }
  void mark(std::uint32_t sequence) { word(sequence) |= std::uint64_t{1} << sequence % 64; }
  void clear(std::uint32_t sequence) { word(sequence) &= ~(std::uint64_t{1} << sequence % 64); }

  std::uint32_t highest_ = 0;
  std::uint32_t suspect_ = 0;                     // one more than the last number from far behind
  std::uint64_t expected_ = 0, arrived_ = 0;      // expected: from the flow's first to the highest
  std::uint64_t earlier_ = 0;                     // lost before the last restart
  std::array<std::uint64_t, kSize / 64> bits_{};  // arrival of the last kSize numbers
};

}  // namespace surety::endpoints
