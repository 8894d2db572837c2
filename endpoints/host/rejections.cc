// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/host/host.h"

#include <algorithm>
#include <cstring>

#include "endpoints/engine/demux.h"
#include "endpoints/tcp/wire_tcp.h"
#include "endpoints/tfrc/wire_dccp.h"

namespace surety::endpoints {

bool Rejections::answer_tcp(const IpPacket& packet, const Tuple& tuple, Refusal why, Slot& slot) const {
  tcp::Segment in;
  if (why != Refusal::no_listener && why != Refusal::state) return false;
  if (tcp::read(packet, in) != Refusal::none || in.has(tcp::kRst)) return false;
  // A listener resets what acknowledges, and ignores the rest.
  if (why == Refusal::state && !in.has(tcp::kAck)) return false;
  tcp::Segment out;
  out.source_port = tuple.local_port;
  out.destination_port = tuple.remote_port;
  out.flags = tcp::kRst;
  if (in.has(tcp::kAck)) {
    out.sequence = in.ack;
  } else {
    out.flags |= tcp::kAck;
    out.ack = in.sequence + in.length();
  }
  return tcp::write(out, IpWriter(tuple, kTcpProtocol), 0, slot) > 0;
}

namespace {

dccp::ResetCode reset_code(dccp::Type type, Refusal why) {
  if (type != dccp::Type::request) return dccp::ResetCode::no_connection;
  switch (why) {
    case Refusal::dccp_service:
      return dccp::ResetCode::bad_service_code;
    case Refusal::flow_limit:
      return dccp::ResetCode::too_busy;
    default:
      return dccp::ResetCode::connection_refused;
  }
}

}  // namespace

bool Rejections::answer_dccp(const IpPacket& packet, const Tuple& tuple, Refusal why, Slot& slot) const {
  dccp::Packet in;
  if (dccp::read(packet, in) != Refusal::none || in.type == dccp::Type::reset) return false;
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 48) - 1;
  dccp::Packet out;
  out.source_port = tuple.local_port;
  out.destination_port = tuple.remote_port;
  out.type = dccp::Type::reset;
  out.reset_code = reset_code(in.type, why);
  out.sequence = dccp::has_ack(in.type) ? (in.ack + 1) & kMask : 0;
  out.ack = in.sequence;
  dccp::PacketWriter(tuple, {packet.udp_destination, packet.udp_source}).write(slot, out, {}, 0);
  return true;
}

void Rejections::consider(const IpPacket& packet, Transport transport, const Tuple& tuple, Refusal why,
                          Time now) {
  if (transport == Transport::udp || size_ == answers_.size() || !limit_.permit(now)) return;
  Answer& a = answers_[size_];
  Slot slot{a.bytes.data(), static_cast<std::uint32_t>(a.bytes.size()), 0};
  if (transport == Transport::tcp ? !answer_tcp(packet, tuple, why, slot)
                                  : !answer_dccp(packet, tuple, why, slot))
    return;
  a.length = slot.length;
  ++size_;
}

std::size_t Rejections::write(Room room) {
  if (size_ == 0) return 0;
  const std::size_t n = std::min<std::size_t>(room.size(), size_);
  for (std::size_t i = 0; i < n; ++i) {
    std::memcpy(room[i].data, answers_[i].bytes.data(), answers_[i].length);
    room[i].length = answers_[i].length;
  }
  size_ -= static_cast<std::uint32_t>(n);
  std::move(answers_.begin() + static_cast<std::ptrdiff_t>(n),
            answers_.begin() + static_cast<std::ptrdiff_t>(n + size_), answers_.begin());
  return n;
}

}  // namespace surety::endpoints
