// SPDX-License-Identifier: BSD-3-Clause
// What a TcpSender sends.
#include <algorithm>

#include "endpoints/tcp/tcp_sender.h"

namespace surety::endpoints {

using tcp::Segment;

std::size_t TcpSender::poll(Room room, Time now) {
  if (state_ == State::closed) return 0;
  if (stop_ <= now) {
    stop_ = kNever;
    close(now);
  }
  if (state_ == State::idle && start_ <= now) state_ = State::syn_sent;
  if (timer_at_ <= now) on_timer(now);
  const std::size_t n = send_permitted(*this, room, now, [&](Slot& slot) { return build(slot, now); });
  if (n < room.size()) forced_due_ = 0;  // what the peer's window forbids now is not made up for
  settle(now);
  return n;
}

TcpSender::Due TcpSender::due() const {
  if (reply_ != Reply::none) return reply_ == Reply::ack ? Due::ack : Due::reset;
  if (state_ < State::established || state_ >= State::fin_wait_2)
    return (state_ == State::syn_sent || state_ == State::syn_received) && next_ == 0 ? Due::syn
                                                                                      : Due::nothing;
  if (lost_due_ && !lost_piece().empty()) return Due::retransmit;
  if (probe_due_) return Due::probe;
  if (forced_due_ != 0 && !piece(max_, una_ + limit_).empty()) return Due::forced;
  return piece(next_, permitted()).empty() ? Due::nothing : Due::next;
}

// What may leave at `from`, when congestion control permits up to `permitted`: a full segment, or the last
// one, or, with nothing in flight, at least half of the largest window that the peer ever had (RFC 9293
// 3.8.6.2.1). A FIN is one byte of the peer's window, and none of cwnd.
TcpSender::Piece TcpSender::piece(std::uint64_t from, std::uint64_t permitted) const {
  if (from > data_end_) return {};
  const std::uint64_t left = data_end_ - from, length = std::min<std::uint64_t>(left, smss_);
  if (length != 0 && from + length > permitted) return {};
  const std::uint64_t edge = peer_.right_edge();
  if (from + length <= edge) {
    const bool fin = closing_ && length == left && from + length < edge;
    return {static_cast<std::uint32_t>(length), fin};
  }
  const std::uint64_t usable = edge > from ? edge - from : 0;
  if (from != una_ || usable == 0 || 2 * usable < peer_.largest_window()) return {};
  return {static_cast<std::uint32_t>(usable), false};
}

// The segment at SND.UNA, of what was sent already; never beyond the peer's window.
TcpSender::Piece TcpSender::lost_piece() const {
  const std::uint64_t edge = std::min(peer_.right_edge(), max_);
  if (edge <= una_) return {};
  if (una_ == data_end_) return {0, true};
  const std::uint64_t length = std::min({edge - una_, data_end_ - una_, std::uint64_t{smss_}});
  return {static_cast<std::uint32_t>(length), closing_ && una_ + length == data_end_ && edge > data_end_};
}

// One byte into a closed window, or what a silly one has room for.
TcpSender::Piece TcpSender::probe_piece() const {
  if (una_ == data_end_) return {0, true};
  const std::uint64_t usable = peer_.right_edge() > una_ ? peer_.right_edge() - una_ : 1;
  const std::uint64_t length = std::min({usable, data_end_ - una_, std::uint64_t{smss_}});
  return {static_cast<std::uint32_t>(length), false};
}

bool TcpSender::build(Slot& slot, Time now) {
  switch (due()) {
    case Due::nothing:
      return false;
    case Due::reset:
      build_reset(slot, now);
      break;
    case Due::ack:
      reply_ = Reply::none;
      write(blank(max_, now), {}, slot, now);
      break;
    case Due::syn:
      build_syn(slot, now);
      break;
    case Due::retransmit:
      lost_due_ = false;
      build_data(slot, una_, lost_piece(), now);
      break;
    case Due::probe:
      probe_due_ = false;
      build_data(slot, una_, probe_piece(), now);
      resend_end_ = max_;  // SND.NXT stays: unless the peer takes it, the probe has not been
      break;
    case Due::forced:
      --forced_due_;
      build_next(slot, max_, piece(max_, una_ + limit_), now);
      break;
    case Due::next:
      build_next(slot, next_, piece(next_, permitted()), now);
      break;
  }
  return true;
}

// <SEQ=SEG.ACK><CTL=RST> (RFC 9293 3.10.7.3).
void TcpSender::build_reset(Slot& slot, Time now) {
  reply_ = Reply::none;
  Segment s;
  s.source_port = local_port_;
  s.destination_port = remote_port_;
  s.sequence = reset_;
  s.flags = tcp::kRst;
  write(s, {}, slot, now);
}

void TcpSender::build_syn(Slot& slot, Time now) {
  Segment s = blank(0, now);
  s.mss = mss_;
  if (state_ == State::syn_sent) {
    s.flags = 0;
    s.ack = 0;
    if (params_->window_scale) s.window_scale = std::uint8_t{0};
    if (params_->timestamps) s.timestamps = tcp::Timestamps{ticks(now), 0};
  } else if (peer_.scales()) {
    s.window_scale = std::uint8_t{0};
  }
  s.flags |= tcp::kSyn;
  timed_end_ = max_ == 0 ? 1 : 0;
  timed_at_ = now;
  next_ = max_ = 1;
  write(s, {}, slot, now);
  start(Timer::retransmit, now);
}

void TcpSender::build_next(Slot& slot, std::uint64_t from, Piece p, Time now) {
  const bool at_next = from == next_;
  build_data(slot, from, p, now);
  if (at_next) advance(from + p.length + (p.fin ? 1 : 0));
}

void TcpSender::build_data(Slot& slot, std::uint64_t from, Piece p, Time now) {
  Segment s = blank(from, now);
  if (p.fin) {
    s.flags |= tcp::kFin;
    if (state_ == State::established) state_ = State::fin_wait_1;
    if (state_ == State::close_wait) state_ = State::last_ack;
  }
  if (p.length != 0 && from + p.length == data_end_) s.flags |= tcp::kPsh;
  write(s, {.offset = from - 1, .length = p.length}, slot, now);
  count_data(from, from + p.length + (p.fin ? 1 : 0), now);
}

void TcpSender::count_data(std::uint64_t from, std::uint64_t to, Time now) {
  if (to <= max_) ++retransmitted_;
  if (from < max_) {
    timed_end_ = 0;
  } else if (timed_end_ == 0) {
    timed_end_ = to;
    timed_at_ = now;
  }
  max_ = std::max(max_, to);
}

Segment TcpSender::blank(std::uint64_t position, Time now) const {
  Segment s;
  s.source_port = local_port_;
  s.destination_port = remote_port_;
  s.sequence = wire(position);
  s.ack = peer_.next();
  s.flags = tcp::kAck;
  s.window = TcpPeer::kReceiveWindow;
  if (peer_.timestamps()) s.timestamps = tcp::Timestamps{ticks(now), peer_.recent()};
  return s;
}

void TcpSender::write(const Segment& s, tcp::Payload payload, Slot& slot, Time now) {
  const std::size_t length = ip_.header_length() + tcp::header_length(s) + payload.length;
  const Precedence precedence = marker_.mark(params_->common, static_cast<std::uint32_t>(length), now);
  tcp::write(s, payload, ip_, HostMarker::dscp(params_->common, precedence), slot);
  ++sent_packets_;
  sent_bytes_ += length;
  sent_in_packets_ += precedence == Precedence::in ? 1 : 0;
}

}  // namespace surety::endpoints
