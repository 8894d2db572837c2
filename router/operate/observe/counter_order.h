// SPDX-License-Identifier: BSD-3-Clause
// The order in which the counters of a table are shown: next() returns counters with a fixed place among
// other columns, by name; rest() returns all others, in table order. A new counter is therefore shown without
// further code.
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

  // Each counter may be requested once.
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
