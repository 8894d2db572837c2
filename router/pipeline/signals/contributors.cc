// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/signals/contributors.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace surety {

namespace {
// A source with eight packets in a kPace has a sample in it, as a rule.
constexpr Duration kFast = Contributors::kPace / 8;
}  // namespace

Contributors::Contributors(std::uint32_t limit)
    : share_(std::min(static_cast<std::size_t>(limit * kPace / std::chrono::seconds(2)), kMost)),
      sources_(kRoom) {}

void Contributors::congested(bool eighth, Time now) {
  last_ = now;
  eighth_ = eighth_ || eighth;
  if (!watching()) next_ = now + kPace;
}

std::size_t Contributors::set_of(const IpAddress& s, const IpAddress& d, std::uint8_t dscp) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t h = ((s.high * kOdd ^ s.low) * kOdd ^ d.high) * kOdd ^ d.low;
  h = (h ^ h >> 32 ^ dscp) * kOdd;
  return (h >> 32) % (kRoom / kWays) * kWays;
}

// The time between its last two packets, or since the last one if longer.
Duration Contributors::interval(const Source& s, Time now) {
  return std::max(s.before == Time::min() ? Duration{} : s.seen - s.before, now - s.seen);
}

// The source of lowest rank is displaced: removed ones first, then fast ones, then new ones of unknown rate.
Duration Contributors::rank(const Source& s, Time now) {
  if (!is_live(s, now)) return Duration(-1);
  return s.before == Time::min() ? std::max(kPace, interval(s, now)) : interval(s, now);
}

// The place of a source; a new one displaces another, and has no packets yet. A source that awaits the end of
// a congestion is displaced last.
Contributors::Source& Contributors::place_of(const IpAddress& source, const IpAddress& destination,
                                             std::uint8_t dscp, Time now) {
  Source* const set = &sources_[set_of(source, destination, dscp)];
  Source* lowest = set;
  const auto order = [&](const Source* s) {
    const auto at = static_cast<std::size_t>(s - sources_.data());
    return std::pair(in_period_[at / 64] >> at % 64 & 1, rank(*s, now));
  };
  for (Source* s = set; s != set + kWays; ++s) {
    if (s->source == source && s->destination == destination && s->dscp == dscp && is_live(*s, now))
      return *s;
    if (order(s) < order(lowest)) lowest = s;
  }
  const auto at = static_cast<std::size_t>(lowest - sources_.data());
  used_[at / 64] |= std::uint64_t{1} << at % 64;
  *lowest = Source{};
  lowest->source = source;
  lowest->destination = destination;
  lowest->dscp = dscp;
  return *lowest;
}

void Contributors::note(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp, Time now) {
  Source& s = place_of(source, destination, dscp, now);
  s.before = s.seen;
  s.seen = now;
}

bool Contributors::may_sample(const IpAddress& source, const IpAddress& destination, std::uint8_t dscp,
                              Time now) {
  Source& s = place_of(source, destination, dscp, now);
  s.seen = std::max(s.seen, now);
  if (is_told(s, now) || (reminded_ > 0 && samples_++ >= share_)) return false;
  s.told = now;
  return true;
}

template <class F>
void Contributors::each_live(Time now, F&& f) {
  for (std::size_t word = 0; word < used_.size(); ++word)
    for (std::uint64_t left = used_[word]; left != 0; left &= left - 1) {
      const std::size_t i = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
      if (is_live(sources_[i], now)) f(i);
    }
}

std::size_t Contributors::remind(bool congested, Time now, std::span<CongestionSignal> out) {
  const bool due = eighth_ || (congested && congested_);
  eighth_ = false;
  congested_ = congested;
  if (congested) last_ = now;
  next_ = now - last_ > kMemory ? kNever : now + kPace;
  samples_ = 0;
  if (!due) return 0;
  std::array<std::uint16_t, kRoom> slow;
  std::size_t n = 0;
  each_live(now, [&](std::size_t i) {
    if (!is_told(sources_[i], now) && interval(sources_[i], now) >= kFast)
      slow[n++] = static_cast<std::uint16_t>(i);
  });
  reminded_ = 0;
  if (n == 0 || n > 2 * share_) return 0;
  reminded_ = std::min({n, share_, out.size()});
  for (std::size_t k = 0; k < reminded_; ++k) {
    Source& s = sources_[slow[cursor_++ % n]];
    s.told = now;
    CongestionSignal& signal = out[k] = {s.source, s.destination, 0, 0, s.dscp, now, {}};
    signal.kind = SignalKind::reminder;
  }
  return reminded_;
}

std::size_t Contributors::report(SignalKind kind, const CongestionSignal& arrival,
                                 std::span<CongestionSignal> out) {
  const Time now = arrival.time;
  if (kind == SignalKind::onset || next_ == kNever) dscp_ = arrival.dscp;
  if (next_ == kNever) next_ = now + kCheck;
  std::array<std::uint16_t, kRoom> live;
  std::size_t n = 0, own = kRoom;
  each_live(now, [&](std::size_t i) {
    if (sources_[i].source == arrival.source && sources_[i].destination == arrival.destination) own = n;
    live[n++] = static_cast<std::uint16_t>(i);
  });
  const std::size_t told = std::min({n, out.size(), kind == SignalKind::eighth ? 1 : kMost});
  for (std::size_t k = 0; k < told; ++k) {
    const bool to_own = kind == SignalKind::eighth && own < n;
    const std::size_t place = live[to_own ? own : cursor_++ % n];
    const Source& s = sources_[place];
    in_period_[place / 64] |= std::uint64_t{1} << place % 64;
    out[k] = {s.source, s.destination, 0, 0, arrival.dscp, now, {}, kind, {}};
  }
  return told;
}

std::size_t Contributors::check(bool congested, Time now, std::span<CongestionSignal> out) {
  next_ = now + kCheck;
  if (congested) return 0;
  std::size_t told = 0;
  for (std::size_t i = 0; i < kRoom && told < std::min(out.size(), kMost); ++i) {
    std::uint64_t& places = in_period_[i / 64];
    if ((places >> i % 64 & 1) == 0) continue;
    places &= ~(std::uint64_t{1} << i % 64);
    const Source& s = sources_[i];
    out[told++] = {s.source, s.destination, 0, 0, dscp_, now, {}, SignalKind::clear, {}};
  }
  if (std::ranges::all_of(in_period_, [](std::uint64_t places) { return places == 0; })) next_ = kNever;
  return told;
}

}  // namespace surety
