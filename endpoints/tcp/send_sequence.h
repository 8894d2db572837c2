// SPDX-License-Identifier: BSD-3-Clause
// The send sequence space of a connection (RFC 9293 3.3.1): what has been sent and acknowledged, and which
// piece of the stream may be sent next.
//
// Positions are 64-bit and count from the initial sequence number: SYN is 0, byte i of
// the stream is i + 1, FIN comes last. SND.UNA <= SND.NXT <= SND.MAX; SND.NXT lies below
// SND.MAX only while go-back-N sends again. A piece is at most SMSS long, within the most
// that may be in flight, and, unless it probes, within the peer's window. Silly windows
// are avoided (RFC 9293 3.8.6.2.1). With SACK the scoreboard says what is to be sent again
// and how much is in flight (RFC 6675 5, NextSeg rules 1 and 2). No time, no bytes: the
// owner makes the segment.
#pragma once

#include <cstdint>

#include "endpoints/tcp/newreno.h"
#include "endpoints/tcp/scoreboard.h"
#include "endpoints/tcp/tcp_peer.h"

namespace surety::endpoints {

class SendSequence {
 public:
  enum class Kind : std::uint8_t {
    nothing,
    syn,
    retransmit,  // the segment at SND.UNA, whatever cwnd; with SACK what is lost
    probe,       // into a window that is closed or silly
    forced,      // new, whatever cwnd (GTCP)
    next         // at SND.NXT
  };
  struct Piece {
    Kind kind = Kind::nothing;
    bool fin = false;
    std::uint32_t length = 0;  // bytes of the stream
    std::uint64_t from = 0;
    bool empty() const { return kind == Kind::nothing; }
    std::uint64_t end() const { return from + length + (fin || kind == Kind::syn ? 1 : 0); }
  };

  // `payload`: bytes of the stream, then FIN; 0: until finish().
  explicit SendSequence(std::uint64_t payload) : data_end_(payload == 0 ? kFarAway : 1 + payload) {}

  std::uint64_t una() const { return una_; }
  std::uint64_t max() const { return max_; }
  std::uint64_t data_end() const { return data_end_; }  // the position of the FIN, or far away
  std::uint32_t smss() const { return smss_; }          // zero: our SYN is not acknowledged
  bool in_flight() const { return selective() ? board_.pipe() != 0 : next_ != una_; }
  bool delivered() const { return una_ >= data_end_; }        // all but the FIN
  bool fin_acknowledged() const { return una_ > data_end_; }  // all
  bool probe_due() const { return probe_due_; }
  Outstanding outstanding(const TcpPeer& peer) const;
  std::uint64_t payload_acknowledged() const {
    return una_ == 0 ? 0 : (una_ < data_end_ ? una_ : data_end_) - 1;
  }
  std::uint64_t retransmitted() const { return retransmitted_; }  // segments
  const Scoreboard& board() const { return board_; }
  bool selective() const { return board_.on(); }

  // The piece that may leave now, with `cwnd` of congestion control. Call sent() once it has left.
  Piece due(std::uint64_t cwnd, const TcpPeer& peer) const;
  void sent(const Piece& p);
  // Something is left that may not leave now, though nothing is in flight.
  bool blocked(std::uint64_t cwnd, const TcpPeer& peer) const;

  void repeat_syn() { next_ = 0; }
  void on_syn_acknowledged(std::uint32_t smss, std::uint64_t limit);  // limit: most bytes in flight
  void use_sack() { board_.begin(smss_, una_); }
  // With SACK, any ACK, before SND.UNA moves.
  Scoreboard::Told on_blocks(std::uint64_t ack, std::span<const tcp::Block> blocks) {
    return board_.on_ack(ack, blocks, max_);
  }
  // SND.UNA moves to `ack`; `hole`: the segment there is to be sent again.
  void on_ack(std::uint64_t ack, bool hole);
  void retransmit() { lost_due_ = true; }
  void force() { ++forced_due_; }
  void forget_forced() { forced_due_ = 0; }
  // All from SND.UNA again; with SACK, what has not arrived. `again`: nothing has been acknowledged since the
  // last time.
  void go_back(bool again = false);
  void probe();
  // Nothing new: the FIN follows what was sent.
  void finish() { data_end_ = data_end_ < max_ ? data_end_ : max_; }

 private:
  static constexpr std::uint64_t kFarAway = std::uint64_t{1} << 62;

  std::uint64_t permitted(std::uint64_t cwnd) const { return una_ + (cwnd < limit_ ? cwnd : limit_); }
  Piece segment(Kind kind, std::uint64_t from, std::uint64_t permitted, const TcpPeer& peer) const;
  Piece selective_segment(std::uint64_t cwnd, const TcpPeer& peer) const;
  Piece lost_segment(const TcpPeer& peer) const;
  Piece probe_segment(const TcpPeer& peer) const;
  void advance(std::uint64_t to);

  std::uint64_t una_ = 0, next_ = 0, max_ = 0;  // SND.UNA, SND.NXT, SND.MAX
  std::uint64_t una_then_ = 0;                  // SND.UNA when the last segment left
  std::uint64_t resend_end_ = 0;                // end of go-back-N
  std::uint64_t data_end_;
  std::uint64_t limit_ = 0;
  std::uint32_t smss_ = 0;
  std::uint32_t forced_due_ = 0;  // new segments that GTCP forces
  bool lost_due_ = false;         // the segment at SND.UNA is to be sent again at once
  bool probe_due_ = false;
  std::uint64_t retransmitted_ = 0;
  Scoreboard board_;
};

}  // namespace surety::endpoints
