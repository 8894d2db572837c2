// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/line.h"

#include <utility>

namespace surety::lab {

namespace {
constexpr std::size_t kInitial = 64;
}

Line::Line(const LinkDirection& d, std::uint64_t seed, Time now)
    : ring_(kInitial),
      mask_(kInitial - 1),
      free_at_(now),
      delay_(d.delay),
      rate_(d.rate),
      limit_(d.queue),
      loss_(d.loss.value()),
      rate_bps_(d.rate ? static_cast<double>(d.rate->bits_per_second()) : 0),
      rng_(seed) {}

bool Line::send(rte_mbuf* m, std::uint32_t length, Time now) {
  if (loss_ > 0 && rng_.uniform() < loss_) return ++counters_.lost, false;
  if (limit_ && full(now)) return ++counters_.overflow, false;
  if (tail_ - head_ == ring_.size()) grow();
  const Time starts = std::max(now, free_at_);
  free_at_ = starts + transmission(length);
  ring_[tail_++ & mask_] = {m, starts, free_at_ + delay_};
  ++counters_.packets;
  counters_.bytes += length;
  return true;
}

Duration Line::transmission(std::uint32_t length) {
  if (!rate_) return {};
  if (known_[0].length == length) return known_[0].time;
  std::swap(known_[0], known_[1]);
  if (known_[0].length != length) known_[0] = {length, transmission_time(Bytes(length), *rate_)};
  return known_[0].time;
}

bool Line::full(Time now) {
  waiting_ = std::max(waiting_, head_);
  while (waiting_ < tail_ && ring_[waiting_ & mask_].starts <= now) ++waiting_;
  return tail_ - waiting_ >= *limit_ && free_at_ > now;
}

void Line::grow() {
  std::vector<Flight> larger(2 * ring_.size());
  for (std::uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = ring_[i & mask_];
  ring_ = std::move(larger);
  mask_ = ring_.size() - 1;
}

void Line::discard() {
  while (head_ != tail_) rte_pktmbuf_free(take());
}

}  // namespace surety::lab
