// SPDX-License-Identifier: BSD-3-Clause
// A TCP sender: the active end of a connection that delivers StreamPattern (RFC 9293, 5681, 6582, 6298, 7323,
// 5961), with the window of Reno, NewReno or GTCP.
//
// Keeps no data: any byte can be made again, so the state is the same for every window. Opens at
// Schedule::start and sends until Schedule::stop or SenderParams::total_payload, then FIN. Not more than
// min(cwnd, the peer's window, TcpParams::window) is in flight; one ACK releases what that permits, at once.
// No ECN, SACK, limited transmit, or Nagle; silly windows are avoided (RFC 9293 3.8.6.2.1). A timeout goes
// back to SND.UNA and sends again in slow start. A closed window is probed without end as long as the probes
// are acknowledged (RFC 9293 3.8.6.1).
//
// Positions are 64-bit and count from the initial sequence number: SYN is 0, byte i of the stream is i + 1,
// FIN comes last.
#pragma once

#include <variant>

#include "endpoints/engine/acceptor.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/marker.h"
#include "endpoints/tcp/challenge_limit.h"
#include "endpoints/tcp/gtcp.h"
#include "endpoints/tcp/rto.h"
#include "endpoints/tcp/tcp_params.h"
#include "endpoints/tcp/tcp_peer.h"
#include "endpoints/tcp/wire_tcp.h"
#include "router/wire/ip_writer.h"

namespace surety::endpoints {

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
  FlowState state() const override;
  Failure failure() const override { return failure_; }
  // payload_bytes: acknowledged. lost_packets = retransmitted_packets: without SACK a sender knows no better
  // (after a timeout go-back-N repeats what may have arrived). loss_events: fast retransmits and timeouts.
  void read(FlowReading& out) const override;

  // Of the window controller (engine.h): kNow while something may leave.
  Time next_send() const { return due() == Due::nothing ? kNever : kNow; }

 private:
  // RFC 9293 3.3.2, in an order that the comparisons rely on.
  enum class State : std::uint8_t {
    idle,  // before Schedule::start
    syn_sent,
    syn_received,
    established,
    close_wait,
    fin_wait_1,
    closing,
    last_ack,
    fin_wait_2,
    time_wait,
    closed
  };
  enum class Timer : std::uint8_t { none, retransmit, persist, wait };
  enum class Reply : std::uint8_t { none, ack, reset };
  enum class Due : std::uint8_t { nothing, reset, ack, syn, probe, retransmit, forced, next };
  struct Piece {
    std::uint32_t length = 0;
    bool fin = false;
    bool empty() const { return length == 0 && !fin; }
  };

  // tcp_sender.cc: what comes in.
  Refusal check_ack(const tcp::Segment& s, std::int64_t ahead, Time now);
  void on_reset();
  Refusal on_syn_sent(const tcp::Segment& s, Time now);
  void establish(const tcp::Segment& s, Time now);
  void on_ack(const tcp::Segment& s, std::uint64_t ack, Time now);
  void on_new_ack(const tcp::Segment& s, std::uint64_t ack, Time now);
  void on_fin_acknowledged(Time now);
  void on_duplicate_ack();
  void on_text(const tcp::Segment& s, Time now);
  void sample(const tcp::Segment& s, std::uint64_t ack, Time now);
  void challenge(Time now);
  void reset(std::uint32_t sequence, Time now);
  void end(Failure failure);

  // tcp_timers.cc
  void on_timer(Time now);
  void on_timeout(Time now);
  void go_back();
  void settle(Time now);
  void start(Timer timer, Time now);
  void stop_timer();
  void wait(State state, Duration time, Time now);

  // tcp_transmit.cc: what goes out.
  Due due() const;
  std::uint64_t permitted() const { return una_ + std::min(control_->cwnd(), limit_); }
  Piece piece(std::uint64_t from, std::uint64_t permitted) const;
  Piece lost_piece() const;
  Piece probe_piece() const;
  bool build(Slot& slot, Time now);
  void build_syn(Slot& slot, Time now);
  void build_reset(Slot& slot, Time now);
  void build_data(Slot& slot, std::uint64_t from, Piece p, Time now);
  void build_next(Slot& slot, std::uint64_t from, Piece p, Time now);
  void count_data(std::uint64_t from, std::uint64_t to, Time now);
  tcp::Segment blank(std::uint64_t position, Time now) const;
  void write(const tcp::Segment& s, tcp::Payload payload, Slot& slot, Time now);

  std::uint32_t wire(std::uint64_t position) const { return initial_ + static_cast<std::uint32_t>(position); }
  // The timestamp clock: 1.024 us, within RFC 7323 5.4 (a lap takes longer than any packet lives), because
  // GTCP's cwnd_G is no better than its least round-trip time. A shift, not a division.
  static constexpr int kTickShift = 10;
  static constexpr Duration kTick{1 << kTickShift};
  std::uint32_t ticks(Time now) const {
    return clock_ + static_cast<std::uint32_t>(now.time_since_epoch().count() >> kTickShift);
  }
  Outstanding outstanding() const { return {una_, next_, max_, std::uint64_t{forced_due_} * smss_}; }
  // Sending again from SND.NXT ends where what was forced since begins: that is in flight.
  void advance(std::uint64_t to) {
    next_ = std::max(next_, to);
    if (next_ >= resend_end_) next_ = max_;
  }

  // The first lines are what each packet needs.
  std::uint64_t una_ = 0, next_ = 0, max_ = 0;  // SND.UNA, SND.NXT, SND.MAX
  std::uint64_t resend_end_ = 0;                // go-back-N goes on up to here
  std::uint64_t data_end_;                      // the position of our FIN, or far away
  std::uint64_t limit_ = 0;                     // most bytes in flight
  std::uint32_t initial_;                       // ISS
  std::uint32_t smss_ = 0;
  State state_ = State::idle;
  Timer timer_ = Timer::none;
  Reply reply_ = Reply::none;
  Failure failure_ = Failure::none;
  bool peer_closed_ = false;  // its FIN was taken
  bool closing_ = false;      // FIN follows data_end_
  bool lost_due_ = false;     // the segment at SND.UNA is to be sent again at once
  bool probe_due_ = false;
  bool partial_seen_ = false;     // a partial ACK in this fast recovery
  std::uint32_t forced_due_ = 0;  // new segments that GTCP forces
  TcpPeer peer_;
  NewReno* control_ = nullptr;  // once established
  Time timer_at_ = kNever;
  Time timed_at_{};              // when it was sent
  std::uint64_t timed_end_ = 0;  // the ACK of this is a sample of SRTT; zero: the next new segment begins one
  Time timed_out_at_{};          // last
  RttEstimator rtt_;
  RetransmissionTimeout rto_;
  std::variant<NewReno, Gtcp> window_;
  const TcpParams* params_;
  RtoParams rto_params_;
  HostMarker marker_;
  IpWriter ip_;
  std::uint16_t local_port_, remote_port_;
  std::uint16_t mss_;          // that we offer
  std::uint16_t default_mss_;  // of a peer that offers none
  std::uint32_t clock_;        // added to our timestamps
  std::uint32_t timeouts_in_row_ = 0;
  std::uint32_t reset_ = 0;  // SEQ of the RST that is due
  ChallengeLimit challenges_;
  Time start_, stop_;
  std::uint64_t sent_packets_ = 0, sent_bytes_ = 0, sent_in_packets_ = 0, retransmitted_ = 0;
  std::uint64_t timeouts_ = 0, loss_events_ = 0;
};
static_assert(sizeof(TcpSender) <= kEngineBytes);

}  // namespace surety::endpoints
