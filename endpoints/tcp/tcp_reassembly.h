// SPDX-License-Identifier: BSD-3-Clause
// The parts of a TCP stream beyond RCV.NXT that have arrived: ranges without bytes. All data within the
// offered window has room here, however many holes there are (range_set.h).
#pragma once

#include "endpoints/tcp/range_set.h"

namespace surety::endpoints {

class TcpReassembly {
 public:
  // Effect of a segment: some of it is new; nothing is new; or nothing was noted, since it needs one range
  // more than there may be.
  enum class Added : std::uint8_t { fresh, duplicate, full };

  // Notes [begin, end), begin before end, that lies beyond RCV.NXT.
  Added add(std::uint32_t begin, std::uint32_t end) {
    if (ranges_.overlap(begin, end) == RangeSet::Range{begin, end}) return Added::duplicate;
    return ranges_.add(begin, end) ? Added::fresh : Added::full;
  }

  // RCV.NXT, when everything before `next` has arrived in order: the end of what is contiguous then. Forgets
  // everything before that.
  std::uint32_t advance(std::uint32_t next) {
    const std::size_t i = ranges_.behind(next);
    const bool joins = i < ranges_.size() && static_cast<std::int32_t>(ranges_[i].begin - next) <= 0;
    if (joins) next = ranges_[i].end;
    ranges_.pop_front(i + (joins ? 1 : 0));
    return next;
  }

  bool empty() const { return ranges_.empty(); }
  const RangeSet& ranges() const { return ranges_; }

 private:
  RangeSet ranges_;
};

}  // namespace surety::endpoints
