// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tcp/range_set.h"

#include <algorithm>
#include <new>

namespace surety::endpoints {

using tcp::before;

namespace {
std::uint32_t later(std::uint32_t a, std::uint32_t b) {
  return before(a, b) ? b : a;
}
std::uint32_t earlier(std::uint32_t a, std::uint32_t b) {
  return before(a, b) ? a : b;
}
}  // namespace

std::size_t RangeSet::behind(std::uint32_t at) const {
  if (count_ == 0 || !before(at, (*this)[count_ - 1].end)) return count_;  // new data mostly comes last
  std::size_t low = 0, high = count_ - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (before(at, (*this)[middle].end))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

bool RangeSet::add(std::uint32_t begin, std::uint32_t end) {
  const std::size_t first = behind(begin - 1);  // a range that ends at `begin` is touched
  if (first == count_ || before(end, (*this)[first].begin)) return insert(first, {begin, end});
  std::size_t last = first + 1;
  while (last < count_ && !before(end, (*this)[last].begin)) ++last;
  at(first) = {earlier(begin, (*this)[first].begin), later(end, (*this)[last - 1].end)};
  erase(first + 1, last);
  return true;
}

bool RangeSet::insert(std::size_t i, Range range) {
  if (count_ == capacity_ && !grow()) return false;
  ++count_;
  if (2 * i < count_) {
    head_ = (head_ - 1) & (capacity_ - 1);
    for (std::size_t j = 0; j < i; ++j) at(j) = at(j + 1);
  } else {
    for (std::size_t j = count_ - 1; j > i; --j) at(j) = at(j - 1);
  }
  at(i) = range;
  return true;
}

void RangeSet::erase(std::size_t first, std::size_t last) {
  const std::size_t n = last - first;
  if (first < count_ - last) {
    for (std::size_t j = first; j > 0; --j) at(j - 1 + n) = at(j - 1);
    head_ = static_cast<std::uint32_t>(head_ + n) & (capacity_ - 1);
  } else {
    for (std::size_t j = last; j < count_; ++j) at(j - n) = at(j);
  }
  count_ -= static_cast<std::uint32_t>(n);
  if (count_ != 0 || !more_) return;
  more_.reset();
  head_ = 0;
  capacity_ = kKept;
}

bool RangeSet::grow() {
  if (capacity_ == kMost) return false;
  std::unique_ptr<Range[]> wider(new (std::nothrow) Range[2 * std::size_t{capacity_}]);
  if (!wider) return false;
  for (std::size_t j = 0; j < count_; ++j) wider[j] = (*this)[j];
  more_ = std::move(wider);
  head_ = 0;
  capacity_ *= 2;
  return true;
}

void RangeSet::forget_before(std::uint32_t to) {
  pop_front(behind(to));
  if (count_ != 0) at(0).begin = later(at(0).begin, to);
}

RangeSet::Range RangeSet::overlap(std::uint32_t begin, std::uint32_t end) const {
  const std::size_t i = behind(begin);
  if (i == count_ || !before((*this)[i].begin, end)) return {};
  return {later(begin, (*this)[i].begin), earlier(end, (*this)[i].end)};
}

std::uint32_t RangeSet::covered(std::uint32_t begin, std::uint32_t end) const {
  std::uint32_t bytes = 0;
  for (std::size_t i = behind(begin); i < count_ && before((*this)[i].begin, end); ++i)
    bytes += earlier(end, (*this)[i].end) - later(begin, (*this)[i].begin);
  return bytes;
}

}  // namespace surety::endpoints
