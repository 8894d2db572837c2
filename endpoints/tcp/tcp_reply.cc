// SPDX-License-Identifier: BSD-3-Clause
// Replies of a TcpReceiver, and their times.
#include <algorithm>

#include "endpoints/tcp/tcp_receiver.h"

namespace surety::endpoints {

using tcp::Segment;

namespace {

constexpr std::uint8_t kAckDscp = 0;

std::uint32_t milliseconds(Time now) {
  return static_cast<std::uint32_t>(now.time_since_epoch().count() / 1'000'000);
}

}  // namespace

void TcpReceiver::acknowledge(std::uint32_t cause, const tcp::Block& twice) {
  if (acks_due_ == ack_due_.size()) --acks_due_;
  ack_due_[acks_due_++] = {next_, cause, twice};
  acknowledged();
}

void TcpReceiver::acknowledged() {
  last_ack_ = next_;
  unacknowledged_ = 0;
  delayed_ack_ = kNever;
}

void TcpReceiver::challenge(Time now) {
  if (challenges_.permit(now)) acknowledge();
}

// Refused bytes are always acknowledged, once each; empty segments are not, if they come in floods. D-SACK
// reports bytes that have arrived twice.
void TcpReceiver::answer(const Segment& s, Time now) {
  if (s.length() == 0) return challenge(now);
  tcp::Block twice{s.sequence, s.sequence + static_cast<std::uint32_t>(s.payload.size())};
  if (!tcp::before(twice.begin, next_) || twice.empty()) return acknowledge();
  if (tcp::before(next_, twice.end)) twice.end = next_;
  acknowledge(next_, twice);
}

Time TcpReceiver::next_wakeup() const {
  if (state_ == TcpState::closed) return kNever;
  if (acks_due_ > 0 || reset_due_ || output_.due()) return kNow;
  return std::min({delayed_ack_, output_.timer(), alarm_});
}

void TcpReceiver::expire(Time now) {
  if (delayed_ack_ <= now) acknowledge();
  if (output_.timer() <= now && !output_.expire(now)) return end(Failure::timeout);
  if (alarm_ > now) return;
  if (state_ == TcpState::time_wait) return end(Failure::none);
  alarm_ = heard_ + kSilence;
  if (alarm_ > now) return;
  if (may_be_silent(now))
    alarm_ = now + kSilence;
  else
    end(Failure::timeout);
}

std::size_t TcpReceiver::poll(Room room, Time now) {
  if (state_ == TcpState::closed) return 0;
  expire(now);
  std::size_t n = 0;
  while (n < room.size() && state_ != TcpState::closed && build(room[n], now)) {
    ++sent_packets_;
    sent_bytes_ += room[n].length;
    ++n;
  }
  return n;
}

bool TcpReceiver::build(Slot& slot, Time now) {
  if (reset_due_) {
    build_reset(slot);
  } else if (output_.due() && (acks_due_ == 0 || !output_.syn_acknowledged())) {
    build_piece(slot, now);
  } else if (acks_due_ > 0) {
    Segment s = blank(now);
    const Due& due = ack_due_[0];
    s.ack = due.ack;
    if (sack_) {
      if (due.cause != due.ack) report_.note(due.cause);
      s.sack = report_.blocks(reassembly_.ranges(), due.twice, timestamps_ ? 3 : tcp::Blocks::kMost);
    }
    s.flags |= ecn_.flags();
    std::copy(ack_due_.begin() + 1, ack_due_.begin() + acks_due_, ack_due_.begin());
    --acks_due_;
    tcp::write(s, ip_, kAckDscp, slot);
  } else {
    return false;
  }
  return true;
}

// A pure ACK, but for its acknowledgement number.
Segment TcpReceiver::blank(Time now) const {
  Segment s;
  s.source_port = local_port_;
  s.destination_port = remote_port_;
  s.sequence = output_.highest();
  s.flags = tcp::kAck;
  s.window = static_cast<std::uint16_t>(window_ >> scale_);
  if (timestamps_) s.timestamps = tcp::Timestamps{clock_ + milliseconds(now), recent_};
  return s;
}

// RFC 9293 3.10.7.4: <SEQ=SEG.ACK><CTL=RST>.
void TcpReceiver::build_reset(Slot& slot) {
  reset_due_ = false;
  Segment s;
  s.source_port = local_port_;
  s.destination_port = remote_port_;
  s.sequence = reset_;
  s.flags = tcp::kRst;
  tcp::write(s, ip_, kAckDscp, slot);
}

void TcpReceiver::build_piece(Slot& slot, Time now) {
  const TcpOutput::Piece piece = output_.take(segment_, now);
  Segment s = blank(now);
  s.sequence = piece.sequence;
  s.ack = next_;
  s.flags |= piece.flags;
  s.payload = piece.bytes;
  if (s.has(tcp::kSyn)) {
    s.window = static_cast<std::uint16_t>(std::min(window_, 65535u));  // RFC 7323 2.2: never scaled
    s.mss = mss_;
    if (scaled_) s.window_scale = scale_;
    s.sack_permitted = sack_;
    s.flags |= ecn_.answer();
  }
  if (!s.has(tcp::kSyn)) s.flags |= ecn_.flags();
  acknowledged();
  tcp::write(s, ip_, kAckDscp, slot);
}

}  // namespace surety::endpoints
