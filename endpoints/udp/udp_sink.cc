// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/udp/udp_sink.h"

#include <new>

namespace surety::endpoints {

using Arrival = SequenceWindow::Arrival;
using udp::ReceiverReport;

UdpSink::UdpSink(const SinkParams& params, const Tuple& tuple, const IpPacket&, Time now)
    : params_(&params),
      wake_(now + kIdle),
      last_arrival_(now),
      last_report_(now),
      tuple_(tuple),
      ip_(tuple, udp::kProtocol) {}

void UdpSink::count(const IpPacket& packet, const udp::Datagram& datagram, bool fresh) {
  const std::uint64_t in = params_->counts_as_in(packet.dscp()) ? 1 : 0;
  ++total_.packets;
  total_.bytes += packet.length;
  total_.in_packets += in;
  total_.in_bytes += packet.length & -in;
  total_.payload_bytes += fresh ? datagram.payload.size() : 0;
}

void UdpSink::on_restart() {
  base_ = total_;
  reported_bytes_ = 0;
}

Refusal UdpSink::receive(const IpPacket& packet, Time now) {
  if (state_ != FlowState::open) return Refusal::closed;
  udp::Datagram datagram;
  udp::PayloadHeader header;
  if (const Refusal r = udp::read(packet, datagram); r != Refusal::none) return r;
  last_arrival_ = now;
  if (udp::read_payload(datagram.payload, header) != Refusal::none) [[unlikely]] {
    ++foreign_packets_;
    foreign_bytes_ += packet.length;
    foreign_payload_ += datagram.payload.size();
    return Refusal::not_ours;
  }
  if (header.type != udp::Type::data) [[unlikely]]
    return Refusal::state;
  if (header.sequence == 0) [[unlikely]] {
    if (zero_seen_ && header.time != first_time_ && !window_.about_to_wrap()) {
      window_.restart();
      on_restart();
    }
    first_time_ = header.time;
    zero_seen_ = true;
  }
  const Arrival arrival = window_.on_packet(header.sequence);
  if (arrival == Arrival::restart) [[unlikely]]
    on_restart();
  count(packet, datagram, arrival != Arrival::duplicate);
  total_.duplicates += arrival == Arrival::duplicate ? 1 : 0;
  total_.reordered += arrival == Arrival::reordered ? 1 : 0;
  delay_sum_ += static_cast<std::uint64_t>(now.time_since_epoch().count()) - header.time;
  news_ = true;
  wake_ = std::min(wake_, now + kQuiet);
  return arrival == Arrival::duplicate ? Refusal::duplicate : Refusal::none;
}

// Counted since the sender began.
ReceiverReport UdpSink::since_start() const {
  ReceiverReport r = total_ - base_;
  r.lost = window_.lost();
  return r;
}

bool UdpSink::may_report() const {
  const std::size_t length = ip_.header_length() + udp::kHeaderBytes + udp::kReportBytes;
  return news_ && reported_bytes_ + length <= total_.bytes - base_.bytes;
}

void UdpSink::report(Slot& slot, Time now) {
  reported_bytes_ +=
      udp::write_report(ip_, tuple_, reports_++, static_cast<std::uint64_t>(now.time_since_epoch().count()),
                        since_start(), slot);
  last_report_ = now;
  news_ = false;
}

std::size_t UdpSink::poll(Room room, Time now) {
  if (now < wake_ || room.empty() || state_ == FlowState::closed) return 0;
  const bool due =
      state_ == FlowState::closing || now >= last_arrival_ + kQuiet || now >= last_report_ + kReportInterval;
  std::size_t n = 0;
  if (due && may_report()) {
    report(room[0], now);
    n = 1;
  }
  arrange(now);
  return n;
}

// Sets the time of the next report or of the end.
void UdpSink::arrange(Time now) {
  wake_ = last_arrival_ + kIdle;
  if (may_report()) wake_ = std::min(last_arrival_ + kQuiet, last_report_ + kReportInterval);
  if (state_ == FlowState::closing || wake_ <= now) {
    state_ = FlowState::closed;
    wake_ = kNever;
  }
}

void UdpSink::close(Time now) {
  if (state_ != FlowState::open) return;
  state_ = may_report() ? FlowState::closing : FlowState::closed;
  wake_ = state_ == FlowState::closing ? now : kNever;
}

void UdpSink::read(FlowReading& out) const {
  out.sent_packets = reports_;
  total_.read(out);
  out.received_packets += foreign_packets_;
  out.received_bytes += foreign_bytes_;
  out.payload_bytes += foreign_payload_;
  out.lost_packets = window_.lost_in_all();
  out.one_way_delay_sum = static_cast<double>(static_cast<std::int64_t>(delay_sum_)) * 1e-9;
}

Engine* UdpAcceptor::accept(void* room, const Tuple& tuple, const IpPacket& first, Time now,
                            Refusal& refusal) {
  udp::Datagram datagram;
  udp::PayloadHeader header;
  refusal = udp::read(first, datagram);
  if (refusal != Refusal::none) return nullptr;
  if (udp::read_payload(datagram.payload, header) == Refusal::none && header.type != udp::Type::data) {
    refusal = Refusal::state;
    return nullptr;
  }
  return new (room) UdpSink(*params_, tuple, first, now);
}

}  // namespace surety::endpoints
