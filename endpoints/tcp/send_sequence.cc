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
  return segment(Kind::next, next_, permitted(cwnd), peer);
}

// What may leave at `from`, when congestion control permits up to `permitted`: a full segment, or the last
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

// The segment at SND.UNA, of what was sent already; never beyond the peer's window.
Piece SendSequence::lost_segment(const TcpPeer& peer) const {
  const std::uint64_t edge = std::min(peer.right_edge(), max_);
  if (edge <= una_) return {};
  const std::uint64_t length = std::min({edge - una_, data_end_ - una_, std::uint64_t{smss_}});
  const bool fin = una_ + length == data_end_ && edge > data_end_;
  return {Kind::retransmit, fin, static_cast<std::uint32_t>(length), una_};
}

// One byte into a closed window, or what a silly one has room for.
Piece SendSequence::probe_segment(const TcpPeer& peer) const {
  const std::uint64_t usable = peer.right_edge() > una_ ? peer.right_edge() - una_ : 1;
  const std::uint64_t length = std::min({usable, data_end_ - una_, std::uint64_t{smss_}});
  return {Kind::probe, length == 0, static_cast<std::uint32_t>(length), una_};
}

bool SendSequence::blocked(std::uint64_t cwnd, const TcpPeer& peer) const {
  return next_ <= data_end_ && segment(Kind::next, next_, permitted(cwnd), peer).empty();
}

void SendSequence::sent(const Piece& p) {
  const bool at_next = p.from == next_;
  const std::uint64_t end = p.end();
  if (end <= max_ && p.kind != Kind::syn) ++retransmitted_;
  max_ = std::max(max_, end);
  switch (p.kind) {
    case Kind::retransmit:
      lost_due_ = false;
      break;
    case Kind::probe:
      probe_due_ = false;
      resend_end_ = max_;  // SND.NXT stays: unless the peer takes it, the probe has not been
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
  una_ = next_ = max_ = 1;
  smss_ = smss;
  limit_ = limit;
}

void SendSequence::on_ack(std::uint64_t ack, bool hole) {
  una_ = ack;
  advance(ack);
  lost_due_ = hole;
}

void SendSequence::go_back() {
  next_ = una_;
  resend_end_ = max_;
  lost_due_ = false;
  forced_due_ = 0;
}

void SendSequence::probe() {
  go_back();
  probe_due_ = true;
}

}  // namespace surety::endpoints
