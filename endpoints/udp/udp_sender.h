// SPDX-License-Identifier: BSD-3-Clause
// A UDP sender: a constant bit rate, always or on and off, with sequence numbers and sending times.
//
// Sends whole packets of UdpParams::common.packet bytes from Schedule::start on while the time is before
// Schedule::stop, or until total_payload bytes of UDP payload have left (the last packet is shorter, but
// never below the 16-byte header). The sink's reports count what arrived; after the last packet the sender
// waits kLinger for the last report (`closing`), less if everything is accounted for. A packet that its slot
// cannot hold ends the flow: Failure::refused.
#pragma once

#include "endpoints/engine/acceptor.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/marker.h"
#include "endpoints/udp/cbr.h"
#include "endpoints/udp/udp_params.h"
#include "endpoints/udp/wire_udp.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::endpoints {

class UdpSender final : public Engine {
 public:
  static constexpr Duration kLinger = std::chrono::seconds(3);

  // `params` outlives the flow; common.packet holds at least the headers.
  UdpSender(const UdpParams& params, const Tuple& tuple, const Schedule& schedule);

  // Takes reports. Refusals: those of wire_udp.h; state: data, or counters that go back or claim more than
  // was sent; duplicate: a report not newer than the last; closed.
  Refusal receive(const IpPacket& packet, Time now) override;
  std::size_t poll(Room room, Time now) override;
  Time next_wakeup() const override;
  void close(Time now) override;
  FlowState state() const override { return state_; }
  Failure failure() const override { return failure_; }
  // received_*, payload_bytes, lost, duplicates and reordered as last reported.
  void read(FlowReading& out) const override;

 private:
  bool build(Slot& slot, Time now);
  void finish(Time now);
  bool believable(const udp::ReceiverReport& r) const;

  const UdpParams* params_;
  Cbr cbr_;
  std::uint32_t payload_;  // payload of a full packet
  std::uint32_t sequence_ = 0;
  std::uint64_t remaining_;  // payload to send; as good as without end where the parameters say none
  std::uint64_t sent_packets_ = 0, sent_bytes_ = 0, sent_in_packets_ = 0;
  HostMarker marker_;
  IpWriter ip_;
  Tuple tuple_;
  Time stop_;
  FlowState state_ = FlowState::idle;
  Failure failure_ = Failure::none;
  bool reported_ = false;
  std::uint32_t report_number_ = 0;
  Time linger_end_ = kNever;
  udp::ReceiverReport report_;
};
static_assert(sizeof(UdpSender) <= kEngineBytes);

}  // namespace surety::endpoints
