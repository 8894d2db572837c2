// SPDX-License-Identifier: BSD-3-Clause
// A UDP sink: one flow of a Surety sender, or any other UDP, of which only the bytes count.
//
// Reports to the sender what has arrived once a second while packets come, and once more kQuiet after the
// last; never more bytes than it got from it, so that a forged source gains nothing. Sequence numbers: see
// sequence_window.h; a sender that restarts on the same ports begins with reports from zero. The flow is
// closed kIdle after its last packet (RFC 4787, REQ-5). One-way delay is received time - sending time, and
// means something only where both ends share a clock.
#pragma once

#include "endpoints/engine/engine.h"
#include "endpoints/engine/sequence_window.h"
#include "endpoints/engine/sink_params.h"
#include "endpoints/udp/wire_udp.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::endpoints {

class UdpSink final : public Engine {
 public:
  static constexpr Duration kReportInterval = std::chrono::seconds(1);
  static constexpr Duration kQuiet = std::chrono::milliseconds(500);
  static constexpr Duration kIdle = std::chrono::minutes(2);

  // `first` is the packet that begins the flow; it is counted when it is given to receive().
  UdpSink(const SinkParams& params, const Tuple& tuple, const IpPacket& first, Time now);

  // Refusals: those of wire_udp.h; not_ours and duplicate, whose bytes count all the same;
  // state: a report; closed.
  Refusal receive(const IpPacket& packet, Time now) override;
  std::size_t poll(Room room, Time now) override;
  Time next_wakeup() const override { return wake_; }
  void close(Time now) override;  // one more report, if something is new
  FlowState state() const override { return state_; }
  void read(FlowReading& out) const override;

 private:
  void count(const IpPacket& packet, const udp::Datagram& datagram, bool fresh);
  void on_restart();
  bool may_report() const;
  void arrange(Time now);
  void report(Slot& slot, Time now);
  udp::ReceiverReport since_start() const;

  const SinkParams* params_;
  Time wake_;
  Time last_arrival_;
  FlowState state_ = FlowState::open;
  bool news_ = false;  // since the last report
  std::uint32_t reports_ = 0;
  udp::ReceiverReport total_;    // without lost packets, which window_ counts
  std::uint64_t delay_sum_ = 0;  // ns, modulo 2^64
  SequenceWindow window_;
  std::uint64_t first_time_ = 0;  // sending time of number 0, once seen
  bool zero_seen_ = false;
  Time last_report_;
  udp::ReceiverReport base_;  // total_ when the sender last restarted
  std::uint64_t foreign_packets_ = 0, foreign_bytes_ = 0, foreign_payload_ = 0;
  std::uint64_t reported_bytes_ = 0;
  Tuple tuple_;
  IpWriter ip_;
};
static_assert(sizeof(UdpSink) <= kEngineBytes);

class UdpAcceptor final : public Acceptor {
 public:
  // `params` outlives the acceptor and its flows.
  explicit UdpAcceptor(const SinkParams& params) : params_(&params) {}
  // Refuses what read() refuses, and a report (state).
  Engine* accept(void* room, const Tuple& tuple, const IpPacket& first, Time now, Refusal& refusal) override;
  std::size_t engine_bytes() const override { return sizeof(UdpSink); }

 private:
  const SinkParams* params_;
};

}  // namespace surety::endpoints
