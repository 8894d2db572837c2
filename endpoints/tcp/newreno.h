// SPDX-License-Identifier: BSD-3-Clause
// The congestion window of TCP NewReno (RFC 5681, RFC 6582), and of Reno, without a wire: from ACKs,
// duplicate ACKs and timeouts it computes how much may be in flight and what is sent again.
//
// Bytes of payload; positions are 64-bit and never wrap. Exact integers, no division per ACK:
//   - slow start while cwnd < ssthresh: min(N, SMSS) per ACK that acknowledges N bytes (RFC 5681 3.1 (2)),
//     so that ACKs of single bytes gain nothing; congestion avoidance: one SMSS when a whole cwnd has been
//     acknowledged (RFC 3465 2.1). Neither unless cwnd was in use when the last segment left (RFC 7661 4.3 in
//     outline): of ACKs that come together each one counts.
//   - the third duplicate ACK: ssthresh = max(FlightSize / 2, 2 SMSS), fast retransmit, fast recovery
//     (RFC 5681 3.2), unless the loss belongs to a window that was dealt with already (RFC 6582 3.2 step 2,
//     without the heuristics of section 4).
//   - NewReno: a partial ACK sends the next hole again and deflates the window; the ACK of all that was sent
//     before the loss ends recovery with cwnd = ssthresh. Reno: any new ACK ends recovery.
//   - no limited transmit (RFC 3042): as the papers' TCP.
//   - with SACK instead of the last three: the scoreboard has the losses (RFC 6675), and the window comes
//     down by proportional rate reduction (RFC 6937). Reno is NewReno then.
//   - a congestion mark halves the window as a loss does, and of both, in one window, only the first one
//     (RFC 3168 6.1.2).
// `guaranteed`: the part of cwnd that congestion control leaves alone; zero here, see gtcp.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conditioners/units.h"
#include "endpoints/tcp/scoreboard.h"

namespace surety::endpoints {

// Proportional Rate Reduction (RFC 6937): while a loss is recovered from, how much may leave for what an ACK
// says has arrived, so that what is in flight comes down to the target over a round trip and not at once; or,
// when more was lost than that, grows back to it as in slow start (PRR-SSRB). No memory of ACKs: the same
// whether they come one by one, late or together.
class Prr {
 public:
  // The loss is noticed with `flight` bytes outstanding (RecoverFS). ACKs that came together with the first
  // sign of the loss, and before it, have acknowledged `answered` more, for which nothing could leave yet.
  void begin(std::uint64_t flight, std::uint64_t answered = 0) {
    flight_ = std::max<std::uint64_t>(flight + answered, 1);
    delivered_ = answered;
    out_ = 0;
  }
  void on_sent(std::uint64_t bytes) { out_ += bytes; }

  // An ACK reports `delivered` more bytes, `pipe` are in flight. Returns how many may leave.
  std::uint64_t on_ack(std::uint64_t delivered, std::uint64_t pipe, std::uint64_t target,
                       std::uint32_t smss) {
    delivered_ += delivered;
    if (pipe > target) {
      const std::uint64_t due = (delivered_ * target + flight_ - 1) / flight_;
      return due > out_ ? due - out_ : 0;
    }
    const std::uint64_t owed = delivered_ > out_ ? delivered_ - out_ : 0;
    return std::min(target - pipe, std::max(owed, delivered) + smss);
  }

 private:
  std::uint64_t flight_ = 1, delivered_ = 0, out_ = 0;
};

struct WindowParams {
  std::uint32_t smss = 1460;
  std::uint64_t initial = 14600;               // bytes
  std::uint64_t ssthresh = UINT64_C(1) << 62;  // bytes
  bool partial_acks = true;                    // NewReno; false: Reno
};

// RFC 6928: 10 SMSS, less of large segments.
std::uint64_t default_initial_window(std::uint32_t smss);

// SND.UNA, SND.NXT and SND.MAX before the event. next < max only while go-back-N sends again.
struct Outstanding {
  std::uint64_t una = 0, next = 0, max = 0;
  std::uint64_t forced = 0;         // reserved, beyond max, not yet built (GTCP)
  std::uint64_t answered = 0;       // acknowledged since the last segment left
  std::uint64_t most = UINT64_MAX;  // in flight, whatever cwnd: of the peer's window and our own
  bool echo = false;  // the ACK echoes a congestion mark: it makes no window grow (RFC 3168 6.1.2)
  Time now{};
  Duration rtt{};  // smoothed; zero: not known
  std::uint64_t flight() const { return next - una; }
};

// Action of the sender after an event, beside sending what the window permits.
enum class Answer : std::uint8_t {
  none,
  retransmit,  // the segment at SND.UNA, at once, whatever the window
  send_new     // one segment at SND.MAX, whatever cwnd; within the peer's window
};

class NewReno {
 public:
  explicit NewReno(const WindowParams& params)
      : cwnd_(params.initial),
        ssthresh_(params.ssthresh),
        smss_(params.smss),
        partial_acks_(params.partial_acks) {}
  virtual ~NewReno() = default;

  // New data: SND.UNA moves to `ack`.
  virtual Answer on_ack(const Outstanding& before, std::uint64_t ack);
  // A duplicate ACK as defined by RFC 5681 2.
  virtual Answer on_duplicate_ack(const Outstanding& now);
  // With SACK instead of both, each ACK with news: up to `ack`, which may be SND.UNA.
  virtual Answer on_told(const Outstanding& before, std::uint64_t ack, const Scoreboard::Told& told);
  void on_sent(std::uint64_t bytes) { prr_.on_sent(bytes); }
  // The peer echoes a congestion mark, of what was sent since the window was last reduced.
  void on_mark(const Outstanding& before);
  // `again`: the segment at SND.UNA has timed out before (RFC 5681 3.1: ssthresh is held). The sender goes
  // back to SND.UNA.
  virtual void on_timeout(const Outstanding& now, bool again);
  // A segment that was sent before has left again; it is not the one that the peer waits for.
  virtual void on_sent_beyond_hole() {}
  // The least round-trip time seen has become less.
  virtual void on_least_rtt(Duration) {}
  virtual std::uint64_t cwnd_g() const { return 0; }  // reserved part
  // Fast recovery takes as many round trips as there are losses, and only a lost retransmission times out:
  // each partial ACK restarts the timer. Otherwise only the first one does (tcp_timer.h).
  virtual bool patient() const { return false; }

  std::uint64_t cwnd() const { return cwnd_; }
  std::uint64_t ssthresh() const { return ssthresh_; }
  bool in_fast_recovery() const { return in_recovery_; }

 protected:
  std::uint32_t smss() const { return smss_; }
  bool permits_new(const Outstanding& o) const { return o.una + cwnd_ >= o.max + o.forced + smss_; }
  // Congestion avoidance: cwnd was in use, and `acked` bytes have been acknowledged.
  virtual void avoid(const Outstanding& before, std::uint64_t acked);
  // The application or the peer's window limits what is in flight.
  virtual void on_unused(const Outstanding&) {}
  // ssthresh for the part under congestion control, of which `flight` bytes are in flight.
  virtual std::uint64_t reduced(std::uint64_t flight) { return flight / 2; }

  std::uint64_t cwnd_;
  std::uint64_t guaranteed_ = 0;  // part of cwnd

 private:
  void grow(const Outstanding& before, std::uint64_t acked);
  void on_loss(const Outstanding& o);
  void set_ssthresh(const Outstanding& o);

  std::uint64_t ssthresh_;
  std::uint64_t acked_ = 0;    // towards the next SMSS of congestion avoidance
  std::uint64_t recover_ = 0;  // SND.MAX when the last loss was noticed
  std::uint64_t marked_ = 0;   // SND.MAX at the last mark
  std::uint32_t smss_;
  std::uint32_t duplicates_ = 0;  // since SND.UNA moved
  bool in_recovery_ = false;
  bool partial_acks_;
  Prr prr_;
};

}  // namespace surety::endpoints
