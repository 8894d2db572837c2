// SPDX-License-Identifier: BSD-3-Clause
// GTCP (Zhu et al., section III; endpoints/README.md): NewReno for a flow with a reserved rate.
//
// cwnd = cwnd_G + cwnd_BE, where cwnd_G = rate_G * rtt_base is reserved in the network and only cwnd_BE is
// subject to congestion control. The whole difference from NewReno is below and in gtcp.cc:
//
//   start (III.B)      cwnd 2; slow start ends when cwnd exceeds ssthresh + cwnd_G. ssthresh counts cwnd_BE
//                      alone. (At equality it ends too, as in NewReno: RFC 5681 3.1 allows either.)
//   loss (III.D.1)     cwnd_update = cwnd_G + cwnd_BE / 2, in force at the full ACK. Until then NewReno's
//                      inflation continues from cwnd_update, and beside it the first cwnd_G duplicate ACKs
//                      force one new segment each. The inflated window lies cwnd_BE / 2 duplicates (the
//                      three of the detection included) behind what is out, plus what was forced: that is
//                      "ignore cwnd_BE / 2", and what comes later sends.
//   k losses           leave just cwnd_BE - k duplicates of the old window to ignore after cwnd_G of them.
//                      Without SACK k is not known while they come, and need not be: the partial ACK that
//                      ends them proves there are no more (k = segments out - duplicates), and from it on the
//                      next cwnd_G duplicates force again, so that each round trip sends cwnd_G new segments
//                      however large k is: FR_ideal = max(cwnd_G, cwnd - k - cwnd_BE / 2). That is one number
//                      for "every round-trip time": the segment that NewReno adds for each partial ACK is
//                      left out. It is a gain of one in each round trip of a recovery that nothing halves,
//                      until one is lost in each: as many as are repaired, and the recovery never ends.
//   timeout (III.D.2)  cwnd = 1 is cwnd_BE alone, slow start of go-back-N; the first cwnd_G duplicates force
//                      one new segment each, and so do those beyond the number of segments outstanding: those
//                      whose arrival no duplicate had reported, or the clock would stop after cwnd_G, and
//                      what go-back-N repeats: most of it had arrived, so that each such segment is one more
//                      duplicate, and would add to what is out; past ss_exit: cwnd = cwnd_G + cwnd_BE.
//
// With SACK the losses are known, and what is in flight: recovery by proportional reduction (RFC 6937) to
// cwnd_update, and never below cwnd_G, sends FR_ideal in each round trip; nothing is to be forced. After a
// timeout new data is forced as above, and only what is missing is sent again.
//
// Without a reserved rate nothing is forced and GTCP equals NewReno, packet for packet.
#pragma once

#include "endpoints/tcp/newreno.h"

namespace surety::endpoints {

struct GtcpParams {
  WindowParams window;
  Rate reserved;                // rate_G, of IP packets
  std::uint32_t packet = 1500;  // the IP packet of a full segment
};

class Gtcp final : public NewReno {
 public:
  explicit Gtcp(const GtcpParams& params);

  Answer on_ack(const Outstanding& before, std::uint64_t ack) override;
  Answer on_duplicate_ack(const Outstanding& now) override;
  Answer on_told(const Outstanding& before, std::uint64_t ack, const Scoreboard::Told& told) override;
  void on_timeout(const Outstanding& now, bool again) override;
  void on_sent_beyond_hole() override;
  // cwnd_G = rate_G * rtt_base, in bytes of payload.
  void on_least_rtt(Duration rtt_base) override;

  std::uint64_t cwnd_g() const override { return cwnd_g_; }
  // III.D.2: "only the second reason [a retransmitted packet lost again] can lead to a timeout".
  bool patient() const override { return cwnd_g_ > 0; }
  bool in_timeout_recovery() const { return in_timeout_recovery_; }

 private:
  std::uint32_t segments(std::uint64_t bytes) const;
  Answer on_duplicate_after_timeout();
  void recover_from_timeout(const Outstanding& before, std::uint64_t ack);
  void forget_arrived(const Outstanding& before, std::uint64_t ack);

  std::uint64_t cwnd_g_ = 0;
  std::uint64_t ss_exit_ = 0;         // SND.MAX at the timeout
  std::uint64_t arrived_ = 0;         // bytes beyond SND.UNA that duplicate ACKs have counted
  std::uint32_t forced_left_ = 0;     // duplicate ACKs that still force a segment
  std::uint32_t old_duplicates_ = 0;  // duplicate ACKs due to segments from before the timeout, or resent
  bool in_timeout_recovery_ = false;
  bool counted_ = false;  // the segment at SND.UNA among old_duplicates_
  std::uint64_t rate_;    // rate_G in bit/s
  std::uint32_t packet_;
};

}  // namespace surety::endpoints
