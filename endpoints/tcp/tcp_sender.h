// SPDX-License-Identifier: BSD-3-Clause
// A TCP sender: the active end of a connection that delivers StreamPattern (RFC 9293, 5681, 6582, 6298, 7323,
// 5961, 2018, 6675, 6937, 3168), with the window of a congestion control.
//
// Each of its parts has a state of its own: the segments that are out and may go out next (send_sequence.h,
// with the scoreboard of SACK), the window (congestion_controls.h), the peer's half (tcp_peer.h), the
// connection (tcp_state.h), congestion marks (ecn.h), the timer, the timing of round trips, and the writer of
// segments. TcpSender passes an event at one of them to the others.
//
// Keeps no data: any byte can be made again, so the state is the same for every window. Opens at
// Schedule::start and sends until Schedule::stop or SenderParams::total_payload, then FIN. Not more than
// min(cwnd, the peer's window, TcpParams::window) is in flight; one ACK releases what that permits, at once.
// No Nagle; silly windows are avoided (RFC 9293 3.8.6.2.1). A timeout goes back to SND.UNA and sends again in
// slow start, with SACK what has not arrived. A closed window is probed without end as long as the probes
// are acknowledged (RFC 9293 3.8.6.1).
#pragma once

#include "endpoints/engine/engine.h"
#include "endpoints/engine/marker.h"
#include "endpoints/tcp/congestion_controls.h"
#include "endpoints/tcp/ecn.h"
#include "endpoints/tcp/rtt_timing.h"
#include "endpoints/tcp/send_sequence.h"
#include "endpoints/tcp/tcp_params.h"
#include "endpoints/tcp/tcp_peer.h"
#include "endpoints/tcp/tcp_state.h"
#include "endpoints/tcp/tcp_timer.h"
#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

// Writes the segments of one TCP sender as IP packets: its ports and sequence numbers, the payload from
// StreamPattern, the checksum, and the mark of the host marker; and counts what it wrote.
class SegmentWriter {
 public:
  // `params` outlives the writer. `iss`: the initial sequence number, that of position 0 (send_sequence.h).
  SegmentWriter(const SenderParams& params, const Tuple& tuple, std::uint32_t iss, Time start);

  std::uint16_t mss() const { return mss_; }  // the MSS that we offer: it fits SenderParams::packet
  std::uint16_t default_mss() const { return ip_.header_length() == 40 ? 1220 : 536; }  // RFC 9293 3.7.1
  std::uint32_t sequence(std::uint64_t position) const { return iss_ + static_cast<std::uint32_t>(position); }

  // A segment with nothing but ports and these.
  tcp::Segment segment(std::uint32_t sequence, std::uint8_t flags) const;
  // The whole packet; the payload is the stream's [offset, offset + length). `ect`: routers may mark it.
  void write(const tcp::Segment& s, tcp::Payload payload, Slot& slot, Time now, bool ect = false);
  std::uint32_t packet_length(const tcp::Segment& s, std::uint32_t payload) const {
    return static_cast<std::uint32_t>(ip_.header_length() + tcp::header_length(s)) + payload;
  }
  void read(FlowReading& out) const { marker_.read(out); }  // sent_*

 private:
  const SenderParams* params_;
  IpWriter ip_;
  HostMarker marker_;
  std::uint32_t iss_;
  std::uint16_t local_port_, remote_port_;
  std::uint16_t mss_;
};

class TcpSender final : public Engine {
 public:
  static constexpr std::uint32_t kSynRetries = 6;
  // FIN-WAIT-2: how long a peer that has everything may take to close its half (Linux: tcp_fin_timeout).
  static constexpr Duration kFinWait2 = std::chrono::seconds(60);
  // TIME-WAIT: not 2 MSL. Our ports are not used again while the process lives, and initial sequence numbers
  // and timestamps are random, so an old duplicate finds no heir; what remains is to acknowledge the peer's
  // FIN again when our ACK was lost, and its timeout is a second (RFC 6298 2.4), then two.
  static constexpr Duration kTimeWait = std::chrono::seconds(3);

  // `params` outlives the engine.
  TcpSender(const TcpParams& params, const Tuple& tuple, const Schedule& schedule, std::uint64_t seed);
  TcpSender(const TcpSender&) = delete;  // control_ points into it
  TcpSender& operator=(const TcpSender&) = delete;

  Refusal receive(const IpPacket& packet, Time now) override;
  std::size_t poll(Room room, Time now) override;
  Time next_wakeup() const override;
  void close(Time now) override;
  FlowState state() const override { return state_.flow_state(); }
  Failure failure() const override { return state_.failure(); }
  // payload_bytes: acknowledged. lost_packets: retransmissions, without those that D-SACK reports as received
  // before (duplicate_packets); without SACK all of them (after a timeout go-back-N repeats segments that may
  // have arrived). loss_events: fast retransmits and timeouts; marks: windows reduced for a mark.
  void read(FlowReading& out) const override;

  // Window controller (engine.h): kNow while something may leave.
  Time next_send() const { return reply_ == Reply::none && due().empty() ? kNever : kNow; }

 private:
  enum class Reply : std::uint8_t { none, ack, reset };

  // Reception.
  Refusal check_ack(const tcp::Segment& s, std::int64_t ahead, Time now);
  void on_reset();
  Refusal on_syn_sent(const tcp::Segment& s, Time now);
  void establish(const tcp::Segment& s, Time now);
  void on_ack(const tcp::Segment& s, std::uint64_t ack, Time now);
  void on_new_ack(const tcp::Segment& s, const Outstanding& before, std::uint64_t ack, Time now);
  void on_told(const tcp::Segment& s, const Outstanding& before, std::uint64_t ack, Time now);
  void acknowledged(bool partial, Time now);
  void act(Answer answer);
  void on_loss();
  void on_text(const tcp::Segment& s, Time now);
  void wait_for_end(Time now);
  void sample(const tcp::Segment& s, std::uint64_t ack, Time now);
  void challenge(Time now);
  void reset(std::uint32_t sequence, Time now);
  void end(Failure failure);

  void on_timer(Time now);
  void settle(Time now);

  // Transmission.
  SendSequence::Piece due() const;
  bool build(Slot& slot, Time now);
  void build_reply(Slot& slot, Time now);
  tcp::Segment syn(Time now);
  tcp::Segment segment_at(std::uint64_t position, Time now) const;

  // The first lines are what each packet needs.
  SendSequence sequence_;
  TcpState state_{TcpState::idle};
  Reply reply_ = Reply::none;
  bool all_sent_ = false;    // poll() has sent what was due, and nothing has happened since
  std::uint32_t reset_ = 0;  // SEQ of the RST that is due
  TcpPeer peer_;
  TcpTimer timer_;
  RttTiming rtt_;
  EcnSender ecn_;
  AnyControl window_;
  NewReno* control_;  // the control in window_
  SegmentWriter writer_;
  const TcpParams* params_;
  ChallengeLimit challenges_;
  Time start_, stop_;
  std::uint64_t timeouts_ = 0, loss_events_ = 0, marks_ = 0;
};
static_assert(sizeof(TcpSender) <= kEngineBytes);

}  // namespace surety::endpoints
