// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/udp/udp_sender.h"

#include <limits>

namespace surety::endpoints {

using udp::ReceiverReport;

UdpSender::UdpSender(const UdpParams& params, const Tuple& tuple, const Schedule& schedule)
    : params_(&params),
      cbr_(params.common.packet, params.rate, params.on, params.off, schedule.start),
      remaining_(params.common.total_payload != 0 ? params.common.total_payload
                                                  : std::numeric_limits<std::uint64_t>::max()),
      marker_(params.common, schedule.start),
      ip_(tuple, udp::kProtocol),
      tuple_(tuple),
      stop_(schedule.stop) {
  payload_ =
      static_cast<std::uint32_t>(params.common.packet.count() - ip_.header_length() - udp::kHeaderBytes);
}

bool UdpSender::build(Slot& slot, Time now) {
  if (remaining_ == 0) return false;
  std::size_t payload = payload_;
  if (remaining_ < payload) [[unlikely]]
    payload = std::max<std::size_t>(remaining_, udp::kPayloadHeaderBytes);
  const std::size_t length = ip_.header_length() + udp::kHeaderBytes + payload;
  if (slot.capacity < length) [[unlikely]] {
    failure_ = Failure::refused;
    remaining_ = 0;
    return false;
  }
  const std::uint8_t dscp = marker_.mark(params_->common, static_cast<std::uint32_t>(length), now);
  udp::write_data(ip_, dscp, tuple_, sequence_++, static_cast<std::uint64_t>(now.time_since_epoch().count()),
                  payload, slot);
  remaining_ -= std::min<std::uint64_t>(remaining_, payload);
  cbr_.on_sent(now);
  return true;
}

std::size_t UdpSender::poll(Room room, Time now) {
  if (state_ >= FlowState::closing) {
    if (now >= linger_end_) state_ = FlowState::closed;
    return 0;
  }
  if (now >= cbr_.next_send()) state_ = FlowState::open;
  // Packets due before the stop leave, even if the caller comes late.
  const Time until = std::min(now, stop_ - Duration(1));
  const std::size_t n = send_permitted(cbr_, room, until, [&](Slot& slot) { return build(slot, now); });
  if (remaining_ == 0 || (n < room.size() && now >= stop_)) finish(now);
  return n;
}

Time UdpSender::next_wakeup() const {
  if (state_ >= FlowState::closing) return state_ == FlowState::closed ? kNever : linger_end_;
  return std::min(cbr_.next_send(), stop_);
}

void UdpSender::finish(Time now) {
  linger_end_ = now + kLinger;
  state_ = marker_.packets() == 0 || failure_ != Failure::none ? FlowState::closed : FlowState::closing;
}

void UdpSender::close(Time now) {
  if (state_ < FlowState::closing) finish(now);
}

// True if one sink can have received this of what this sender has sent.
bool UdpSender::believable(const ReceiverReport& r) const {
  const std::uint64_t fresh = r.packets - r.duplicates;
  const bool possible = r.duplicates <= r.packets && fresh <= marker_.packets() &&
                        r.lost <= marker_.packets() - fresh && r.in_packets <= r.packets &&
                        r.in_bytes <= r.bytes && r.payload_bytes <= r.bytes &&
                        r.payload_bytes <= marker_.bytes() && r.reordered <= fresh;
  return possible && r.follows(report_);
}

Refusal UdpSender::receive(const IpPacket& packet, Time now) {
  if (state_ == FlowState::closed) return Refusal::closed;
  udp::Datagram datagram;
  udp::PayloadHeader header;
  ReceiverReport report;
  if (const Refusal r = udp::read(packet, datagram); r != Refusal::none) return r;
  if (const Refusal r = udp::read_payload(datagram.payload, header); r != Refusal::none) return r;
  if (header.type != udp::Type::report) return Refusal::state;
  if (const Refusal r = udp::read_report(datagram.payload, report); r != Refusal::none) return r;
  if (reported_ && static_cast<std::int32_t>(header.sequence - report_number_) <= 0)
    return Refusal::duplicate;
  if (!believable(report)) return Refusal::state;
  reported_ = true;
  report_number_ = header.sequence;
  report_ = report;
  const bool accounted = report.packets - report.duplicates + report.lost == marker_.packets();
  if (state_ == FlowState::closing && accounted) linger_end_ = now;
  return Refusal::none;
}

void UdpSender::read(FlowReading& out) const {
  marker_.read(out);
  report_.read(out);
  out.sending = params_->rate;
}

Cbr::Cbr(Bytes packet, Rate rate, Duration on, Duration off, Time start)
    : next_(start), rate_(rate.bits_per_second()), on_(on), off_(off) {
  const std::uint64_t bit_nanoseconds = packet.bits() * 1'000'000'000;
  step_ = Duration(static_cast<std::int64_t>(bit_nanoseconds / rate_));
  remainder_ = bit_nanoseconds % rate_;
  if (off_ > Duration::zero()) phase_end_ = start + on_;
}

void Cbr::skip_off() {
  const std::int64_t phases = (next_ - phase_end_) / on_ + 1;
  Duration::rep pause, whole;
  const bool overflow = __builtin_mul_overflow(phases, off_.count(), &pause) ||
                        __builtin_mul_overflow(phases, (on_ + off_).count(), &whole) ||
                        __builtin_add_overflow(next_.time_since_epoch().count(), pause, &pause) ||
                        __builtin_add_overflow(phase_end_.time_since_epoch().count(), whole, &whole);
  next_ = overflow ? kNever : Time(Duration(pause));
  phase_end_ = overflow ? kNever : Time(Duration(whole));
}

void Cbr::resume(Time now) {
  next_ = now;
  excess_ = 0;
  if (now < phase_end_) return;
  const Duration period = on_ + off_;
  phase_end_ += ((now - phase_end_) / period + 1) * period;
  next_ = std::max(now, phase_end_ - on_);
}

}  // namespace surety::endpoints
