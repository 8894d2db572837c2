// SPDX-License-Identifier: BSD-3-Clause
#include "endpoints/tfrc/loss_intervals.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace surety::endpoints {
namespace {

constexpr double kLeastDiscount = 0.25;  // THRESHOLD
// One round-trip time in ticks of the window counter. The rest keeps exact ties of interpolated counters from
// turning on the rounding of doubles.
constexpr double kEventTicks = 4 + 1e-9;
constexpr double kMostTicks = 0x1p32;  // within one hole: no honest sender comes near
constexpr std::uint64_t kWindow = 64;  // bits of seen_
constexpr int kMeanShift = 8;

std::uint64_t whole(double x) {
  return static_cast<std::uint64_t>(std::min(x, 0x1p62));
}

}  // namespace

// The counter has 4 bits. Where packets are missing in between it may have gone round: of the possible values
// the one nearest to what so many packets usually take.
std::int64_t LossIntervals::extend(const Received& before, const Received& packet) const {
  const std::int64_t step = (packet.counter - before.counter) & 15;
  const std::uint64_t packets = packet.sequence - before.sequence;
  if (packets == 1) return before.counter + step;
  const double usual = static_cast<double>(packets) * ticks_per_packet_ * 0x1p-16;
  const double rounds = std::round((std::min(usual, kMostTicks) - static_cast<double>(step)) / 16);
  return before.counter + step + 16 * static_cast<std::int64_t>(std::max(rounds, 0.0));
}

LossIntervals::Arrival LossIntervals::on_packet(std::uint64_t sequence, std::uint8_t window_counter,
                                                bool marked) {
  marks_ = marks_ || marked;
  Arrival a = take({sequence, window_counter & 15, marked});
  if (marks_ && take_marks()) a.new_loss_event = true;
  return a;
}

LossIntervals::Arrival LossIntervals::take(Received packet) {
  const std::uint64_t sequence = packet.sequence;
  if (arrived_ == 0) {
    top_[0] = packet;
    first_ = sequence;
    seen_ = arrived_ = 1;
    return {};
  }
  if (sequence <= top_[0].sequence) return on_reordered(packet);
  const std::uint64_t ahead = sequence - top_[0].sequence;
  packet.counter = extend(top_[0], packet);
  if (ahead == 1) {
    const auto ticks = static_cast<std::uint32_t>(packet.counter - top_[0].counter) << 16;
    // A plain mean at first, then a running one.
    const int shift = std::min(static_cast<int>(std::bit_width(ticks_samples_)), kMeanShift);
    ticks_samples_ = static_cast<std::uint16_t>(std::min(ticks_samples_ + 1, 1 << kMeanShift));
    ticks_per_packet_ += (ticks >> shift) - (ticks_per_packet_ >> shift);
  }
  seen_ = ahead < kWindow ? seen_ << ahead | 1 : 1;
  return insert(0, sequence, packet.counter, packet.marked);
}

LossIntervals::Arrival LossIntervals::on_reordered(Received packet) {
  const std::uint64_t age = top_[0].sequence - packet.sequence;
  const bool decided = arrived_ == kNdupack && packet.sequence <= top_[2].sequence;
  const bool seen = age < kWindow ? (seen_ >> age & 1) != 0 : decided || packet.sequence == top_[1].sequence;
  if (seen) return {.duplicate = true};
  if (age < kWindow) seen_ |= std::uint64_t{1} << age;
  if (decided) {
    if (packet.sequence > first_) --lost_;
    return {};
  }
  std::size_t place = arrived_;
  while (top_[place - 1].sequence < packet.sequence) --place;
  if (place < arrived_) {
    packet.counter = std::min(extend(top_[place], packet), top_[place - 1].counter);
  } else {
    first_ = packet.sequence;
    packet.counter = top_[place - 1].counter - ((top_[place - 1].counter - packet.counter) & 15);
  }
  return insert(place, packet.sequence, packet.counter, packet.marked);
}

void LossIntervals::end_at(std::uint64_t last) {
  if (arrived_ == 0) return;
  const std::uint64_t undecided = std::max(last, top_[0].sequence) - top_[arrived_ - 1u].sequence + 1;
  lost_ += undecided - arrived_ - (last > top_[0].sequence ? 1 : 0);
}

// Decides the packets between the one that leaves the highest three and the lowest that stays. Arguments are
// in registers: a Received that has just been put together would be copied in one piece, and wait for that.
LossIntervals::Arrival LossIntervals::insert(std::size_t place, std::uint64_t sequence, std::int64_t counter,
                                             bool marked) {
  const bool full = arrived_ == kNdupack;
  const Received oldest = top_[kNdupack - 1];
  for (std::size_t i = kNdupack - 1; i > place; --i) top_[i] = top_[i - 1];
  top_[place] = {sequence, counter, marked};
  if (!full) return ++arrived_, Arrival{};
  const std::uint64_t missing = top_[kNdupack - 1].sequence - oldest.sequence - 1;
  if (missing == 0) return {};
  lost_ += missing;
  return {.new_loss_event = lose(oldest, top_[kNdupack - 1]), .newly_lost = missing};
}

// Number j of the missing has the window counter before + ticks j / (missing + 1).
bool LossIntervals::lose(const Received& before, const Received& after) {
  const std::uint64_t missing = after.sequence - before.sequence - 1;
  const auto begin = static_cast<double>(before.counter);
  const auto ticks = static_cast<double>(after.counter - before.counter);
  const auto steps = static_cast<double>(missing + 1);
  const double room = start_counter_ + kEventTicks - begin;
  std::uint64_t j = 1;  // the first that begins an event
  if (loss_events_ > 0 && room >= 0) j = ticks > 0 ? whole(room * steps / ticks) + 1 : missing + 1;
  if (loss_events_ > 0 && j > 1) last_lost_ = before.sequence + std::min(j - 1, missing);
  if (j > missing) return false;

  const std::uint64_t spacing = ticks > 0 ? whole(kEventTicks * steps / ticks) + 1 : missing;
  const std::uint64_t events = (missing - j) / spacing + 1;
  if (events > kIntervals + 1) {  // only the last of them leave a trace
    const std::uint64_t skipped = events - (kIntervals + 1);
    j += skipped * spacing;
    loss_events_ += skipped;
    start_ = before.sequence + j - spacing;
    last_lost_ = before.sequence + j - 1;
  }
  for (; j <= missing; j += spacing) {
    begin_event(before.sequence + j, begin + ticks * static_cast<double>(j) / steps);
    last_lost_ = before.sequence + std::min(j + spacing - 1, missing);
  }
  return true;
}

// Events are separated in the order of numbers: up to the first hole that is undecided.
bool LossIntervals::take_marks() {
  bool event = false;
  marks_ = false;
  for (std::size_t i = arrived_; i-- > 0;) {
    if (i + 1u < arrived_ && top_[i].sequence != top_[i + 1].sequence + 1) {
      marks_ = true;
      break;
    }
    if (!top_[i].marked) continue;
    top_[i].marked = false;
    event = take_mark(top_[i]) || event;
  }
  return event;
}

bool LossIntervals::take_mark(const Received& packet) {
  if (packet.sequence <= first_) return false;  // nothing came before it
  const auto counter = static_cast<double>(packet.counter);
  const bool begins = loss_events_ == 0 || counter > start_counter_ + kEventTicks;
  if (begins) begin_event(packet.sequence, counter);
  last_lost_ = packet.sequence;
  return begins;
}

void LossIntervals::begin_event(std::uint64_t sequence, double counter) {
  const bool first = loss_events_++ == 0;
  if (first) start_ = first_;
  const auto length = static_cast<double>(sequence - start_);
  const double discount = general_discount(length, mean_closed_interval(history(), discounts()));
  for (std::size_t i = kIntervals - 1; i > 0; --i) {
    length_[i] = length_[i - 1];
    loss_[i] = loss_[i - 1];
    discount_[i] = discount_[i - 1] * discount;
  }
  length_[0] = length;
  loss_[0] = first ? 0 : last_lost_ - start_ + 1;
  discount_[0] = 1;
  wants_first_ = first || (wants_first_ && closed_ < kIntervals);
  closed_ = static_cast<std::uint8_t>(std::min<std::size_t>(closed_ + 1u, kIntervals));
  start_ = sequence;
  start_counter_ = counter;
}

void LossIntervals::set_first_interval(double packets) {
  if (!wants_first_) return;
  length_[closed_ - 1u] = std::max(packets, 1.0);
  wants_first_ = false;
}

double LossIntervals::loss_event_rate() const {
  if (closed_ == 0) return 0;
  const auto current = static_cast<double>(top_[0].sequence - start_ + 1);
  const double discount = general_discount(current, mean_closed_interval(history(), discounts()));
  return 1 / average_loss_interval(current, history(), discounts(), discount);
}

std::size_t LossIntervals::intervals(std::span<Interval, kIntervals + 1> out) const {
  if (arrived_ == 0) return 0;
  if (closed_ == 0) {
    out[0] = {top_[0].sequence - first_ + 1, 0};
    return 1;
  }
  out[0] = {top_[0].sequence - last_lost_, last_lost_ - start_ + 1};
  for (std::size_t i = 0; i < closed_; ++i) out[i + 1] = {whole(length_[i]) - loss_[i], loss_[i]};
  return closed_ + 1u;
}

double mean_closed_interval(std::span<const double> history, std::span<const double> discounts) {
  double packets = 0, weight = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    packets += history[i] * LossIntervals::kWeights[i] * discounts[i];
    weight += LossIntervals::kWeights[i] * discounts[i];
  }
  return weight > 0 ? packets / weight : 0;
}

double general_discount(double current, double mean) {
  return mean > 0 && current > 2 * mean ? std::max(2 * mean / current, kLeastDiscount) : 1;
}

double average_loss_interval(double current, std::span<const double> history,
                             std::span<const double> discounts, double general_discount) {
  double packets = current * LossIntervals::kWeights[0], weight = LossIntervals::kWeights[0];
  for (std::size_t i = 0; i + 1 < history.size(); ++i) {
    const double w = LossIntervals::kWeights[i + 1] * discounts[i] * general_discount;
    packets += history[i] * w;
    weight += w;
  }
  return std::max(packets / weight, mean_closed_interval(history, discounts));
}

}  // namespace surety::endpoints
