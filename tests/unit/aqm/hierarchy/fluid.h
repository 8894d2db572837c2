// SPDX-License-Identifier: BSD-3-Clause
// What each queue would get if packets were infinitely small: generalised processor sharing at each level,
// strict traffic first, within shapers and caps.
#pragma once

#include <algorithm>
#include <vector>

namespace surety {

struct Fluid {
  static constexpr double kNoEnd = 1e18;
  double weight = 1, rate = kNoEnd;  // of its shaper
  double strict = 0;                 // wanted by strict classes; of an interface
  bool data = false;                 // it has data without end
  std::vector<Fluid> children;
  double got_strict = 0, got_data = 0;

  // As the port.
  void solve() {
    give(&Fluid::wants_strict, &Fluid::got_strict, wants_strict());
    give(&Fluid::wants_data, &Fluid::got_data, wants_data());
  }

 private:
  double wants_strict() const {
    double sum = strict;
    for (const Fluid& c : children) sum += c.wants_strict();
    return std::min(sum, rate);
  }
  double wants_data() const {
    double sum = data ? kNoEnd : 0;
    for (const Fluid& c : children) sum += c.wants_data();
    return std::min(sum, rate - got_strict);
  }
  void give(double (Fluid::*wants)() const, double Fluid::*got, double amount) {
    this->*got = amount;
    std::vector<Fluid*> hungry;
    for (Fluid& c : children)
      if ((c.*wants)() > 0) hungry.push_back(&c);
    // Who wants less than his share gets that; the others share what is left.
    for (bool all_want_more = false; !all_want_more && !hungry.empty();) {
      all_want_more = true;
      double weights = 0;
      for (const Fluid* c : hungry) weights += c->weight;
      const double per_weight = amount / weights;
      for (std::size_t i = 0; i < hungry.size();) {
        Fluid& c = *hungry[i];
        const double most = (c.*wants)();
        if (most > per_weight * c.weight) {
          ++i;
          continue;
        }
        c.give(wants, got, most);
        amount -= most;
        hungry.erase(hungry.begin() + static_cast<std::ptrdiff_t>(i));
        all_want_more = false;
      }
      if (!all_want_more) continue;
      for (Fluid* c : hungry) c->give(wants, got, per_weight * c->weight);
    }
  }
};

}  // namespace surety
