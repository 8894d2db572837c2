// SPDX-License-Identifier: BSD-3-Clause
// The fair share of a gTFRC flow that sends more than its guarantee g (`excess: fair`): the rate of a TCP
// flow that sends the packets above g alone.
//
// The loss event rate is that of the packets above g: loss intervals (RFC 5348 5.4) in such packets. The
// network drops them first, so that a loss event is one of them; except where none was sent since the last
// event. The rate is the full model of Padhye et al. (ACM SIGCOMM 1998, equation 32, without a limit of the
// window), in which a lost retransmission ends in a timeout, too. RFC 5348 3.1 simplifies it for few losses,
// but what is above g shares a queue that may drop one packet of four. There the retransmission timeout
// decides, so it is TCP's own (RFC 6298), not 4 R.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "conditioners/units.h"

namespace surety::endpoints {

class ExcessShare {
 public:
  static constexpr Duration kLeastRto = std::chrono::milliseconds(200);  // Linux's minimum

  // Counts `packets` above g since the last report; negative if the application sends less than g.
  void on_report(double packets, Duration rtt_sample);
  // Closes an interval. The first one is that of `rate`, at which packets above g were sent (RFC 5348 6.3.1).
  void on_loss_event(Bytes segment, Duration rtt, double rate);

  double loss_event_rate() const;                  // 0: no loss event so far
  double rate(Bytes segment, Duration rtt) const;  // bytes/s; only after the first loss event

 private:
  static constexpr std::size_t kIntervals = 8;

  double open_ = 0;  // packets above g since the last loss event
  std::array<double, kIntervals> history_{};
  std::uint8_t closed_ = 0;            // valid entries of history_, newest first
  Duration smoothed_{}, deviation_{};  // SRTT and RTTVAR of RFC 6298
};

// Packets in a round-trip time that a TCP flow sends (b = 1), with a retransmission timeout of `rto`
// round-trip times and a part 0 < p <= 1 of them lost.
double tcp_packets_per_rtt(double p, double rto);

}  // namespace surety::endpoints
