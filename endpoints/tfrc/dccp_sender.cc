// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/dccp_sender.h"

#include <algorithm>

#include "endpoints/engine/marker.h"

namespace surety::endpoints {

using dccp::PacketWriter;
using dccp::ResetCode;
using dccp::Type;

namespace {

// RFC 4340 7.5.2: several round-trip times of packets. The round-trip time is not known yet: ten packets for
// each that the rate (10 Gbit/s where none is given) sends in a second.
std::uint64_t sequence_window(const DccpParams& p) {
  Rate rate = std::max(p.tfrc.guarantee, p.tfrc.application);
  if (rate == Rate{} || p.tfrc.application == Rate{})
    rate = std::max(rate, Rate::bits_per_second(10'000'000'000));
  const double packets =
      rate.bytes_per_second() / static_cast<double>(std::max<std::uint64_t>(p.common.packet.count(), 64));
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(10 * packets), 1000, dccp::kMaxWindow);
}

PacketWriter::UdpPorts udp_ports(const DccpParams& p) {
  return p.udp ? PacketWriter::UdpPorts{p.udp_local_port, p.udp_remote_port} : PacketWriter::UdpPorts{};
}

constexpr Duration kLeastRtt = std::chrono::microseconds(1);
constexpr std::uint32_t kControlRoom = 256;

}  // namespace

DccpSender::DccpSender(const DccpParams& params, const Tuple& tuple, const Schedule& schedule,
                       std::uint64_t seed)
    : DccpConnection(dccp::Role::client, tuple, udp_ports(params), sequence_window(params),
                     params.common.dscp, seed),
      params_(params),
      tfrc_(params.tfrc, schedule.start),
      stop_(schedule.stop),
      marker_(params.common, schedule.start),
      data_header_(static_cast<std::uint32_t>(writer_.offset() + PacketWriter::kDataHeader)),
      start_(schedule.start) {
  service_code_ = params.service_code;
}

Refusal DccpSender::receive(const IpPacket& packet, Time now) {
  dccp::Packet p;
  if (const Refusal r = dccp::read(packet, p); r != Refusal::none) return r;
  if (phase_ == Phase::idle) return Refusal::state;
  if (phase_ == Phase::request) return receive_in_request(p, now);
  if (const Refusal r = admit(p, now); r != Refusal::none) return r;
  if (packet.udp_source != 0) writer_.set_udp_remote(packet.udp_source);
  if (phase_ == Phase::closed) return Refusal::none;
  if (p.type == Type::close_req) {
    if (phase_ != Phase::closing) close(now);
    return Refusal::none;
  }
  if (p.type == Type::response) {
    pending_ |= kAck;
    return Refusal::none;
  }
  if (phase_ == Phase::partopen && p.type != Type::sync) phase_ = Phase::open;
  if (p.type == Type::ack || p.type == Type::data_ack) on_feedback(p, now);
  return Refusal::none;
}

// Steps 4, 9 and 10 of RFC 4340 8.5.
Refusal DccpSender::receive_in_request(const dccp::Packet& p, Time now) {
  const bool ours = dccp::has_ack(p.type) && sequence_.acknowledges_ours(sequence_.acknowledged(p.ack));
  if (p.type == Type::response && ours) return accept_response(p, now);
  if (p.type == Type::reset) {
    if (!ours) return Refusal::dccp_reset;
    finish(Failure::refused);
    return Refusal::none;
  }
  return answer_stray(p, now);
}

Refusal DccpSender::accept_response(const dccp::Packet& p, Time now) {
  sequence_.synchronise(p.sequence);
  if (const Refusal r = negotiate(p); r != Refusal::none) return r;
  if (p.service_code != service_code_) {
    abort(ResetCode::bad_service_code, Failure::refused);
    return Refusal::dccp_service;
  }
  if (!features_.ccid_agreed()) {
    abort(ResetCode::option_error, Failure::refused, dccp::kChangeL);
    return Refusal::dccp_feature;
  }
  sequence_.accept(p.type, sequence_.received(p.sequence), sequence_.acknowledged(p.ack));
  phase_ = Phase::partopen;
  repetition_.stop();
  pending_ = kAck;
  heard_ = reported_until_ = now;
  // A Response to an earlier Request than the last says nothing about the round trip (Karn).
  if (sequence_.acknowledged(p.ack) == sequence_.gss())
    tfrc_.on_handshake(std::max(now - request_sent_, kLeastRtt), now);
  return Refusal::none;
}

// The peer has an old connection with these ports: a valid Reset ends it, and a later Request starts a new
// one (RFC 4340 8.3.1: the number after the one it acknowledges).
Refusal DccpSender::answer_stray(const dccp::Packet& p, Time now) {
  const Refusal why = dccp::has_ack(p.type) ? Refusal::dccp_ack : Refusal::state;
  if (p.type == Type::sync) send_stray_reset(p, now);
  return why;
}

void DccpSender::close(Time now) {
  switch (phase_) {
    case Phase::idle:
      finish(Failure::none);
      break;
    // Nothing of the peer is known, so the acknowledgement number is zero (RFC 4340 8.1.1).
    case Phase::request:
      abort(ResetCode::aborted, Failure::none);
      break;
    case Phase::respond:
    case Phase::partopen:
    case Phase::open:
      phase_ = Phase::closing;
      pending_ = static_cast<std::uint8_t>(pending_ & ~kAck);
      repeat(kClose, std::max<Duration>(2 * tfrc_.rtt(), std::chrono::milliseconds(200)), now);
      break;
    default:
      break;
  }
}

// A report that is older than one that came before,
// or that echoes a time at which nothing was sent, is not used.
void DccpSender::on_feedback(const dccp::Packet& p, Time now) {
  const std::uint64_t sequence = sequence_.received(p.sequence);
  if (sequence <= feedback_sequence_) return;
  const dccp::Feedback f = dccp::read_feedback(p.options);
  if (!f.timestamp_echo || !f.receive_rate) return;
  const Duration since = (dccp::ticks(now) - *f.timestamp_echo) * dccp::kTick, held = f.elapsed * dccp::kTick;
  const Time sent = now - since;
  if (sent + dccp::kTick < start_ || held > since + dccp::kTick) return;
  feedback_sequence_ = sequence;
  const std::uint64_t ack = sequence_.acknowledged(p.ack);
  const bool event = losses_.on_feedback(ack, f);
  const Time reported = sent + held;
  const double elapsed = seconds(std::max(reported - reported_until_, Duration::zero()));
  arrived_bytes_ += *f.receive_rate * elapsed;
  reported_until_ = std::max(reported_until_, reported);
  if (acknowledged_ != 0 && ack > acknowledged_)
    lost_.on_report(static_cast<double>(ack - acknowledged_),
                    *f.receive_rate / static_cast<double>(params_.common.packet.count()),
                    seconds(now - reported_at_), seconds(tfrc_.rtt()));
  reported_at_ = now;
  if (*f.receive_rate > 0) acknowledged_ = std::max(acknowledged_, ack);
  tfrc_.on_feedback({.sent = sent,
                     .rtt_sample = std::max(since - held, kLeastRtt),
                     .receive_rate = *f.receive_rate,
                     .loss_event_rate = dccp::loss_event_rate(f),
                     .new_loss_event = event,
                     .lost = lost_.value()},
                    now);
}

void DccpSender::on_timeout(Time now) {
  if (on_timer(now)) return;
  if (phase_ == Phase::request)
    abort(ResetCode::aborted, Failure::no_answer);
  else
    finish(Failure::timeout);
}

void DccpSender::advance(Time now) {
  if (phase_ == Phase::idle && start_ <= now) {
    phase_ = Phase::request;
    repeat(kRequest, dccp::kRequestInterval, now);
  }
  if (stop_ <= now && phase_ < Phase::closing) close(now);
  if (repetition_.at() <= now) on_timeout(now);
  if (!sends_data()) return;
  if (tfrc_.nofeedback_timer() <= now) tfrc_.on_nofeedback(now);
  if (heard_ + dccp::kPeerTimeout <= now) abort(ResetCode::aborted, Failure::timeout);
}

bool DccpSender::build(Slot& slot, Time now) {
  if (!sends_data()) return false;
  const SenderParams& common = params_.common;
  const bool known = phase_ == Phase::open;
  const std::uint32_t header =
      known ? data_header_
            : data_header_ +
                  static_cast<std::uint32_t>(PacketWriter::kDataAckHeader - PacketWriter::kDataHeader);
  std::uint64_t payload = std::max<std::uint64_t>(common.packet.count(), header) - header;
  if (common.total_payload != 0) payload = std::min(payload, common.total_payload - sent_payload_);
  const auto length = static_cast<std::uint32_t>(header + payload);
  if (length > slot.capacity) return false;
  const std::uint8_t dscp = marker_.mark(common, length, now), counter = tfrc_.window_counter(now);
  if (known)
    writer_.write_data(slot, sequence_.next(), counter, dccp::ticks(now), length, dscp);
  else
    writer_.write_data_ack(slot, sequence_.next(), sequence_.gsr(), counter, dccp::ticks(now), length, dscp);
  if (params_.ecn && !features_.remote_ecn_incapable()) set_ect(slot);
  tfrc_.on_sent(now);
  sent_payload_ += payload;
  if (common.total_payload != 0 && sent_payload_ >= common.total_payload) close(now);
  return true;
}

std::size_t DccpSender::poll(Room room, Time now) {
  advance(now);
  std::size_t n = 0;
  while (n < room.size()) {
    if (control_pending()) {
      if (room[n].capacity < kControlRoom) break;
      if ((pending_ & kRequest) != 0) request_sent_ = now;
      ccval_ = tfrc_.window_counter(now);
      write_control(room[n++]);
    } else {
      const std::size_t built =
          send_permitted(tfrc_, room.subspan(n), now, [&](Slot& slot) { return build(slot, now); });
      if (built == 0) break;
      n += built;
    }
  }
  return n;
}

Time DccpSender::next_wakeup() const {
  if (control_pending()) return kNow;
  if (phase_ == Phase::closed) return kNever;
  if (phase_ == Phase::idle) return std::min(start_, stop_);
  if (!sends_data()) return std::min(repetition_.at(), phase_ == Phase::closing ? kNever : stop_);
  return std::min({tfrc_.next_send(), tfrc_.nofeedback_timer(), stop_, heard_ + dccp::kPeerTimeout});
}

void DccpSender::read(FlowReading& out) const {
  tfrc_.read(out);
  marker_.read(out);
  const double share =
      1 - static_cast<double>(data_header_) /
              static_cast<double>(std::max<std::uint64_t>(params_.common.packet.count(), data_header_));
  out.payload_bytes = std::min(static_cast<std::uint64_t>(arrived_bytes_ * share), sent_payload_);
  out.lost_packets = losses_.lost();
  out.loss_events = losses_.events();
}

}  // namespace surety::endpoints
