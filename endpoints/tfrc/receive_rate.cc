// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/receive_rate.h"

#include <algorithm>

namespace surety::endpoints {

double ReceiveRate::feedback(Time now, Duration rtt) {
  if (!begun_) return 0;
  Window measured = current_;
  const bool whole = now - current_.since >= rtt;
  if (!whole) measured = {earlier_.since, earlier_.bytes + current_.bytes};
  const Duration elapsed = now - measured.since;
  // However often feedback is sent, a window that grew to two round-trip times has done its duty.
  earlier_ = whole || elapsed >= 2 * rtt ? current_ : measured;
  current_ = {now, 0};
  if (elapsed > Duration::zero()) return static_cast<double>(measured.bytes) / seconds(elapsed);
  earlier_ = current_;
  return 0;
}

void ReceiveRateSet::update(double rate, Time now, Duration keep) {
  const auto old = [&](const Item& i) { return now - i.at > keep; };
  const auto end = std::remove_if(items_.begin(), items_.begin() + size_, old);
  size_ = static_cast<std::size_t>(end - items_.begin());
  if (size_ == kItems) {
    const auto lower = [](const Item& a, const Item& b) { return a.rate < b.rate; };
    *std::min_element(items_.begin(), items_.end(), lower) = {rate, now};
  } else {
    items_[size_++] = {rate, now};
  }
}

void ReceiveRateSet::maximize(double rate, Time now) {
  for (std::size_t i = 0; i < size_; ++i) {
    if (items_[i].rate != kUnlimited) rate = std::max(rate, items_[i].rate);
  }
  replace(rate, now);
}

void ReceiveRateSet::halve() {
  for (std::size_t i = 0; i < size_; ++i) items_[i].rate /= 2;
}

double ReceiveRateSet::max() const {
  double most = 0;
  for (std::size_t i = 0; i < size_; ++i) most = std::max(most, items_[i].rate);
  return most;
}

}  // namespace surety::endpoints
