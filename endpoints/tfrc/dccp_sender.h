// SPDX-License-Identifier: BSD-3-Clause
// A TFRC or gTFRC sender as a DCCP client (RFC 4340, RFC 4342), native or in UDP (RFC 6773).
//
// Life: idle until `start`; Request, repeated after 1, 2, 4, 8, 16 s and given up 32 s after the sixth
// (no_answer); then data in DataAck packets until anything but a Response comes back (PARTOPEN), and in Data
// packets; at `stop`, after `total_payload`, or by close(): Close, repeated like the Request but with two
// round-trip times to begin with, until the peer's Reset. A peer from which nothing valid comes for
// kPeerTimeout (480 s) is gone (timeout); until then the nofeedback timer slows X down to a packet in 64 s.
//
// Every data packet is an IP packet of exactly common.packet bytes (the last one of total_payload may be
// shorter), carries a Timestamp, and is paced by TfrcSender. Hostile or impossible feedback (an echo of what
// was never sent, an elapsed time above the round trip) is not used.
//
// Data packets may be marked: always ECT(0), without the nonce of RFC 4340 12.2, which RFC 8311 5 has taken
// back, so that the nonce echo of Loss Intervals is neither made nor looked at.
//
// read(): sent_* count data packets; payload_bytes is estimated, X_recv integrated over the time between
// feedback, less headers; lost_packets as in LossAccount.
#pragma once

#include "endpoints/engine/marker.h"
#include "endpoints/tfrc/dccp_connection.h"
#include "endpoints/tfrc/dccp_feedback.h"
#include "endpoints/tfrc/dccp_params.h"
#include "endpoints/tfrc/lost_part.h"
#include "endpoints/tfrc/tfrc.h"

namespace surety::endpoints {

class DccpSender final : public DccpConnection {
 public:
  DccpSender(const DccpParams& params, const Tuple& tuple, const Schedule& schedule, std::uint64_t seed);

  Refusal receive(const IpPacket& packet, Time now) override;
  std::size_t poll(Room room, Time now) override;
  Time next_wakeup() const override;
  void close(Time now) override;
  void read(FlowReading& out) const override;

 private:
  Refusal receive_in_request(const dccp::Packet& p, Time now);
  Refusal accept_response(const dccp::Packet& p, Time now);
  Refusal answer_stray(const dccp::Packet& p, Time now);
  void on_feedback(const dccp::Packet& p, Time now);
  void advance(Time now);
  void on_timeout(Time now);
  bool sends_data() const { return phase_ == Phase::open || phase_ == Phase::partopen; }
  bool build(Slot& slot, Time now);

  const DccpParams& params_;
  TfrcSender tfrc_;
  Time stop_;
  std::uint64_t sent_payload_ = 0;
  HostMarker marker_;
  std::uint32_t data_header_;  // bytes before the payload of a Data packet, IP included

  Time start_;
  Time request_sent_{};                  // the last one
  Time reported_until_{};                // the feedback's moment, in our time
  Time reported_at_{};                   // the arrival of the last feedback
  std::uint64_t feedback_sequence_ = 0;  // sequence number of the newest feedback
  double arrived_bytes_ = 0;             // IP bytes, by X_recv
  dccp::LossAccount losses_;
  LostPart lost_;
  std::uint64_t acknowledged_ = 0;  // number in the newest feedback with a rate; 0: none
};
static_assert(sizeof(DccpSender) <= kEngineBytes);

}  // namespace surety::endpoints
