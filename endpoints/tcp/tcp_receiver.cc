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

constexpr std::uint8_t kAckDscp = 0;

Segment read_syn(const IpPacket& packet) {
  Segment s;
  tcp::read_unverified(packet, s);
  return s;
}

}  // namespace

// Bytes that come with the SYN will come again.
TcpReceiver::TcpReceiver(const SinkParams& params, const Tuple& tuple, const IpPacket& packet,
                         const Segment& syn, Time now, std::uint64_t seed)
    : options_(params, tuple.local.is_v6(), syn),
      timestamps_(syn, Rng(~seed).next()),
      heard_(now),
      params_(&params),
      output_(Rng(seed).next()),
      writer_(tuple),
      sequence_(syn.sequence + 1, options_.window()),
      acks_(syn.sequence + 1),
      alarm_(now + kSilence),
      largest_peer_window_(syn.window) {
  ecn_.on_syn(syn.flags);
  count(packet, {});
}

TcpReceiver::TcpReceiver(const SinkParams& params, const Tuple& tuple, const IpPacket& syn, Time now,
                         std::uint64_t seed)
    : TcpReceiver(params, tuple, syn, read_syn(syn), now, seed) {}

void TcpReceiver::read(FlowReading& out) const {
  writer_.read(out);
  arrivals_.read(out);
  out.payload_bytes = delivered();
  out.carried_bytes = arrivals_.payload();
  out.loss_events = sequence_.gaps();
  out.mismatched_bytes = mismatches();
}

void TcpReceiver::count(const IpPacket& packet, const Segment& s) {
  arrivals_.count(*params_, packet, s.payload.size());
  arrivals_.count_mark(marked(packet));
}

// --- reception

// RFC 9293 3.10.7.4, with the checks of RFC 7323 5.3 and RFC 5961 3 to 5 in their places.
Refusal TcpReceiver::receive(const IpPacket& packet, Time now) {
  if (state_ == TcpState::closed) return Refusal::closed;
  Segment s;
  if (const Refusal r = read_intact(packet, s); r != Refusal::none) return r;
  if (s.has(tcp::kRst)) return on_reset(s, now);
  if (s.has(tcp::kSyn)) return on_syn(s, now);
  if (const Refusal r = check_timestamps(s, now); r != Refusal::none) return r;
  if (!sequence_.acceptable(s)) return on_unacceptable(packet, s, now);
  if (const Refusal r = check_ack(s, now); r != Refusal::none) return r;
  count(packet, s);
  heard_ = now;
  timestamps_.note(s, acks_.last());
  if (!s.payload.empty()) ecn_.on_data(s.flags, marked(packet));
  on_ack(s, now);
  return s.length() == 0 || state_ == TcpState::closed ? Refusal::none : on_text(s, now);
}

Refusal TcpReceiver::read_intact(const IpPacket& packet, Segment& s) {
  const Refusal r = tcp::read_unverified(packet, s);
  if (r == Refusal::truncated) return r;
  const bool intact = r != Refusal::none ? tcp::checksum_good(packet)
                                         : stream_.intact(packet, s.payload, sequence_.offset_of(s.sequence));
  return intact ? r : Refusal::checksum;
}

// RFC 5961 3.2.
Refusal TcpReceiver::on_reset(const Segment& s, Time now) {
  if (s.sequence == sequence_.next()) {
    end(state_ == TcpState::syn_received || state_.peer_sends() ? Failure::reset : Failure::none);
    return Refusal::none;
  }
  if (sequence_.in_window(s.sequence)) challenge(now);
  return Refusal::tcp_reset;
}

// RFC 5961 4.2. The SYN that began this comes again when our answer was lost.
Refusal TcpReceiver::on_syn(const Segment& s, Time now) {
  if (state_ == TcpState::syn_received && s.sequence + 1 == sequence_.next() && !s.has(tcp::kAck)) {
    ecn_.on_syn(s.flags);
    if (challenges_.permit(now)) output_.repeat();
    return Refusal::none;
  }
  challenge(now);
  return Refusal::tcp_syn;
}

Refusal TcpReceiver::check_timestamps(const Segment& s, Time now) {
  if (timestamps_.missing(s)) return Refusal::tcp_paws;
  if (!timestamps_.outdated(s)) return Refusal::none;
  answer(s, now);
  return Refusal::tcp_paws;
}

Refusal TcpReceiver::on_unacceptable(const IpPacket& packet, const Segment& s, Time now) {
  if (!s.payload.empty() && before(s.sequence, sequence_.next())) {
    arrivals_.count_duplicate();
    count(packet, s);
  }
  if (s.sequence + 1 == sequence_.next()) heard_ = now;  // a keep-alive (RFC 9293 3.8.4)
  if (state_ == TcpState::time_wait && s.has(tcp::kFin)) alarm_ = now + kTimeWait;
  answer(s, now);
  return Refusal::tcp_sequence;
}

// RFC 5961 5.2; before that, RFC 9293 3.10.7.4 for SYN-RECEIVED.
Refusal TcpReceiver::check_ack(const Segment& s, Time now) {
  if (state_ == TcpState::syn_received) {
    if (s.ack == output_.highest() && before(output_.unacknowledged(), s.ack)) return Refusal::none;
    if (challenges_.permit(now)) reset_ = s.ack;
    return Refusal::tcp_ack;
  }
  const bool ahead = before(output_.highest(), s.ack);
  if (!ahead && !before(s.ack, output_.unacknowledged() - largest_peer_window_)) return Refusal::none;
  challenge(now);
  return ahead ? Refusal::tcp_ack : Refusal::tcp_old_ack;
}

void TcpReceiver::on_ack(const Segment& s, Time now) {
  if (before(s.ack, output_.unacknowledged())) return;
  const std::uint32_t window = options_.peer_window(s);
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
  const Text text = sequence_.text_of(s);
  if (text.begin != sequence_.next()) return take_beyond(text);
  deliver(text, now);
  return Refusal::none;
}

void TcpReceiver::deliver(const Text& text, Time now) {
  stream_.compare(text.bytes, sequence_.delivered());
  const bool fills_gap = sequence_.take(text);
  if (reads_) on_bytes(text.bytes, now);
  if (state_ == TcpState::closed) return;
  if (sequence_.at_fin()) return on_fin(now);
  if (text.bytes.empty()) return;
  if (acks_.on_segment(fills_gap || params_->ack == AckPolicy::every, now)) acknowledge();
}

// Out of order: each such segment is answered at once, so that the sender counts duplicate ACKs (RFC 5681
// 4.2). Data that is not kept gets no ACK, which would report it as arrived.
Refusal TcpReceiver::take_beyond(const Text& text) {
  tcp::Block twice{};
  if (!text.bytes.empty()) {
    if (reads_) return Refusal::tcp_reassembly;
    twice = sequence_.beyond().overlap(text.begin, text.end());
  }
  const TcpReassembly::Added added = sequence_.keep(text);
  if (added == TcpReassembly::Added::full) return Refusal::tcp_reassembly;
  if (added == TcpReassembly::Added::duplicate) arrivals_.count_duplicate();
  stream_.compare(text.bytes, sequence_.offset_of(text.begin));
  acknowledge(text.begin, twice);
  return Refusal::none;
}

void TcpReceiver::on_fin(Time now) {
  sequence_.take_fin();
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

// --- time and transmission

void TcpReceiver::challenge(Time now) {
  if (challenges_.permit(now)) acknowledge();
}

// Refused bytes are always acknowledged, once each; empty segments are not, if they come in floods. D-SACK
// reports bytes that have arrived twice.
void TcpReceiver::answer(const Segment& s, Time now) {
  if (s.length() == 0) return challenge(now);
  const std::uint32_t next = sequence_.next();
  tcp::Block twice{s.sequence, s.sequence + static_cast<std::uint32_t>(s.payload.size())};
  if (!before(twice.begin, next) || twice.empty()) return acknowledge();
  if (before(next, twice.end)) twice.end = next;
  acknowledge(next, twice);
}

Time TcpReceiver::next_wakeup() const {
  if (state_ == TcpState::closed) return kNever;
  if (!acks_.empty() || reset_ || output_.due()) return kNow;
  return std::min({acks_.delayed(), output_.timer(), alarm_});
}

void TcpReceiver::expire(Time now) {
  if (acks_.delayed() <= now) acknowledge();
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
  while (n < room.size() && state_ != TcpState::closed && build(room[n], now)) ++n;
  return n;
}

bool TcpReceiver::build(Slot& slot, Time now) {
  if (reset_) {  // RFC 9293 3.10.7.4: <SEQ=SEG.ACK><CTL=RST>
    writer_.write(writer_.segment(*reset_, tcp::kRst), slot);
    reset_.reset();
  } else if (output_.due() && (acks_.empty() || !output_.syn_acknowledged())) {
    writer_.write(own(output_.take(options_.segment(), now), now), slot);
  } else if (!acks_.empty()) {
    writer_.write(ack(acks_.take(), now), slot);
  } else {
    return false;
  }
  return true;
}

// A pure ACK, but for its acknowledgement number.
Segment TcpReceiver::blank(std::uint32_t sequence, Time now) const {
  Segment s = writer_.segment(sequence, tcp::kAck);
  s.window = options_.window_field();
  timestamps_.put(s, now);
  return s;
}

Segment TcpReceiver::ack(const DueAcks::Due& due, Time now) {
  Segment s = blank(output_.highest(), now);
  s.ack = due.ack;
  if (options_.sack()) {
    if (due.cause != due.ack) report_.note(due.cause);
    s.sack = report_.blocks(sequence_.beyond(), due.twice, timestamps_.on() ? 3 : tcp::Blocks::kMost);
  }
  s.flags |= ecn_.flags();
  return s;
}

// A piece of our own data, which acknowledges all that has arrived.
Segment TcpReceiver::own(const TcpOutput::Piece& piece, Time now) {
  Segment s = blank(piece.sequence, now);
  s.ack = sequence_.next();
  s.flags |= piece.flags;
  s.payload = piece.bytes;
  if (s.has(tcp::kSyn)) options_.put(s);
  s.flags |= s.has(tcp::kSyn) ? ecn_.answer() : ecn_.flags();
  acks_.on_sent(s.ack);
  return s;
}

Segment ReplyWriter::segment(std::uint32_t sequence, std::uint8_t flags) const {
  Segment s;
  s.source_port = local_port_;
  s.destination_port = remote_port_;
  s.sequence = sequence;
  s.flags = flags;
  return s;
}

void ReplyWriter::write(const Segment& s, Slot& slot) {
  bytes_ += tcp::write(s, ip_, kAckDscp, slot);
  ++packets_;
}

void ReplyWriter::read(FlowReading& out) const {
  out.sent_packets = packets_;
  out.sent_bytes = bytes_;
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
