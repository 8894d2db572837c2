// SPDX-License-Identifier: BSD-3-Clause
// The part of a TFRC flow's packets that is lost, for a sender that has no report of each packet: CCID 3
// reports the rate that arrived (RFC 4342 8.3), and the sender counts what it sent. (The loss event rate p
// counts the losses of a round-trip time as one, and the Loss Intervals all packets between them as lost.)
//
// The mean is over about the last kPackets packets. Reports with an error of their own (a peer that counts
// payload without headers) make the part too large; the user of this class bounds what depends on it.
#pragma once

#include <algorithm>

namespace surety::endpoints {

class LostPart {
 public:
  static constexpr double kPackets = 500, kLeastPackets = 50;

  // Counts a report: `sent` packets since the report before, `rate` packets per second that arrived, and the
  // time between the arrivals of the two reports, as at the receiver: the time between the packets that they
  // acknowledge is shorter while a queue grows. A receiver that reports a loss event at once measures over
  // the window before, too (ReceiveRate); the packets of that window are subtracted, or the lossy end of a
  // window would count less than its beginning.
  void on_report(double sent, double rate, double elapsed, double rtt) {
    const bool whole = elapsed >= kWhole * rtt;
    const double arrived = whole ? rate * elapsed : rate * (earlier_time_ + elapsed) - earlier_;
    const bool begins = whole || earlier_time_ + elapsed >= 2 * rtt;
    earlier_ = begins ? arrived : earlier_ + arrived;
    earlier_time_ = begins ? elapsed : earlier_time_ + elapsed;
    const double keep = std::max(0.0, 1 - sent / kPackets);
    sent_ = sent_ * keep + sent;
    arrived_ = arrived_ * keep + arrived;
  }
  // In [0, 1]; 0 while fewer than kLeastPackets are counted.
  double value() const { return sent_ < kLeastPackets ? 0 : std::clamp(1 - arrived_ / sent_, 0.0, 1.0); }

 private:
  static constexpr double kWhole = 0.9;  // round-trip times; both ends measure them

  double sent_ = 0, arrived_ = 0;
  double earlier_ = 0, earlier_time_ = 0;  // packets and seconds of the window before
};

}  // namespace surety::endpoints
