// SPDX-License-Identifier: BSD-3-Clause
// Common part of both ends of a DCCP connection (RFC 4340 8): sequence validity, Sync and SyncAck, resets,
// feature negotiation, and the timers of the packets that are repeated.
//
// The sequence checks come before everything else: a packet that fails them changes nothing (in the spirit of
// RFC 5961) and is answered with a Sync, at most eight a second (7.5.4). A Reset counts only with a sequence
// number above GSR and an acknowledgement number of at least GAR.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/engine/engine.h"
#include "endpoints/tfrc/dccp_features.h"
#include "endpoints/tfrc/dccp_sequence.h"
#include "endpoints/tfrc/wire_dccp.h"

namespace surety::endpoints {

// Limit of a DCCP connection's answers: at most eight of each kind in any second that begins with one (RFC
// 4340 7.5.4).
//
// Syncs and late Resets answer invalid packets, SyncAcks answer valid Syncs: two kinds, or an attacker that
// makes us send the former could stop the latter. Eight and not one per 125 ms: detecting a peer's restart
// takes two Syncs within a round trip. 8 bytes.
class SyncLimit {
 public:
  static constexpr std::uint8_t kPerSecond = 8;
  enum class Kind : std::uint8_t { invalid, sync };

  bool permit(Kind kind, Time now) {
    const auto ms = static_cast<std::uint32_t>(now.time_since_epoch().count() / 1'000'000);
    if (!begun_ || ms - since_ >= 1000) {
      begun_ = true;
      since_ = ms;
      used_ = {};
    }
    std::uint8_t& used = used_[static_cast<std::size_t>(kind)];
    if (used == kPerSecond) return false;
    ++used;
    return true;
  }

 private:
  std::uint32_t since_ = 0;  // ms, modulo 2^32
  std::array<std::uint8_t, 2> used_{};
  bool begun_ = false;
};
static_assert(sizeof(SyncLimit) == 8);

namespace dccp {

// A peer that sends nothing for this long is gone: RFC 4340's 4 MPL.
inline constexpr Duration kPeerTimeout = std::chrono::seconds(480);
// Times at which a Request, Close or CloseReq goes out; each waits twice as long as the one before.
inline constexpr unsigned kTries = 6;
inline constexpr Duration kRequestInterval = std::chrono::seconds(1);
inline constexpr Duration kLongestInterval = std::chrono::seconds(64);  // RFC 4340 8.3

// State of a connection; RESPOND, PARTOPEN and CLOSEREQ of RFC 4340 4.3.
enum class Phase : std::uint8_t { idle, request, respond, partopen, open, close_req, closing, closed };

// Timestamps count 10 microseconds (RFC 4340 13.1).
inline std::uint32_t ticks(Time t) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(t.time_since_epoch().count()) / 10'000);
}
inline constexpr Duration kTick = std::chrono::microseconds(10);

// The timer of a packet that is repeated until it is answered: a Request, Close or CloseReq.
class Repetition {
 public:
  void begin(std::uint8_t what, Duration interval, Time now) {
    what_ = what;
    tries_ = 1;
    interval_ = std::min(interval, kLongestInterval);
    at_ = now + interval_;
  }
  void stop() { at_ = kNever; }
  Time at() const { return at_; }  // kNever: it does not run
  // The timer has expired. Returns what is sent again; 0: it has run out of tries.
  std::uint8_t expire(Time now) {
    if (tries_ == kTries) return 0;
    ++tries_;
    interval_ = std::min(interval_ * 2, kLongestInterval);
    at_ = now + interval_;
    return what_;
  }

 private:
  Time at_ = kNever;
  Duration interval_{};
  std::uint8_t what_ = 0, tries_ = 0;
};

}  // namespace dccp

class DccpConnection : public Engine {
 public:
  FlowState state() const final;
  Failure failure() const final { return failure_; }

 protected:
  using Phase = dccp::Phase;

  DccpConnection(dccp::Role role, const Tuple& tuple, dccp::PacketWriter::UdpPorts udp, std::uint64_t window,
                 std::uint8_t dscp, std::uint64_t seed);

  // Steps 5 to 9 and 13 to 15 of RFC 4340 8.5.
  // none: the packet is valid and `p` is for the caller to look at.
  Refusal admit(const dccp::Packet& p, Time now);
  // Options that both ends look at; a failure resets the connection.
  Refusal negotiate(const dccp::Packet& p);

  bool control_pending() const { return pending_ != 0; }
  // Writes one of the packets that are due.
  void write_control(Slot& slot);
  // A packet without payload, the next of our numbering, with the options of features and `more`.
  void write_packet(Slot& slot, dccp::Packet& p, std::span<const std::uint8_t> more = {});

  void send_sync(std::uint64_t ack, Time now);
  // A Reset for a packet of an unknown connection (RFC 4340 8.3.1).
  void send_stray_reset(const dccp::Packet& p, Time now);
  void abort(dccp::ResetCode code, Failure why, std::uint8_t data = 0);
  void finish(Failure why);
  // Begins to repeat `what` (kRequest, kClose, kCloseReq), first at once.
  void repeat(std::uint8_t what, Duration interval, Time now);
  // The timer of repeat(): false when it has run out of tries.
  bool on_timer(Time now);

  // In the order in which they are written.
  enum Pending : std::uint8_t {
    kReset = 1,
    kSync = 2,
    kSyncAck = 4,
    kRequest = 8,
    kResponse = 16,
    kAck = 32,
    kClose = 64,
    kCloseReq = 128
  };

  dccp::SequenceSpace sequence_;
  dccp::Repetition repetition_;
  Time heard_{};  // arrival of the last valid packet
  std::uint8_t pending_ = 0;
  Phase phase_ = Phase::idle;
  dccp::Role role_;
  std::uint8_t dscp_;  // DSCP of packets without data
  Failure failure_ = Failure::none;
  std::uint8_t ccval_ = 0;  // CCVal of packets without data
  std::uint8_t reset_data_ = 0;
  dccp::ResetCode reset_code_ = dccp::ResetCode::unspecified;
  std::uint32_t service_code_ = 0;
  dccp::PacketWriter writer_;
  dccp::Features features_;

 private:
  Refusal check(const dccp::Packet& p, std::uint64_t sequence, std::uint64_t ack, Time now);
  Refusal unexpected(const dccp::Packet& p, std::uint64_t sequence, Time now);
  Refusal admit_late(const dccp::Packet& p, std::uint64_t sequence, std::uint64_t ack, Time now);
  Refusal on_reset(const dccp::Packet& p);
  void write_stray_reset(Slot& slot);

  SyncLimit limit_;
  std::uint64_t sync_ack_number_ = 0, stray_sequence_ = 0, osr_ = 0;
};

}  // namespace surety::endpoints
