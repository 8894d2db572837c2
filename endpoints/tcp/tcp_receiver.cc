// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_receiver.h"

#include <algorithm>
#include <new>

#include "endpoints/engine/marker.h"
#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

using tcp::before;
using tcp::Segment;

namespace {

constexpr std::uint8_t kLargestScale = 14;
constexpr std::uint16_t kLargestUnscaled = 65535;
constexpr std::uint16_t kLeastMss = 64;  // lower bound of a peer's MSS

std::uint8_t scale_for(std::uint64_t window) {
  std::uint8_t scale = 0;
  while (scale < kLargestScale && window >> scale > kLargestUnscaled) ++scale;
  return scale;
}

std::uint16_t headers(bool v6) {
  return v6 ? 60 : 40;
}

}  // namespace

TcpReceiver::TcpReceiver(const SinkParams& params, const Tuple& tuple, const IpPacket& syn, Time now,
                         std::uint64_t seed)
    : heard_(now),
      params_(&params),
      local_port_(tuple.local_port),
      remote_port_(tuple.remote_port),
      mss_(static_cast<std::uint16_t>(params.mtu - headers(tuple.local.is_v6()))),
      clock_(Rng(~seed).next()),
      ip_(tuple, tcp::kProtocol),
      output_(Rng(seed).next()),
      alarm_(now + kSilence) {
  Segment s;
  tcp::read_unverified(syn, s);
  next_ = last_ack_ = s.sequence + 1;  // bytes that come with the SYN will come again
  timestamps_ = s.timestamps.has_value();
  if (timestamps_) recent_ = s.timestamps->value;
  sack_ = s.sack_permitted;
  ecn_.on_syn(s.flags);
  scaled_ = s.window_scale.has_value();
  peer_scale_ = s.window_scale.value_or(0);
  const std::uint64_t window = params.window.count();
  scale_ = scaled_ ? scale_for(window) : std::uint8_t{0};
  const std::uint64_t told = std::min<std::uint64_t>(window >> scale_, kLargestUnscaled);
  window_ = static_cast<std::uint32_t>(told << scale_);
  largest_peer_window_ = s.window;
  const std::uint16_t asked = s.mss.value_or(tuple.local.is_v6() ? 1220 : 536);  // RFC 9293 3.7.1
  segment_ = static_cast<std::uint16_t>(std::min(std::max(asked, kLeastMss), mss_) - (timestamps_ ? 12 : 0));
  count(syn, {});
}

void TcpReceiver::read(FlowReading& out) const {
  out.sent_packets = sent_packets_;
  out.sent_bytes = sent_bytes_;
  out.received_packets = packets_;
  out.received_bytes = bytes_;
  out.received_in_packets = in_packets_;
  out.received_in_bytes = in_bytes_;
  out.payload_bytes = delivered_;
  out.carried_bytes = carried_;
  out.duplicate_packets = duplicates_;
  out.marks = marks_;
  out.loss_events = gaps_;
  out.mismatched_bytes = mismatches_;
}

void TcpReceiver::count(const IpPacket& packet, const Segment& s) {
  ++packets_;
  bytes_ += packet.length;
  carried_ += s.payload.size();
  marks_ += marked(packet) ? 1 : 0;
  if (!params_->counts_as_in(packet.dscp())) return;
  ++in_packets_;
  in_bytes_ += packet.length;
}

// RFC 9293 3.10.7.4, with the checks of RFC 7323 5.3 and RFC 5961 3 to 5 in their places.
Refusal TcpReceiver::receive(const IpPacket& packet, Time now) {
  if (state_ == TcpState::closed) return Refusal::closed;
  Segment s;
  if (const Refusal r = read_intact(packet, s); r != Refusal::none) return r;
  if (s.has(tcp::kRst)) return on_reset(s, now);
  if (s.has(tcp::kSyn)) return on_syn(s, now);
  if (const Refusal r = check_timestamps(s, now); r != Refusal::none) return r;
  if (!acceptable(s)) return on_unacceptable(packet, s, now);
  if (const Refusal r = check_ack(s, now); r != Refusal::none) return r;
  count(packet, s);
  heard_ = now;
  note_timestamp(s);
  if (!s.payload.empty()) ecn_.on_data(s.flags, marked(packet));
  on_ack(s, now);
  return s.length() == 0 || state_ == TcpState::closed ? Refusal::none : on_text(s, now);
}

// Payload that equals the stream at its position has a precomputed sum: it need not be read twice. Reading it
// before any check of the segment is safe: any sequence number is a position in the pattern.
Refusal TcpReceiver::read_intact(const IpPacket& packet, Segment& s) {
  matched_ = false;
  const Refusal r = tcp::read_unverified(packet, s);
  if (r != Refusal::none)
    return r == Refusal::truncated || tcp::checksum_good(packet) ? r : Refusal::checksum;
  if (checks_ && !s.payload.empty()) {
    const std::uint64_t offset = offset_of(s.sequence);
    matched_ = StreamPattern::matches(s.payload, offset);
    if (matched_ && !packet.l4_verified) {
      Sum sum = pseudo_header(packet);
      sum.add(packet.payload.first(packet.payload.size() - s.payload.size()));
      sum.add(StreamPattern::sum(offset, s.payload.size()));
      return sum.valid() ? Refusal::none : Refusal::checksum;
    }
  }
  return tcp::checksum_good(packet) ? Refusal::none : Refusal::checksum;
}

// RFC 5961 3.2.
Refusal TcpReceiver::on_reset(const Segment& s, Time now) {
  if (s.sequence == next_) {
    end(state_ == TcpState::syn_received || state_.peer_sends() ? Failure::reset : Failure::none);
    return Refusal::none;
  }
  if (in_window(s.sequence)) challenge(now);
  return Refusal::tcp_reset;
}

// RFC 5961 4.2. The SYN that began this comes again when our answer was lost.
Refusal TcpReceiver::on_syn(const Segment& s, Time now) {
  if (state_ == TcpState::syn_received && s.sequence + 1 == next_ && !s.has(tcp::kAck)) {
    ecn_.on_syn(s.flags);
    if (challenges_.permit(now)) output_.repeat();
    return Refusal::none;
  }
  challenge(now);
  return Refusal::tcp_syn;
}

// RFC 7323 5.3 R1, and 3.2 on segments without the option.
Refusal TcpReceiver::check_timestamps(const Segment& s, Time now) {
  if (!timestamps_) return Refusal::none;
  if (!s.timestamps) return Refusal::tcp_paws;
  if (!before(s.timestamps->value, recent_)) return Refusal::none;
  answer(s, now);
  return Refusal::tcp_paws;
}

// RFC 9293 3.4, table 6.
bool TcpReceiver::acceptable(const Segment& s) const {
  const std::uint32_t length = s.length();
  if (length == 0) return window_ == 0 ? s.sequence == next_ : in_window(s.sequence);
  return in_window(s.sequence) || in_window(s.sequence + length - 1);
}

Refusal TcpReceiver::on_unacceptable(const IpPacket& packet, const Segment& s, Time now) {
  if (!s.payload.empty() && before(s.sequence, next_)) {
    ++duplicates_;
    count(packet, s);
  }
  if (s.sequence + 1 == next_) heard_ = now;  // a keep-alive (RFC 9293 3.8.4)
  if (state_ == TcpState::time_wait && s.has(tcp::kFin)) alarm_ = now + kTimeWait;
  answer(s, now);
  return Refusal::tcp_sequence;
}

// RFC 5961 5.2; before that, RFC 9293 3.10.7.4 for SYN-RECEIVED.
Refusal TcpReceiver::check_ack(const Segment& s, Time now) {
  if (state_ == TcpState::syn_received) {
    if (s.ack == output_.highest() && before(output_.unacknowledged(), s.ack)) return Refusal::none;
    if (challenges_.permit(now)) {
      reset_due_ = true;
      reset_ = s.ack;
    }
    return Refusal::tcp_ack;
  }
  const bool ahead = before(output_.highest(), s.ack);
  if (!ahead && !before(s.ack, output_.unacknowledged() - largest_peer_window_)) return Refusal::none;
  challenge(now);
  return ahead ? Refusal::tcp_ack : Refusal::tcp_old_ack;
}

// RFC 7323 4.3 (2); that the value is not older, check_timestamps() has seen.
void TcpReceiver::note_timestamp(const Segment& s) {
  if (timestamps_ && !before(last_ack_, s.sequence)) recent_ = s.timestamps->value;
}

void TcpReceiver::on_ack(const Segment& s, Time now) {
  if (before(s.ack, output_.unacknowledged())) return;
  const std::uint32_t window = std::uint32_t{s.window} << peer_scale_;
  largest_peer_window_ = std::max(largest_peer_window_, window);
  output_.acknowledge(s.ack, window, now);
  if (state_ == TcpState::established) return;
  if (state_ == TcpState::syn_received) {
    state_.on_syn_acknowledged();
    if (output_.finishing()) state_.on_fin_sent();
  }
  if (output_.fin_acknowledged() && state_.on_fin_acknowledged() && state_ == TcpState::time_wait)
    alarm_ = now + kTimeWait;
}

Refusal TcpReceiver::on_text(const Segment& s, Time now) {
  if (!state_.peer_sends()) return Refusal::state;  // more after the peer's FIN
  auto bytes = s.payload;
  std::uint32_t begin = s.sequence;
  if (before(begin, next_)) {
    bytes = bytes.subspan(next_ - begin);  // acceptable(): its end is in the window
    begin = next_;
  }
  // Nothing is taken beyond the right edge, or after a FIN.
  std::size_t room = window_ - (begin - next_);
  bool fin = s.has(tcp::kFin) && bytes.size() < room;
  if (fin_known_) {
    room = std::min<std::size_t>(room, before(begin, fin_) ? fin_ - begin : 0);
    fin = false;
  }
  bytes = bytes.first(std::min(bytes.size(), room));
  if (begin != next_) return take_beyond(bytes, begin, fin);

  if (fin) {
    fin_known_ = true;
    fin_ = begin + static_cast<std::uint32_t>(bytes.size());
  }
  deliver(bytes, now);
  return Refusal::none;
}

// In order: and with it perhaps more, that was there already.
void TcpReceiver::deliver(std::span<const std::uint8_t> bytes, Time now) {
  if (checks_ && !matched_) compare(bytes, delivered_);
  const bool fills_gap = !reassembly_.empty();
  std::uint32_t to = next_ + static_cast<std::uint32_t>(bytes.size());
  if (fills_gap) {
    to = reassembly_.advance(to);
    if (fin_known_ && before(fin_, to)) to = fin_;
  }
  delivered_ += to - next_;
  next_ = to;
  if (reads_) on_bytes(bytes, now);
  if (state_ == TcpState::closed) return;
  if (fin_known_ && next_ == fin_) return on_fin(now);
  if (bytes.empty()) return;
  if (fills_gap || ++unacknowledged_ >= 2 || params_->ack == AckPolicy::every) return acknowledge();
  delayed_ack_ = now + kDelayedAck;
}

// Out of order: each such segment is answered at once, so that the sender counts duplicate ACKs (RFC 5681
// 4.2). Data that is not kept gets no ACK, which would report it as arrived.
Refusal TcpReceiver::take_beyond(std::span<const std::uint8_t> bytes, std::uint32_t begin, bool fin) {
  const std::uint32_t end = begin + static_cast<std::uint32_t>(bytes.size());
  tcp::Block twice{};
  if (!bytes.empty()) {
    twice = reassembly_.ranges().overlap(begin, end);
    const std::size_t before_it = reassembly_.ranges().size();
    const auto added = reads_ ? TcpReassembly::Added::full : reassembly_.add(begin, end);
    if (added == TcpReassembly::Added::full) return Refusal::tcp_reassembly;
    if (added == TcpReassembly::Added::duplicate) ++duplicates_;
    if (reassembly_.ranges().size() > before_it) ++gaps_;
    if (checks_ && !matched_) compare(bytes, offset_of(begin));
  }
  acknowledge(begin, twice);
  if (fin) {
    fin_known_ = true;
    fin_ = end;
  }
  return Refusal::none;
}

// Bytes that are known to differ somewhere in their segment.
void TcpReceiver::compare(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == StreamPattern::byte(offset + i)) continue;
    ++mismatches_;
    if (offset + i < kRecognised) {
      checks_ = false;
      mismatches_ = 0;
      return;
    }
  }
}

void TcpReceiver::on_fin(Time now) {
  ++next_;
  state_.on_fin_received();
  if (state_ == TcpState::close_wait) {
    state_.on_fin_sent();
    output_.finish();
    if (output_.due()) return;  // our FIN acknowledges it
  }
  if (state_ == TcpState::time_wait) alarm_ = now + kTimeWait;
  acknowledge();
}

void TcpReceiver::close(Time) {
  state_.on_fin_sent();
  if (state_ <= TcpState::fin_wait_1) output_.finish();
}

Refusal TcpAcceptor::check_syn(const IpPacket& first) {
  tcp::Segment s;
  if (const Refusal r = tcp::read(first, s); r != Refusal::none) return r;
  return s.has(tcp::kSyn) && !s.has(tcp::kAck) ? Refusal::none : Refusal::state;
}

Engine* TcpAcceptor::accept(void* room, const Tuple& tuple, const IpPacket& first, Time now,
                            Refusal& refusal) {
  refusal = check_syn(first);
  if (refusal != Refusal::none) return nullptr;
  const std::uint64_t seed = std::uint64_t{rng_.next()} << 32 | rng_.next();
  return new (room) TcpReceiver(*params_, tuple, first, now, seed);
}

}  // namespace surety::endpoints
