// SPDX-License-Identifier: BSD-3-Clause
// A sender's state from selective acknowledgements (RFC 2018): which bytes have arrived beyond SND.UNA, which
// of the others are lost, and how much is in flight (RFC 6675: IsLost, Pipe, NextSeg), in constant time for
// an ordinary ACK. D-SACK (RFC 2883) is recognised and counted.
//
// Blocks count only where they are possible: within what was sent, beyond the ACK that they come with. An ACK
// that ends inside a block has taken it back (the peer reneged, RFC 2018 8): then all blocks are dropped.
// After a timeout all data that was out and has not arrived is lost; when it times out again, SACKed data,
// too. Positions are those of send_sequence.h.
#pragma once

#include <cstdint>
#include <span>

#include "endpoints/tcp/range_set.h"

namespace surety::endpoints {

class Scoreboard {
 public:
  // The peer has permitted it, and everything up to `una` is acknowledged.
  void begin(std::uint32_t smss, std::uint64_t una);
  bool on() const { return smss_ != 0; }

  // News from an ACK.
  struct Told {
    std::uint64_t delivered = 0;  // bytes that have arrived, and were not known to have
    std::uint64_t sacked = 0;     // in all beyond SND.UNA
    std::uint64_t pipe = 0;
    bool lost = false;  // something beyond SND.UNA is
  };
  // An ACK up to `ack` and its blocks, as the low 32 bits of positions, when SND.MAX is `max`.
  Told on_ack(std::uint64_t ack, std::span<const tcp::Block> blocks, std::uint64_t max);

  // The first of what is lost and has not been sent again since.
  struct Hole {
    std::uint64_t from = 0, to = 0;
    bool empty() const { return from == to; }
  };
  Hole next_lost() const;
  bool any_lost() const { return una_ < lost_to_ && resent_to_ < lost_to_; }  // false: next_lost() is empty

  // [from, end) has left, when SND.MAX was `max`.
  void on_sent(std::uint64_t from, std::uint64_t end, std::uint64_t max);
  // `again`: without any ACK of new data since the last one.
  void on_timeout(std::uint64_t max, bool again);

  std::uint64_t pipe() const { return pipe_; }
  // Retransmitted bytes in pipe(), and whether the recovery from a timeout continues.
  std::uint64_t resent() const { return resent_; }
  bool after_timeout() const { return una_ < timed_out_; }
  std::uint64_t resent_to() const { return resent_to_; }
  std::uint64_t duplicates() const { return duplicates_; }  // segments that the peer had already

 private:
  std::uint32_t low(std::uint64_t position) const { return static_cast<std::uint32_t>(position); }
  std::uint64_t wide(std::uint32_t position) const {
    return una_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                      static_cast<std::int32_t>(position - static_cast<std::uint32_t>(una_))));
  }
  std::uint64_t advance(std::uint64_t ack);
  bool possible(const tcp::Block& b, std::uint64_t max) const;
  bool take_duplicate(std::span<const tcp::Block> blocks, std::uint64_t max);
  std::uint64_t take(const tcp::Block& b, std::uint64_t max);
  void arrived(std::uint64_t from, std::uint64_t to);
  void forget();
  void look(std::uint64_t max);

  std::uint64_t una_ = 0;
  std::uint64_t resent_to_ = 0;  // HighRxt: of what is lost, what lies before this was sent again
  std::uint64_t lost_to_ = 0;    // bytes before this that have not arrived are lost
  std::uint64_t timed_out_ = 0;  // SND.MAX at the last timeout
  std::uint64_t sacked_ = 0, resent_ = 0, pipe_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint32_t smss_ = 0;
  RangeSet arrived_;
};

}  // namespace surety::endpoints
