// SPDX-License-Identifier: BSD-3-Clause
// A TCP sink: the passive end of a connection that takes what comes (RFC 9293, 5681 4.2, 5961, 7323).
//
// Delivers in order, checks bytes against StreamPattern, keeps none: only ranges are kept beyond RCV.NXT, and
// reported by SACK and D-SACK (RFC 2018, 2883); congestion marks are echoed (RFC 3168): both if the peer
// offers them. The window is always SinkParams::window, so it never shrinks. The receiver closes when its
// peer does. It sends SYN, FIN and ACKs; TcpOutput lets a derived sink send a few bytes (iperf3).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "conditioners/rng.h"
#include "endpoints/engine/engine.h"
#include "endpoints/engine/sink_params.h"
#include "endpoints/tcp/ecn.h"
#include "endpoints/tcp/range_set.h"
#include "endpoints/tcp/sack_report.h"
#include "endpoints/tcp/tcp_output.h"
#include "endpoints/tcp/tcp_state.h"
#include "endpoints/tcp/wire_tcp.h"
#include "router/pipeline/wire/ip_writer.h"

namespace surety::endpoints {

// The parts of a TCP stream beyond RCV.NXT that have arrived: ranges without bytes. All data within the
// offered window has room here, however many holes there are (range_set.h).
class TcpReassembly {
 public:
  // Effect of a segment: some of it is new; nothing is new; or nothing was noted, since it needs one range
  // more than there may be.
  enum class Added : std::uint8_t { fresh, duplicate, full };

  // Notes [begin, end), begin before end, that lies beyond RCV.NXT.
  Added add(std::uint32_t begin, std::uint32_t end) {
    if (ranges_.overlap(begin, end) == RangeSet::Range{begin, end}) return Added::duplicate;
    return ranges_.add(begin, end) ? Added::fresh : Added::full;
  }

  // RCV.NXT, when everything before `next` has arrived in order: the end of what is contiguous then. Forgets
  // everything before that.
  std::uint32_t advance(std::uint32_t next) {
    const std::size_t i = ranges_.behind(next);
    const bool joins = i < ranges_.size() && static_cast<std::int32_t>(ranges_[i].begin - next) <= 0;
    if (joins) next = ranges_[i].end;
    ranges_.pop_front(i + (joins ? 1 : 0));
    return next;
  }

  bool empty() const { return ranges_.empty(); }
  const RangeSet& ranges() const { return ranges_; }

 private:
  RangeSet ranges_;
};

class TcpReceiver : public Engine {
 public:
  static constexpr Duration kDelayedAck = std::chrono::milliseconds(40);
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

  // Payload bytes that are not StreamPattern's, of a stream that began with it: its first kRecognised bytes,
  // or all if there are less. Any other stream is none of our business: zero.
  std::uint64_t mismatches() const { return mismatches_; }
  static constexpr std::uint64_t kRecognised = 16;
  std::uint64_t delivered() const { return delivered_; }  // payload bytes
  Time heard() const { return heard_; }                   // the last acceptable segment

 protected:
  // For a sink that reads: with `reads` set nothing is taken out of order and on_bytes() sees each byte once.
  virtual void on_bytes(std::span<const std::uint8_t>, Time) {}
  virtual bool may_be_silent(Time) const { return false; }  // called when kSilence has passed
  void read_bytes(bool reads) { reads_ = reads; }
  TcpOutput& output() { return output_; }
  void end(Failure failure) { state_.end(failure); }  // at once, and silently

 private:
  Refusal read_intact(const IpPacket& packet, tcp::Segment& s);
  bool in_window(std::uint32_t sequence) const { return sequence - next_ < window_; }
  bool acceptable(const tcp::Segment& s) const;
  Refusal on_reset(const tcp::Segment& s, Time now);
  Refusal on_syn(const tcp::Segment& s, Time now);
  Refusal on_unacceptable(const IpPacket& packet, const tcp::Segment& s, Time now);
  Refusal check_timestamps(const tcp::Segment& s, Time now);
  Refusal check_ack(const tcp::Segment& s, Time now);
  void note_timestamp(const tcp::Segment& s);
  void on_ack(const tcp::Segment& s, Time now);
  Refusal on_text(const tcp::Segment& s, Time now);
  Refusal take_beyond(std::span<const std::uint8_t> bytes, std::uint32_t begin, bool fin);
  void deliver(std::span<const std::uint8_t> bytes, Time now);
  void compare(std::span<const std::uint8_t> bytes, std::uint64_t offset);
  void on_fin(Time now);
  void count(const IpPacket& packet, const tcp::Segment& s);

  // tcp_reply.cc
  void acknowledge() { acknowledge(next_, {}); }
  void acknowledge(std::uint32_t cause, const tcp::Block& twice);
  void acknowledged();
  void challenge(Time now);
  void answer(const tcp::Segment& s, Time now);
  void expire(Time now);
  bool build(Slot& slot, Time now);
  void build_reset(Slot& slot);
  void build_piece(Slot& slot, Time now);
  tcp::Segment blank(Time now) const;
  std::uint64_t offset_of(std::uint32_t sequence) const {
    return delivered_ +
           static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(sequence - next_)));
  }

  // The first lines are what each data segment needs.
  std::uint32_t next_ = 0;       // RCV.NXT
  std::uint32_t window_ = 0;     // RCV.WND, bytes: exactly the advertised window
  std::uint64_t delivered_ = 0;  // stream offset of RCV.NXT
  std::uint32_t last_ack_ = 0;   // Last.ACK.sent
  std::uint32_t recent_ = 0;     // TS.Recent
  // CLOSE-WAIT is left at once.
  TcpState state_{TcpState::syn_received};
  bool timestamps_ = false, checks_ = true, matched_ = false, reads_ = false;
  bool fin_known_ = false, reset_due_ = false, scaled_ = false, sack_ = false;
  EcnEcho ecn_;
  std::uint8_t unacknowledged_ = 0;  // segments
  std::uint8_t acks_due_ = 0;
  std::uint8_t scale_ = 0, peer_scale_ = 0;
  Time delayed_ack_ = kNever;
  Time heard_;
  const SinkParams* params_;
  std::uint64_t packets_ = 0, bytes_ = 0, in_packets_ = 0, in_bytes_ = 0, carried_ = 0;
  std::uint16_t local_port_, remote_port_;
  std::uint16_t mss_;          // the MSS that we offer
  std::uint16_t segment_ = 0;  // most bytes that we send in one
  std::uint32_t clock_;        // offset of our timestamps to milliseconds
  // Acknowledgements in the order in which they became due: a duplicate ACK per segment, and no false
  // duplicates, however many packets are received between two polls.
  struct Due {
    std::uint32_t ack, cause;  // cause: where the segment begins that is beyond RCV.NXT, or the same as `ack`
    tcp::Block twice;          // range received twice
  };
  std::array<Due, 16> ack_due_;
  IpWriter ip_;
  TcpOutput output_;

  Time alarm_;                             // next check for silence or TIME-WAIT
  std::uint32_t fin_ = 0;                  // sequence number of the peer's FIN, when fin_known_
  std::uint32_t reset_ = 0;                // SEQ of the RST that is due
  std::uint32_t largest_peer_window_ = 0;  // MAX.SND.WND
  ChallengeLimit challenges_;
  std::uint64_t mismatches_ = 0, duplicates_ = 0, gaps_ = 0, marks_ = 0;
  std::uint64_t sent_packets_ = 0, sent_bytes_ = 0;
  TcpReassembly reassembly_;
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
