// SPDX-License-Identifier: BSD-3-Clause
// The order in which the counters of a table are shown: those that stand at a place of their own, among what
// is not a counter, are asked for by name; rest() are all others, in the order of their table. So a new
// counter is shown without being named here.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "conditioners/counter_table.h"

namespace surety {

template <class Counters>
class CounterOrder {
 public:
  using Info = CounterInfo<Counters>;
  using Member = std::uint64_t Counters::*;

  // Each counter may be asked for once.
  Info next(Member member) {
    const auto found =
        std::find_if(left_.begin(), left_.end(), [member](const Info& i) { return i.member == member; });
    const Info info = *found;
    left_.erase(found);
    return info;
  }
  std::vector<Info> next(std::initializer_list<Member> members) {
    std::vector<Info> infos;
    for (const Member member : members) infos.push_back(next(member));
    return infos;
  }
  const std::vector<Info>& rest() const { return left_; }

 private:
  static constexpr auto kTable = Counters::table();
  std::vector<Info> left_{kTable.begin(), kTable.end()};
};

}  // namespace surety
