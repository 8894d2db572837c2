// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/send_sequence.h"

#include <algorithm>

namespace surety::endpoints {

using Piece = SendSequence::Piece;

Piece SendSequence::due(std::uint64_t cwnd, const TcpPeer& peer) const {
  if (una_ == 0) return next_ == 0 ? Piece{.kind = Kind::syn} : Piece{};
  if (fin_acknowledged()) return {};
  if (lost_due_)
    if (const Piece p = lost_segment(peer); !p.empty()) return p;
  if (probe_due_) return probe_segment(peer);
  if (forced_due_ != 0)
    if (const Piece p = segment(Kind::forced, max_, una_ + limit_, peer); !p.empty()) return p;
  return selective() ? selective_segment(cwnd, peer) : segment(Kind::next, next_, permitted(cwnd), peer);
}

// Lost data comes first, then new data; cwnd bounds the data in flight. After a timeout retransmissions alone
// count against it, as in go-back-N: GTCP sends new data beside them.
Piece SendSequence::selective_segment(std::uint64_t cwnd, const TcpPeer& peer) const {
  const std::uint64_t pipe = board_.pipe();
  if (board_.any_lost()) [[unlikely]] {
    if (const Piece p = lost_segment(peer); !p.empty()) {
      const std::uint64_t used = board_.after_timeout() ? board_.resent() : pipe;
      return used + p.length <= cwnd ? p : Piece{};
    }
  }
  const std::uint64_t room = cwnd > pipe ? cwnd - pipe : 0;
  return segment(Kind::next, max_, std::min(max_ + room, una_ + limit_), peer);
}

// SND.NXT is where go-back-N is, or would be.
Outstanding SendSequence::outstanding(const TcpPeer& peer) const {
  const bool again = selective() && board_.after_timeout();
  const std::uint64_t offered = peer.right_edge() > una_ ? peer.right_edge() - una_ : 0;
  return {.una = una_,
          .next = again ? board_.resent_to() : next_,
          .max = max_,
          .forced = std::uint64_t{forced_due_} * smss_,
          .answered = una_ - una_then_,
          .most = std::min(limit_, offered)};
}

// Piece to send at `from`, when congestion control permits up to `permitted`: a full segment, or the last
// one, or, with nothing in flight, at least half of the largest window that the peer ever had (RFC 9293
// 3.8.6.2.1). A FIN is one byte of the peer's window, and none of cwnd.
Piece SendSequence::segment(Kind kind, std::uint64_t from, std::uint64_t permitted,
                            const TcpPeer& peer) const {
  if (from > data_end_) return {};
  const std::uint64_t left = data_end_ - from, length = std::min<std::uint64_t>(left, smss_);
  if (length != 0 && from + length > permitted) return {};
  const std::uint64_t edge = peer.right_edge();
  if (from + length <= edge) {
    const bool fin = length == left && from + length < edge;
    if (length == 0 && !fin) return {};
    return {kind, fin, static_cast<std::uint32_t>(length), from};
  }
  const std::uint64_t usable = edge > from ? edge - from : 0;
  if (from != una_ || usable == 0 || 2 * usable < peer.largest_window()) return {};
  return {kind, false, static_cast<std::uint32_t>(usable), from};
}

// The segment at SND.UNA, or with SACK the first lost one; never beyond the peer's window. With SACK the last
// one may have been a probe: then new data is appended.
Piece SendSequence::lost_segment(const TcpPeer& peer) const {
  const Scoreboard::Hole hole = selective() ? board_.next_lost() : Scoreboard::Hole{una_, max_};
  if (hole.empty()) return {};
  const bool goes_on = selective() && hole.to == max_ && data_end_ > max_;
  const std::uint64_t edge = std::min(peer.right_edge(), goes_on ? hole.from + smss_ : hole.to);
  if (edge <= hole.from) return {};
  const std::uint64_t length = std::min({edge - hole.from, data_end_ - hole.from, std::uint64_t{smss_}});
  const bool fin = hole.from + length == data_end_ && edge > data_end_;
  return {Kind::retransmit, fin, static_cast<std::uint32_t>(length), hole.from};
}

// Zero-window probe: one byte, or what fits a window smaller than a segment.
Piece SendSequence::probe_segment(const TcpPeer& peer) const {
  const std::uint64_t usable = peer.right_edge() > una_ ? peer.right_edge() - una_ : 1;
  const std::uint64_t length = std::min({usable, data_end_ - una_, std::uint64_t{smss_}});
  return {Kind::probe, length == 0, static_cast<std::uint32_t>(length), una_};
}

bool SendSequence::blocked(std::uint64_t cwnd, const TcpPeer& peer) const {
  if (selective())
    return (max_ <= data_end_ || !board_.next_lost().empty()) && selective_segment(cwnd, peer).empty();
  return next_ <= data_end_ && segment(Kind::next, next_, permitted(cwnd), peer).empty();
}

void SendSequence::sent(const Piece& p) {
  const bool at_next = p.from == next_;
  const std::uint64_t end = p.end();
  if (end <= max_ && p.kind != Kind::syn) ++retransmitted_;
  if (selective()) board_.on_sent(p.from, end, max_);
  max_ = std::max(max_, end);
  una_then_ = una_;
  switch (p.kind) {
    case Kind::retransmit:
      lost_due_ = false;
      if (selective()) advance(end);
      break;
    case Kind::probe:
      probe_due_ = false;
      // SND.NXT stays: unless the peer takes it, the probe has not been.
      if (selective())
        board_.on_timeout(max_, false);
      else
        resend_end_ = max_;
      break;
    case Kind::forced:
      --forced_due_;
      if (at_next) advance(end);
      break;
    default:
      advance(end);
      break;
  }
}

// Sending again from SND.NXT ends where what was forced since begins: that is in flight.
void SendSequence::advance(std::uint64_t to) {
  next_ = std::max(next_, to);
  if (next_ >= resend_end_) next_ = max_;
}

void SendSequence::on_syn_acknowledged(std::uint32_t smss, std::uint64_t limit) {
  una_ = next_ = max_ = una_then_ = 1;
  smss_ = smss;
  limit_ = limit;
}

void SendSequence::on_ack(std::uint64_t ack, bool hole) {
  una_ = ack;
  advance(ack);
  lost_due_ = hole;
}

void SendSequence::go_back(bool again) {
  if (selective()) {
    board_.on_timeout(max_, again);
  } else {
    next_ = una_;
    resend_end_ = max_;
  }
  lost_due_ = false;
  forced_due_ = 0;
}

void SendSequence::probe() {
  go_back();
  probe_due_ = true;
}

}  // namespace surety::endpoints
