// SPDX-License-Identifier: BSD-3-Clause
// The sink of a TFRC or gTFRC flow as a DCCP server (RFC 4340, RFC 4342), native or in UDP (RFC 6773).
//
// Answers the Request, counts what arrives and acknowledges with CCID 3's feedback: Timestamp Echo with
// elapsed time, Loss Event Rate, Receive Rate and Loss Intervals. Feedback is due at the first data packet,
// at every new loss event, and once per round-trip time of the sender's window counter (RFC 4342 6, 8.1);
// also for DataAck packets, whose sender has got nothing from us, and before the Reset that answers a Close.
// The receiver's own round-trip time, from the handshake and the counter, serves the first loss interval and
// the Receive Rate's window only.
//
// A flow ends with the sender's Close, with close() (CloseReq, then the sender's Close), or after
// kPeerTimeout (480 s) without a valid packet. A packet that comes after the end is answered with the Reset
// again. A congestion mark of a data packet is a loss to TFRC (RFC 5348 5.1), and delivered nevertheless.
#pragma once

#include "endpoints/engine/arrivals.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/sink_params.h"
#include "endpoints/tfrc/dccp_connection.h"
#include "endpoints/tfrc/dccp_feedback.h"
#include "endpoints/tfrc/dccp_params.h"
#include "endpoints/tfrc/feedback_rounds.h"
#include "endpoints/tfrc/loss_intervals.h"
#include "endpoints/tfrc/receive_rate.h"

namespace surety::endpoints {

class DccpReceiver final : public DccpConnection {
 public:
  // `request` is a readable Request (DccpAcceptor sees to it); with another service code than kServiceCode,
  // or without CCID 3, the flow only answers it with a Reset. receive() may be given it again.
  DccpReceiver(const SinkParams& params, const Tuple& tuple, const IpPacket& request, Time now,
               std::uint64_t seed);

  Refusal receive(const IpPacket& packet, Time now) override;
  std::size_t poll(Room room, Time now) override;
  Time next_wakeup() const override;
  void close(Time now) override;
  void read(FlowReading& out) const override;

 private:
  Refusal on_request(const dccp::Packet& p, Time now);
  void open(const dccp::Packet& p, Time now);
  void on_data(const IpPacket& packet, const dccp::Packet& p, std::uint64_t sequence, Time now);
  void write_feedback(Slot& slot, Time now);
  void advance(Time now);

  const SinkParams& params_;
  Arrivals arrivals_;
  std::uint64_t newest_data_ = 0;  // sequence number; its Timestamp and arrival:
  std::optional<std::uint32_t> timestamp_;
  Time newest_at_{};
  bool feedback_due_ = false;
  FeedbackRounds rounds_;
  std::uint64_t delay_ticks_ = 0;
  ReceiveRate rate_;
  LossIntervals losses_;
  Time response_sent_{}, silence_{};
};
static_assert(sizeof(DccpReceiver) <= kEngineBytes);

class DccpAcceptor final : public Acceptor {
 public:
  DccpAcceptor(const SinkParams& params, std::uint64_t seed) : params_(&params), seed_(seed) {}
  // Refusals: those of dccp::read(), and state for what is no Request.
  Engine* accept(void* room, const Tuple& tuple, const IpPacket& first, Time now, Refusal& refusal) override;
  std::size_t engine_bytes() const override { return sizeof(DccpReceiver); }

 private:
  const SinkParams* params_;
  std::uint64_t seed_;
};

}  // namespace surety::endpoints
