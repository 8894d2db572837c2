// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/tcp_reassembly.h"

#include <algorithm>

#include "endpoints/tcp/wire_tcp.h"

namespace surety::endpoints {

using tcp::before;

TcpReassembly::Added TcpReassembly::add(std::uint32_t begin, std::uint32_t end) {
  // Ranges [first, last) touch the new one. From the end: new data mostly comes last.
  std::size_t last = count_;
  while (last > 0 && before(end, range_[last - 1].begin)) --last;
  std::size_t first = last;
  while (first > 0 && !before(range_[first - 1].end, begin)) --first;

  if (first == last) {
    if (count_ == kRanges) return Added::full;
    std::copy_backward(range_.begin() + first, range_.begin() + count_, range_.begin() + count_ + 1);
    range_[first] = {begin, end};
    ++count_;
    return Added::fresh;
  }
  const Range& lowest = range_[first];
  if (!before(begin, lowest.begin) && !before(lowest.end, end)) return Added::duplicate;
  const Range& highest = range_[last - 1];
  replace(first, last,
          {before(begin, lowest.begin) ? begin : lowest.begin, before(end, highest.end) ? highest.end : end});
  return Added::fresh;
}

// Ranges [first, last), at least one, become one.
void TcpReassembly::replace(std::size_t first, std::size_t last, Range with) {
  range_[first] = with;
  std::copy(range_.begin() + last, range_.begin() + count_, range_.begin() + first + 1);
  count_ -= static_cast<std::uint32_t>(last - first - 1);
}

std::uint32_t TcpReassembly::advance(std::uint32_t next) {
  std::size_t gone = 0;
  for (; gone < count_ && !before(next, range_[gone].begin); ++gone)
    if (before(next, range_[gone].end)) next = range_[gone].end;
  if (gone > 0) {
    std::copy(range_.begin() + gone, range_.begin() + count_, range_.begin());
    count_ -= static_cast<std::uint32_t>(gone);
  }
  return next;
}

}  // namespace surety::endpoints
