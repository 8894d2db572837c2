// SPDX-License-Identifier: BSD-3-Clause
// A TCP sink: the passive end of a connection that takes what comes (RFC 9293, 5681 4.2, 5961, 7323).
//
// Each of its parts has a state of its own: the sequence space (receive_sequence.h), the acknowledgements
// that are due (due_acks.h), the SYNs' options and timestamps (sink_options.h), the bytes (stream_check.h),
// its own SYN and FIN (tcp_output.h). TcpReceiver passes a segment through the checks of the RFCs to them.
//
// Delivers in order, checks bytes against StreamPattern, keeps none: only ranges are kept beyond RCV.NXT, and
// reported by SACK and D-SACK (RFC 2018, 2883); congestion marks are echoed (RFC 3168): both if the peer
// offers them. The window is always SinkParams::window, so it never shrinks. The receiver closes when its
// peer does. It sends SYN, FIN and ACKs; TcpOutput lets a derived sink send a few bytes (iperf3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "conditioners/rng.h"
#include "endpoints/engine/arrivals.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/sink_params.h"
#include "endpoints/tcp/due_acks.h"
#include "endpoints/tcp/ecn.h"
#include "endpoints/tcp/receive_sequence.h"
#include "endpoints/tcp/sack_report.h"
#include "endpoints/tcp/sink_options.h"
#include "endpoints/tcp/stream_check.h"
#include "endpoints/tcp/tcp_output.h"
#include "endpoints/tcp/tcp_state.h"
#include "endpoints/tcp/wire_tcp.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::endpoints {

// Writes the segments of one TCP sink as IP packets of best effort, and counts them.
class ReplyWriter {
 public:
  explicit ReplyWriter(const Tuple& tuple)
      : ip_(tuple, tcp::kProtocol), local_port_(tuple.local_port), remote_port_(tuple.remote_port) {}

  // A segment with nothing but ports and these.
  tcp::Segment segment(std::uint32_t sequence, std::uint8_t flags) const;
  void write(const tcp::Segment& s, Slot& slot);
  void read(FlowReading& out) const;  // sent_*

 private:
  IpWriter ip_;
  std::uint16_t local_port_, remote_port_;
  std::uint64_t packets_ = 0, bytes_ = 0;
};

class TcpReceiver : public Engine {
 public:
  // Nothing acceptable for so long: the peer has gone (RFC 9293 3.9.1.1: the user timeout).
  static constexpr Duration kSilence = std::chrono::minutes(5);
  // Not 2 MSL: ports here are the sinks', so an old duplicate meets a listener. Long enough to acknowledge
  // the peer's FIN again twice (its timeout is at least 1 s, doubled).
  static constexpr Duration kTimeWait = std::chrono::seconds(3);

  // `syn` is what TcpAcceptor lets through: a SYN that decodes. `params` outlives the engine.
  TcpReceiver(const SinkParams& params, const Tuple& tuple, const IpPacket& syn, Time now,
              std::uint64_t seed);

  Refusal receive(const IpPacket& packet, Time now) override;
  std::size_t poll(Room room, Time now) override;
  Time next_wakeup() const override;
  void close(Time now) override;
  FlowState state() const override { return state_.flow_state(); }
  Failure failure() const override { return state_.failure(); }
  void read(FlowReading& out) const override;

  // Payload bytes that differ from StreamPattern (stream_check.h).
  std::uint64_t mismatches() const { return stream_.mismatches(); }
  std::uint64_t delivered() const { return sequence_.delivered(); }  // payload bytes
  Time heard() const { return heard_; }                              // the last acceptable segment

 protected:
  // For a sink that reads: with `reads` set nothing is taken out of order and on_bytes() sees each byte once.
  virtual void on_bytes(std::span<const std::uint8_t>, Time) {}
  virtual bool may_be_silent(Time) const { return false; }  // called when kSilence has passed
  void read_bytes(bool reads) { reads_ = reads; }
  TcpOutput& output() { return output_; }
  void end(Failure failure) { state_.end(failure); }  // at once, and silently

 private:
  using Text = ReceiveSequence::Text;

  TcpReceiver(const SinkParams& params, const Tuple& tuple, const IpPacket& packet, const tcp::Segment& syn,
              Time now, std::uint64_t seed);
  Refusal read_intact(const IpPacket& packet, tcp::Segment& s);
  Refusal on_reset(const tcp::Segment& s, Time now);
  Refusal on_syn(const tcp::Segment& s, Time now);
  Refusal on_unacceptable(const IpPacket& packet, const tcp::Segment& s, Time now);
  Refusal check_timestamps(const tcp::Segment& s, Time now);
  Refusal check_ack(const tcp::Segment& s, Time now);
  void on_ack(const tcp::Segment& s, Time now);
  Refusal on_text(const tcp::Segment& s, Time now);
  Refusal take_beyond(const Text& text);
  void deliver(const Text& text, Time now);
  void on_fin(Time now);
  void count(const IpPacket& packet, const tcp::Segment& s);

  void acknowledge() { acknowledge(sequence_.next(), {}); }
  void acknowledge(std::uint32_t cause, const tcp::Block& twice) {
    acks_.add({sequence_.next(), cause, twice});
  }
  void challenge(Time now);
  void answer(const tcp::Segment& s, Time now);
  void expire(Time now);
  bool build(Slot& slot, Time now);
  tcp::Segment own(const TcpOutput::Piece& piece, Time now);
  tcp::Segment ack(const DueAcks::Due& due, Time now);
  tcp::Segment blank(std::uint32_t sequence, Time now) const;

  // The first lines are what each data segment needs.
  TcpState state_{TcpState::syn_received};  // CLOSE-WAIT is left at once
  bool reads_ = false;
  EcnEcho ecn_;
  SinkOptions options_;
  TimestampEcho timestamps_;
  StreamCheck stream_;
  Time heard_;
  const SinkParams* params_;
  Arrivals arrivals_;
  TcpOutput output_;
  ReplyWriter writer_;
  ReceiveSequence sequence_;
  DueAcks acks_;

  Time alarm_;                             // next check for silence or TIME-WAIT
  std::optional<std::uint32_t> reset_;     // SEQ of the RST that is due
  std::uint32_t largest_peer_window_ = 0;  // MAX.SND.WND
  ChallengeLimit challenges_;
  SackReport report_;
};
static_assert(sizeof(TcpReceiver) <= kEngineBytes);

class TcpAcceptor : public Acceptor {
 public:
  TcpAcceptor(const SinkParams& params, std::uint64_t seed) : params_(&params), rng_(seed) {}

  // Refuses what read() refuses, and, as `state`, all but a SYN alone.
  Engine* accept(void* room, const Tuple& tuple, const IpPacket& first, Time now, Refusal& refusal) override;
  std::size_t engine_bytes() const override { return sizeof(TcpReceiver); }

  static Refusal check_syn(const IpPacket& first);

 private:
  const SinkParams* params_;
  Rng rng_;
};

}  // namespace surety::endpoints
