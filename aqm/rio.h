// SPDX-License-Identifier: BSD-3-Clause
// RIO: RED with In and Out, coupled averages (Clark and Fang 1998; aqm/README.md).
//
// avg_in over IN packets, updated on IN arrivals; avg_total over all packets, updated on every arrival,
// refused ones included. IN is judged on avg_in, OUT on avg_total. Early drops are spread: with `count`
// packets of the same precedence accepted since its last drop (or since its average was last at or below
// min), the next one is dropped with p_a = p_b/(1 - count p_b), clamped to [0,1]. At a constant p_b the
// distance from drop to drop is therefore uniform on {1 .. ceil(1/p_b)}. Each precedence has its own count,
// as in ns-2, so that one's drops do not space the other's.
//
// Red packets, the third drop precedence of RFC 2597, have a curve of their own on avg_total: RIO-C judges
// the highest precedence on the average of all packets (Makkar, Lambadaris, Hadi Salim, Seddigh, Nandy and
// Babiarz 2000). RIO-C leaves red packets out of OUT's average; here that is avg_total too, as with two
// precedences and as in WRED. On one average a red curve that is nowhere below OUT's drops red packets with
// at least OUT's probability (RFC 2597 section 2). Red packets are not OUT arrivals of CSA's detector.
//
// An average decays over idle time as if m = idle * capacity / mean packet small packets had left:
// avg *= (1 - weight)^m, m not rounded, then the arrival counts as any other. Each of the two averages has
// its own idle time: its own packets absent from the queue.
//
// `count_arriving` adds 1 to the length that an arrival meets, hence to the average. The state holds the
// average without it, which is compared with thresholds that are lower by 1; an average begins at 1 then.
// `decoupled` is for weight 1, where averages are lengths: a packet that is not IN and that the curve refuses
// is accepted if its own kind, OUT and red together, is within the curve.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "aqm/params.h"
#include "conditioners/csa_controller.h"
#include "conditioners/packet.h"
#include "conditioners/rng.h"
#include "conditioners/units.h"

namespace surety {

// The RED dropping probability over an average queue length (Floyd and Jacobson 1993; aqm/README.md).
//
// Guarantees: avg <= min: accepted. min < avg <= max: p_b = pmax (avg - min)/(max - min), in (0, pmax]. avg >
// max: forced. Lengths in packets; min <= max. min = max is a step: there is no early drop.
class RedCurve {
 public:
  RedCurve() = default;
  explicit RedCurve(const RedParams& p)
      : min_(p.min), max_(p.max), slope_(p.max > p.min ? p.pmax.value() / (p.max - p.min) : 0) {}
  bool accepts(double average) const { return average <= min_; }
  bool forces(double average) const { return average > max_; }
  // p_b, for min < average <= max.
  double probability(double average) const { return slope_ * (average - min_); }
  double min() const { return min_; }

 private:
  double min_ = 0, max_ = 0, slope_ = 0;
};

enum class RioVerdict : std::uint8_t { accept, mark, early, forced };

// State of RIO for one queue, and of CSA's detector at its average: a cache line.
struct RioState {
  struct Average {
    double value = 0;
    Time busy_until{};  // meaningful while idle: decayed up to here
  };
  explicit RioState(std::uint64_t seed) : rng(seed) {}

  // After a `departed` packet left: the queue holds this many. Starts the idle time of an
  // average whose packets are gone.
  void depart(Precedence departed, std::uint32_t in_packets, std::uint32_t total_packets, Time now) {
    if (total_packets == 0) total.busy_until = now;
    if (departed == Precedence::in && in_packets == 0) in.busy_until = now;
  }

  Average total, in;
  std::array<std::uint32_t, kDropPrecedences> counts{};  // accepted since the last drop
  Rng rng;
  CongestionDetector detector;
};
static_assert(sizeof(RioState) == 64);

// Immutable rules of RIO, shared by all queues with the same parameters.
class RioRules {
 public:
  // Averages below this many packets are left as they are over idle time: less than any arrival adds.
  static constexpr double kNegligible = 1e-6;

  static constexpr std::size_t kAtOnce = 64;  // arrivals

  explicit RioRules(const RioParams& params);

  // A packet arrives at a queue that holds `in_packets` IN packets and `total_packets` in
  // all (this one not counted), as queue_measure.h counts them.
  RioVerdict arrive(RioState& state, Precedence precedence, bool ecn_capable, double in_packets,
                    double total_packets, Time now) const {
    update(state.total, total_packets, now);
    if (precedence == Precedence::in) update(state.in, in_packets, now);
    const double average = precedence == Precedence::in ? state.in.value : state.total.value;
    if (!curve(precedence).accepts(average) && !spares(precedence, in_packets, total_packets))
      return judge_above_min(state, precedence, average, ecn_capable);
    state.counts[index(precedence)] = 0;
    return RioVerdict::accept;
  }

  // Applies the idle decay up to `now`, so that the averages of a queue that nothing arrives at do not stay
  // behind. Changes nothing for the arrivals that follow.
  void settle(RioState& state, std::uint32_t in_packets, std::uint32_t total_packets, Time now) const {
    if (in_packets == 0) decay(state.in, now);
    if (total_packets == 0) decay(state.total, now);
  }

  // Probability that arrive() would not accept a packet now: 1 for a forced drop, a fraction for an early
  // drop or mark.
  double refusal(RioState state, Precedence precedence, double in_packets, double total_packets,
                 Time now) const {
    update(state.total, total_packets, now);
    if (precedence == Precedence::in) update(state.in, in_packets, now);
    const double average = precedence == Precedence::in ? state.in.value : state.total.value;
    const RedCurve& red = curve(precedence);
    if (red.accepts(average) || spares(precedence, in_packets, total_packets)) return 0;
    if (red.forces(average)) return 1;
    const double p_b = red.probability(average), rest = 1 - state.counts[index(precedence)] * p_b;
    return rest > p_b ? p_b / rest : 1;
  }

  double average_in(const RioState& state) const { return state.in.value + arriving_; }
  double average_total(const RioState& state) const { return state.total.value + arriving_; }
  // avg_total > min_out: the CSA paper's congestion.
  bool congested(const RioState& state) const { return !curve(Precedence::out).accepts(state.total.value); }

  // Lower by 1 with `count_arriving`.
  const RedCurve& curve(Precedence precedence) const { return curves_[index(precedence)]; }
  static double next(double average, double packets, double weight) {
    return std::fma(weight, packets - average, average);
  }

  // Level of a queue, and the step by which each arrival raises it.
  struct Level {
    double packets, step = 1;
  };

  // Arrivals of `ins` IN and `outs` OUT packets in any order, none red, at most kAtOnce. True: RIO accepts
  // each of them below its min thresholds, given that there is room, as arrive() one by one would, but for
  // rounding. False: nothing has changed; call arrive() for each.
  bool accept_all(RioState& state, std::uint32_t ins, std::uint32_t outs, Level of_in, Level of_total,
                  Time now) const {
    constexpr double kAny = std::numeric_limits<double>::infinity();
    RioState::Average total = state.total, in = state.in;
    const double most = outs > 0 ? curve(Precedence::out).min() : kAny;
    if (!run(total, of_total, ins + outs, most, now)) return false;
    if (ins > 0 && !run(in, of_in, ins, curve(Precedence::in).min(), now)) return false;
    state.total = total;
    state.in = in;
    if (ins > 0) state.counts[index(Precedence::in)] = 0;
    if (outs > 0) state.counts[index(Precedence::out)] = 0;
    return true;
  }

  // Arrivals that RIO accepts below its min thresholds, up to the first that needs a verdict, for bursts:
  // averages and thresholds in registers, until keep() puts the averages back. Equals arrive() without decay:
  // an average that may have been idle needs a verdict.
  class Accepting {
   public:
    // Starts with the packets that the queue holds.
    Accepting(const RioRules& rules, const RioState& state, std::uint32_t in_packets,
              std::uint32_t total_packets)
        : total_(state.total.value),
          in_(state.in.value),
          weight_(rules.weight_),
          in_weight_{weight_, 0, 0},
          total_max_{kAny, rules.curve(Precedence::out).min(), rules.curve(Precedence::red).min()},
          in_max_{rules.curve(Precedence::in).min(), kAny, kAny} {
      if (in_packets == 0) in_max_[index(Precedence::in)] = kNone;
      if (total_packets == 0) total_max_.fill(kNone);
    }

    // The packets in the queue include those accepted here. False: the arrival needs arrive(), and nothing
    // has changed. There is no branch on the precedence, which is any mixture: OUT and red move avg_in by a
    // weight of 0, that is, not at all.
    bool accept(Precedence precedence, double in_packets, double total_packets) {
      const std::size_t p = index(precedence);
      const double total = next(total_, total_packets, weight_);
      const double in = next(in_, in_packets, in_weight_[p]);
      if (total > total_max_[p] || in > in_max_[p]) return false;
      total_ = total;
      in_ = in;
      return true;
    }
    // `ins`, `outs` and `reds` of them were accepted.
    void keep(RioState& state, std::uint32_t ins, std::uint32_t outs, std::uint32_t reds) const {
      state.total.value = total_;
      state.in.value = in_;
      if (ins > 0) state.counts[index(Precedence::in)] = 0;
      if (outs > 0) state.counts[index(Precedence::out)] = 0;
      if (reds > 0) state.counts[index(Precedence::red)] = 0;
    }

   private:
    static constexpr double kAny = std::numeric_limits<double>::infinity(), kNone = -kAny;
    double total_, in_, weight_;
    std::array<double, kDropPrecedences> in_weight_, total_max_,
        in_max_;  // indexed by precedence of the arrival
  };

 private:
  void update(RioState::Average& average, double packets, Time now) const {
    if (packets == 0) [[unlikely]]
      decay(average, now);
    average.value = next(average.value, packets, weight_);
  }

  // Arrivals that join the queue, one after the other. True if none of them finds the average above `most`.
  // The average falls while it is above the queue's length, which grows, and then rises: it is highest at the
  // ends.
  bool run(RioState::Average& average, Level level, std::uint32_t arrivals, double most, Time now) const {
    if (level.packets == 0) decay(average, now);
    const double first = next(average.value, level.packets, weight_);
    const Run& r = runs_[arrivals];
    average.value = std::fma(r.weight, level.packets - average.value, average.value) + r.growth * level.step;
    return std::max(first, average.value) <= most;
  }

  bool spares(Precedence precedence, double in_packets, double total_packets) const {
    return decoupled_ && precedence != Precedence::in &&
           curve(precedence).accepts(total_packets - in_packets);
  }

  // Early or not is decided without a branch: no predictor can learn it.
  RioVerdict judge_above_min(RioState& state, Precedence precedence, double average, bool ecn_capable) const {
    const RedCurve& red = curve(precedence);
    std::uint32_t& count = state.counts[index(precedence)];
    if (red.forces(average)) {
      count = 0;
      return RioVerdict::forced;
    }
    // u < p_b/(1 - count p_b) without the division, with the count last: it is what the next packet waits
    // for. With count p_b >= 1 it holds for any u: p_a clamped to 1.
    const double p_b = red.probability(average), u = state.rng.uniform();
    const std::uint32_t early = u - p_b < u * p_b * count;
    count = (count + 1) & (early - 1);
    constexpr auto value = [](RioVerdict v) { return static_cast<std::uint32_t>(v); };
    static_assert(value(RioVerdict::accept) == 0 && value(RioVerdict::mark) + 1 == value(RioVerdict::early));
    return static_cast<RioVerdict>(early * (value(RioVerdict::early) - (ecn_ & ecn_capable)));
  }

  void decay(RioState::Average& average, Time now) const {
    if (now <= average.busy_until) return;
    if (const double value = average.value + arriving_; value > kNegligible) {
      const auto idle = static_cast<double>((now - average.busy_until).count());
      average.value = value * std::exp(-decay_per_ns_ * idle) - arriving_;
    }
    average.busy_until = now;
  }

  double weight_;
  std::array<RedCurve, kDropPrecedences> curves_;
  double decay_per_ns_;  // -ln(1 - weight) * packets that the capacity drains in 1 ns
  bool ecn_, decoupled_;
  std::uint8_t arriving_;  // packets of the averages that the state does not hold: 1 with `count_arriving`
  // Run n is what update() of n arrivals, one after the other, comes to: avg + weight (q - avg) + growth
  // step, where the first finds q packets and each of the others `step` more. weight is 1 - (1 - w)^n.
  struct Run {
    double weight = 0, growth = 0;
  };
  std::array<Run, kAtOnce + 1> runs_;
};

}  // namespace surety
