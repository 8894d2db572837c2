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
// An average decays over idle time as if m = idle * capacity / mean packet small packets had left:
// avg *= (1 - weight)^m, m not rounded, then the arrival counts as any other. Each of the two averages has
// its own idle time: its own packets absent from the queue.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "aqm/red_curve.h"
#include "conditioners/packet.h"
#include "conditioners/rng.h"
#include "conditioners/units.h"

namespace surety {

struct RioParams {
  double weight = 0.002;  // w_q
  RedParams in, out;
  bool ecn = false;  // mark ECN-capable packets where an early drop would fall
  Rate capacity = Rate::bits_per_second(10'000'000'000);  // drains the averages while idle
  Bytes mean_packet{500};
};

enum class RioVerdict : std::uint8_t { accept, mark, early, forced };

class Rio {
 public:
  // Averages below this many packets are left as they are over idle time: less than any arrival adds.
  static constexpr double kNegligible = 1e-6;

  Rio(const RioParams& params, std::uint64_t seed);

  // A packet arrives at a queue that holds `in_packets` IN packets and `total_packets` in
  // all (this one not counted).
  RioVerdict arrive(Precedence precedence, bool ecn_capable, std::uint32_t in_packets,
                    std::uint32_t total_packets, Time now) {
    update(total_, total_packets, now);
    if (precedence == Precedence::in) update(in_, in_packets, now);
    const double average = precedence == Precedence::in ? in_.value : total_.value;
    Judge& judge = judges_[index(precedence)];
    if (!judge.curve.accepts(average)) return judge_above_min(judge, average, ecn_capable);
    judge.count = 0;
    return RioVerdict::accept;
  }

  // Arrivals that RIO accepts without a question, for bursts: averages and thresholds in registers, until
  // keep() puts the averages back. As arrive() has it, but for decay: what may have been idle is a question.
  class Accepting {
   public:
    // To a queue that holds so many.
    Accepting(const Rio& rio, std::uint32_t in_packets, std::uint32_t total_packets)
        : total_(rio.total_.value),
          in_(rio.in_.value),
          weight_(rio.weight_),
          in_weight_{rio.weight_, 0},
          total_max_{kAny, rio.judges_[index(Precedence::out)].curve.min()},
          in_max_{rio.judges_[index(Precedence::in)].curve.min(), kAny} {
      if (in_packets == 0) in_max_[index(Precedence::in)] = kNone;
      if (total_packets == 0) total_max_.fill(kNone);
    }

    // To a queue that holds so many, those among them that were accepted. False, and nothing changed, where
    // it is a question. Without a branch on the precedence, which is any mixture: OUT moves avg_in by a
    // weight of 0, which is not at all.
    bool accept(Precedence precedence, std::uint32_t in_packets, std::uint32_t total_packets) {
      const std::size_t p = index(precedence);
      const double total = next(total_, total_packets, weight_);
      const double in = next(in_, in_packets, in_weight_[p]);
      if (total > total_max_[p] || in > in_max_[p]) return false;
      total_ = total;
      in_ = in;
      return true;
    }
    // `ins` and `outs` of them were accepted.
    void keep(Rio& rio, std::uint32_t ins, std::uint32_t outs) const {
      rio.total_.value = total_;
      rio.in_.value = in_;
      if (ins > 0) rio.judges_[index(Precedence::in)].count = 0;
      if (outs > 0) rio.judges_[index(Precedence::out)].count = 0;
    }

   private:
    static constexpr double kAny = std::numeric_limits<double>::infinity(), kNone = -1;
    double total_, in_, weight_;
    std::array<double, kPrecedences> in_weight_, total_max_, in_max_;  // by precedence of the arrival
  };

  // After a `departed` packet left: the queue holds this many. Starts the idle time of an
  // average whose packets are gone.
  void depart(Precedence departed, std::uint32_t in_packets, std::uint32_t total_packets, Time now) {
    if (total_packets == 0) total_.busy_until = now;
    if (departed == Precedence::in && in_packets == 0) in_.busy_until = now;
  }

  // Applies the idle decay up to `now`, so that the averages of a queue that nothing arrives at do not stay
  // behind. Changes nothing for the arrivals that follow.
  void settle(std::uint32_t in_packets, std::uint32_t total_packets, Time now) {
    if (in_packets == 0) decay(in_, now);
    if (total_packets == 0) decay(total_, now);
  }

  // Goes on with the parameters of `other`: averages, counts, idle times and random numbers stay. Settle an
  // idle queue first, so that the time before decays at the old pace.
  void adopt(const Rio& other) {
    weight_ = other.weight_;
    for (std::size_t p = 0; p < kPrecedences; ++p) judges_[p].curve = other.judges_[p].curve;
    decay_per_ns_ = other.decay_per_ns_;
    ecn_ = other.ecn_;
  }

  double average_in() const { return in_.value; }
  double average_total() const { return total_.value; }
  // avg_total > min_out: the CSA paper's congestion.
  bool congested() const { return !judges_[index(Precedence::out)].curve.accepts(total_.value); }

 private:
  struct Average {
    double value = 0;
    Time busy_until{};  // meaningful while idle: decayed up to here
  };
  struct Judge {
    RedCurve curve;
    std::uint32_t count = 0;
  };

  void update(Average& average, std::uint32_t packets, Time now) {
    if (packets == 0) [[unlikely]]
      decay(average, now);
    average.value = next(average.value, packets, weight_);
  }
  static double next(double average, std::uint32_t packets, double weight) {
    return std::fma(weight, packets - average, average);
  }

  // Early or not is decided without a branch: no predictor can learn it.
  RioVerdict judge_above_min(Judge& judge, double average, bool ecn_capable) {
    if (judge.curve.forces(average)) {
      judge.count = 0;
      return RioVerdict::forced;
    }
    // u < p_b/(1 - count p_b) without the division, with the count last: it is what the next packet waits
    // for. With count p_b >= 1 it holds for any u: p_a clamped to 1.
    const double p_b = judge.curve.probability(average), u = rng_.uniform();
    const std::uint32_t early = u - p_b < u * p_b * judge.count;
    judge.count = (judge.count + 1) & (early - 1);
    constexpr auto value = [](RioVerdict v) { return static_cast<std::uint32_t>(v); };
    static_assert(value(RioVerdict::accept) == 0 && value(RioVerdict::mark) + 1 == value(RioVerdict::early));
    return static_cast<RioVerdict>(early * (value(RioVerdict::early) - (ecn_ & ecn_capable)));
  }

  void decay(Average& average, Time now) {
    if (now <= average.busy_until) return;
    if (average.value > kNegligible) {
      const auto idle = static_cast<double>((now - average.busy_until).count());
      average.value *= std::exp(-decay_per_ns_ * idle);
    }
    average.busy_until = now;
  }

  Average total_, in_;
  double weight_;
  std::array<Judge, kPrecedences> judges_;
  Rng rng_;
  double decay_per_ns_;  // -ln(1 - weight) * packets that the capacity drains in 1 ns
  bool ecn_;
};

}  // namespace surety
