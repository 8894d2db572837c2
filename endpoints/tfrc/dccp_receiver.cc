// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_receiver.h"

#include <algorithm>
#include <new>

#include "endpoints/engine/marker.h"
#include "endpoints/tfrc/tfrc.h"

namespace surety::endpoints {

using dccp::PacketWriter;
using dccp::ResetCode;
using dccp::Type;

namespace {

constexpr std::uint32_t kControlRoom = 256;
constexpr unsigned kRoundTrip = 4;  // quarters of the window counter (RFC 4342 8.1)

PacketWriter::UdpPorts udp_ports(const IpPacket& p) {
  return {p.udp_destination, p.udp_source};
}

}  // namespace

DccpReceiver::DccpReceiver(const SinkParams& params, const Tuple& tuple, const IpPacket& request, Time now,
                           std::uint64_t seed)
    : DccpConnection(dccp::Role::server, tuple, udp_ports(request), dccp::kDefaultWindow, request.dscp(),
                     seed),
      params_(params),
      silence_(now + dccp::kPeerTimeout) {
  phase_ = Phase::respond;
  heard_ = now;
  dccp::Packet p;
  if (dccp::read(request, p) != Refusal::none) return;
  sequence_.synchronise(p.sequence);
  service_code_ = p.service_code;
}

// A Request, the first or a repeated one, is answered with a Response or a Reset.
Refusal DccpReceiver::on_request(const dccp::Packet& p, Time now) {
  features_.forget();
  if (const Refusal r = admit(p, now); r != Refusal::none) return r;
  if (p.service_code != kServiceCode) {
    abort(ResetCode::bad_service_code, Failure::refused);
    return Refusal::dccp_service;
  }
  if (!features_.ccid_agreed()) {
    abort(ResetCode::option_error, Failure::refused, dccp::kChangeL);
    return Refusal::dccp_feature;
  }
  pending_ |= kResponse;
  return Refusal::none;
}

Refusal DccpReceiver::receive(const IpPacket& packet, Time now) {
  dccp::Packet p;
  if (const Refusal r = dccp::read(packet, p); r != Refusal::none) return r;
  if (phase_ == Phase::respond && p.type == Type::request) return on_request(p, now);
  const bool late = phase_ == Phase::closed;
  if (const Refusal r = admit(p, now); r != Refusal::none) return r;
  if (packet.udp_source != 0) writer_.set_udp_remote(packet.udp_source);
  if (phase_ == Phase::closed) {
    if (!late && p.type == Type::close) losses_.end_at(sequence_.gsr());
    // A last report precedes the Reset if data has arrived since the one before.
    feedback_due_ = p.type == Type::close && rate_.bytes() > 0;
    return Refusal::none;
  }
  if (phase_ == Phase::respond && p.type != Type::sync) open(p, now);
  const std::uint64_t sequence = sequence_.received(p.sequence);
  const bool mark = dccp::carries_data(p.type) && marked(packet);
  const LossIntervals::Arrival arrival = losses_.on_packet(sequence, p.ccval, mark);
  if (arrival.duplicate) {
    ++duplicates_;
    return Refusal::duplicate;
  }
  marks_ += mark ? 1 : 0;
  feedback_due_ = feedback_due_ || (arrival.new_loss_event && packets_ > 0);
  if (dccp::carries_data(p.type)) on_data(packet, p, sequence, now);
  return Refusal::none;
}

void DccpReceiver::open(const dccp::Packet& p, Time now) {
  phase_ = Phase::open;
  features_.forget();
  if (sequence_.acknowledged(p.ack) == sequence_.gss()) rtt_ = now - response_sent_;
}

// The counter has gone a round-trip time beyond where it was at the last feedback of its kind.
bool DccpReceiver::round_trip_over(const dccp::Packet& p, Time now) {
  const unsigned quarters = (p.ccval - round_counter_) & 15u;
  if (quarters < kRoundTrip) {
    whole_round_ = whole_round_ && p.type != Type::data_ack;
    return p.type == Type::data_ack && now - feedback_at_ >= rtt_;
  }
  // More than four: the sender paused, or packets were lost, and the time is no sample.
  if (quarters == kRoundTrip && whole_round_) {
    const Duration sample = now - round_at_;
    rtt_ = rtt_ == Duration{} ? sample : (rtt_ * 7 + sample) / 8;
  }
  whole_round_ = true;
  return true;
}

void DccpReceiver::on_data(const IpPacket& packet, const dccp::Packet& p, std::uint64_t sequence, Time now) {
  const bool first = packets_++ == 0;
  const std::uint32_t length = packet.length;
  bytes_ += length;
  payload_ += p.payload.size();
  if (params_.counts_as_in(packet.dscp())) {
    ++in_packets_;
    in_bytes_ += length;
  }
  rate_.on_packet(length, now);
  const std::optional<std::uint32_t> timestamp = dccp::timestamp(p.options);
  if (timestamp) delay_ticks_ += dccp::ticks(now) - *timestamp;
  // A packet that was overtaken neither is the newest nor moves the counter.
  if (sequence < newest_data_) return;
  newest_data_ = sequence;
  newest_at_ = now;
  // Value and presence apart: a copy of both would wait for their two stores.
  if (timestamp)
    timestamp_ = *timestamp;
  else
    timestamp_.reset();
  if (!first && !round_trip_over(p, now)) return;
  round_counter_ = p.ccval;
  round_at_ = now;
  feedback_due_ = true;
}

void DccpReceiver::write_feedback(Slot& slot, Time now) {
  dccp::Feedback f;
  f.timestamp_echo = timestamp_;
  f.elapsed = static_cast<std::uint32_t>((now - newest_at_) / dccp::kTick);
  f.receive_rate = rate_.feedback(now, rtt_);
  if (losses_.wants_first_interval() && rtt_ > Duration{} && *f.receive_rate > 0) {
    const Bytes segment(bytes_ / packets_);
    losses_.set_first_interval(1 / tfrc_loss_event_rate(segment, rtt_, *f.receive_rate));
  }
  f.loss_event_rate = losses_.loss_event_rate();
  f.interval_count = losses_.intervals(f.intervals);
  feedback_at_ = now;
  feedback_due_ = false;
  pending_ = static_cast<std::uint8_t>(pending_ & ~kAck);
  std::array<std::uint8_t, dccp::kFeedbackBytes> options;
  dccp::OptionWriter to(options.data());
  dccp::write_feedback(to, f);
  dccp::Packet p;
  p.type = Type::ack;
  p.ack = sequence_.gsr();
  write_packet(slot, p, std::span(options).first(to.finish()));
}

void DccpReceiver::close(Time now) {
  if (phase_ == Phase::respond) abort(ResetCode::aborted, Failure::none);
  if (phase_ != Phase::open) return;
  phase_ = Phase::close_req;
  repeat(kCloseReq, std::max<Duration>(2 * rtt_, std::chrono::milliseconds(200)), now);
}

void DccpReceiver::advance(Time now) {
  if (phase_ == Phase::closed) return;
  if (timer_ <= now && !on_timer(now)) abort(ResetCode::aborted, Failure::timeout);
  if (silence_ > now) return;
  silence_ = heard_ + dccp::kPeerTimeout;
  if (silence_ <= now) abort(ResetCode::aborted, Failure::timeout);
}

std::size_t DccpReceiver::poll(Room room, Time now) {
  advance(now);
  std::size_t n = 0;
  while (n < room.size() && room[n].capacity >= kControlRoom) {
    if (feedback_due_)
      write_feedback(room[n++], now);
    else if (control_pending()) {
      if ((pending_ & kResponse) != 0) response_sent_ = now;
      write_control(room[n++]);
    } else {
      break;
    }
  }
  return n;
}

Time DccpReceiver::next_wakeup() const {
  if (control_pending() || feedback_due_) return kNow;
  return phase_ == Phase::closed ? kNever : std::min(timer_, silence_);
}

void DccpReceiver::read(FlowReading& out) const {
  out.received_packets = packets_;
  out.received_bytes = bytes_;
  out.received_in_packets = in_packets_;
  out.received_in_bytes = in_bytes_;
  out.payload_bytes = payload_;
  out.duplicate_packets = duplicates_;
  out.lost_packets = losses_.lost();
  out.marks = marks_;
  out.loss_events = losses_.loss_events();
  out.loss_event_rate = losses_.loss_event_rate();
  out.rtt = rtt_;
  out.one_way_delay_sum = static_cast<double>(delay_ticks_) * seconds(dccp::kTick);
}

Engine* DccpAcceptor::accept(void* room, const Tuple& tuple, const IpPacket& first, Time now,
                             Refusal& refusal) {
  dccp::Packet p;
  refusal = dccp::read(first, p);
  if (refusal == Refusal::none && p.type != Type::request) refusal = Refusal::state;
  if (refusal != Refusal::none) return nullptr;
  return new (room) DccpReceiver(*params_, tuple, first, now, seed_ += 0x9e37'79b9'7f4a'7c15);
}

}  // namespace surety::endpoints
