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
    arrivals_.count_duplicate();
    return Refusal::duplicate;
  }
  arrivals_.count_mark(mark);
  feedback_due_ = feedback_due_ || (arrival.new_loss_event && arrivals_.packets() > 0);
  if (dccp::carries_data(p.type)) on_data(packet, p, sequence, now);
  return Refusal::none;
}

void DccpReceiver::open(const dccp::Packet& p, Time now) {
  phase_ = Phase::open;
  features_.forget();
  if (sequence_.acknowledged(p.ack) == sequence_.gss()) rounds_.on_handshake(now - response_sent_);
}

void DccpReceiver::on_data(const IpPacket& packet, const dccp::Packet& p, std::uint64_t sequence, Time now) {
  arrivals_.count(params_, packet, p.payload.size());
  rate_.on_packet(packet.length, now);
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
  if (rounds_.on_data(p.ccval, p.type == Type::data_ack, now)) feedback_due_ = true;
}

void DccpReceiver::write_feedback(Slot& slot, Time now) {
  dccp::Feedback f;
  f.timestamp_echo = timestamp_;
  f.elapsed = static_cast<std::uint32_t>((now - newest_at_) / dccp::kTick);
  f.receive_rate = rate_.feedback(now, rounds_.rtt());
  if (losses_.wants_first_interval() && rounds_.rtt() > Duration{} && *f.receive_rate > 0) {
    const Bytes segment(arrivals_.bytes() / arrivals_.packets());
    losses_.set_first_interval(1 / tfrc_loss_event_rate(segment, rounds_.rtt(), *f.receive_rate));
  }
  f.loss_event_rate = losses_.loss_event_rate();
  f.interval_count = losses_.intervals(f.intervals);
  rounds_.on_feedback(now);
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
  repeat(kCloseReq, std::max<Duration>(2 * rounds_.rtt(), std::chrono::milliseconds(200)), now);
}

void DccpReceiver::advance(Time now) {
  if (phase_ == Phase::closed) return;
  if (repetition_.at() <= now && !on_timer(now)) abort(ResetCode::aborted, Failure::timeout);
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
  return phase_ == Phase::closed ? kNever : std::min(repetition_.at(), silence_);
}

void DccpReceiver::read(FlowReading& out) const {
  arrivals_.read(out);
  out.payload_bytes = arrivals_.payload();
  out.lost_packets = losses_.lost();
  out.loss_events = losses_.loss_events();
  out.loss_event_rate = losses_.loss_event_rate();
  out.rtt = rounds_.rtt();
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
