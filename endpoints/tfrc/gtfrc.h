// SPDX-License-Identifier: BSD-3-Clause
// gTFRC's one rule, G = max(g, X), over TFRC (Lochin et al., equation 2; endpoints/README.md).
//
//   before the first feedback           G = X: no answer yet
//   literal (the paper's text)          from the first feedback on
//   after_slow_start                    from the first loss event on
//   theta > 0 and X < g / theta         G = X: the network breaks the guarantee (the paper's section 4)
//
// Beyond the paper, each by itself:
//
//   fair, from the first loss event on  G = g + X_be, the rate of a TCP flow above g (excess_share.h)
//   repair > g                          g / (1 - lost part) in place of g, up to repair: g is delivered
//
// A network that keeps the contract drops no packet of g for lack of capacity, so that repair is no answer to
// congestion. In a network that has committed more, the sender reaches `repair`, at most the rate of the
// contract: what it sends beyond that is OUT, and IN packets of others stay protected. theta ends that.
//
// A sender that is still climbing is below g / theta for no fault of the network: it takes a loss event, or a
// nofeedback timer that expired, to call the guarantee broken. All rates are bytes/s of IP packets.
#pragma once

#include <algorithm>
#include <cstdint>

namespace surety::endpoints {

enum class GuaranteeReading : std::uint8_t { literal, after_slow_start };

// While theta is 0 the guarantee is never given up, but still reported as broken below g / kReportTheta: an X
// of a fraction of g is usual on a long path, an order of magnitude is not.
inline constexpr double kReportTheta = 10;

struct Guarantee {
  double g = 0;      // 0: plain TFRC
  double theta = 0;  // 0: kept whatever X is
  GuaranteeReading reading = GuaranteeReading::literal;
  bool fair = false;
  double repair = 0;  // not above g: none

  // State of TFRC that the rule needs.
  struct State {
    double x = 0;
    bool feedback = false;   // any so far
    bool loss = false;       // a loss event so far: slow start is over
    bool cut_short = false;  // the nofeedback timer has reduced X and no feedback came since
    double excess = 0;       // X_be as a part of X
    double lost = 0;         // the lost part of the packets
  };

  bool broken(const State& s) const {
    const double limit = theta > 0 ? theta : kReportTheta;
    return s.feedback && (s.loss || s.cut_short) && s.x * limit < g;
  }
  bool in_force(const State& s) const {
    const bool begun = reading == GuaranteeReading::literal ? s.feedback : s.feedback && s.loss;
    return begun && !(theta > 0 && broken(s));
  }
  double rate(const State& s) const {
    if (!in_force(s)) return s.x;
    return fair && s.loss ? least(s) + s.excess * s.x : std::max(least(s), s.x);
  }
  // The rate that delivers g.
  double least(const State& s) const {
    return std::max(g, std::min(repair, g / (1 - std::min(s.lost, kMostLost))));
  }

  static constexpr double kMostLost = 0.99;
};

}  // namespace surety::endpoints
