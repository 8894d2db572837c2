// SPDX-License-Identifier: BSD-3-Clause
#include "aqm/active_queue.h"

#include <algorithm>
#include <utility>

namespace surety {

ActiveQueue::ActiveQueue(const ActiveQueueParams& params, std::uint64_t seed)
    : ring_(QueueMeasure(params).places()),
      red_(params.rio && params.rio->red),
      decision_(seed),
      rules_(params),
      quota_(rules_.measure.by_bytes() ? std::make_unique<CustomerQuota>(kPorts) : nullptr) {}

void ActiveQueue::adopt(ActiveQueue& fresh, Time now) {
  const QueueMeasure measure = fresh.rules_.measure;
  decision_.adopt(rules_, fresh.rules_, fresh.decision_.rio, content(), now);
  red_ = fresh.red_ || counters_[index(Precedence::red)].waiting() != 0;
  rules_ = fresh.rules_;
  rules_.measure = measure.within(ring_.most());
  if (!quota_ && fresh.quota_) {
    std::swap(quota_, fresh.quota_);
    for (std::uint32_t at = head_; at != tail_; ++at) share({&ring_.packet(at), 1});
  }
  std::swap(next_, fresh.next_);
  if (measure.places() > ring_.most()) next_ = {std::move(fresh.ring_), measure, head_, true};
}

// Positions run on and wrap: only their differences mean anything. Packets do not change while they wait.
bool ActiveQueue::grow(std::uint32_t& budget) {
  if (!next_.to_come) return false;
  std::uint32_t at = static_cast<std::int32_t>(head_ - next_.copied) > 0 ? head_ : next_.copied;
  const std::uint32_t n = std::min(budget, tail_ - at);
  for (const std::uint32_t end = at + n; at != end; ++at)
    next_.ring.put(at, ring_.packet(at), ring_.time(at));
  budget -= n;
  next_.copied = at;
  if (at != tail_) return true;
  std::swap(ring_, next_.ring);
  rules_.measure = next_.measure;
  next_.to_come = false;
  return false;
}

[[gnu::noinline]] std::size_t ActiveQueue::enqueue(std::span<const Packet> packets,
                                                   std::span<const bool> ecn_capable,
                                                   std::span<Notice> notices, Time now) {
  if (accept_all(packets, now)) [[likely]]
    return 0;
  std::size_t noticed = 0;
  if (!rules_.rio) {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      notices[noticed] = {static_cast<std::uint8_t>(i), enqueue(packets[i], false, now)};
      noticed += notices[noticed].result.drop != DropReason::none;
    }
    return noticed;
  }
  std::size_t i = 0;
  while ((i += accept(packets.subspan(i), now)) < packets.size()) {
    notices[noticed] = {static_cast<std::uint8_t>(i), enqueue(packets[i], ecn_capable[i], now)};
    noticed += notices[noticed].needed();
    ++i;
  }
  return noticed;
}

bool ActiveQueue::accept_all(std::span<const Packet> packets, Time now) {
  const std::uint32_t depth = this->depth(), n = static_cast<std::uint32_t>(packets.size());
  const QueueMeasure& measure = rules_.measure;
  if ((n < 2) | red_ || depth + n > measure.packets(Precedence::in)) return false;
  const PacketMix mix(packets);
  const std::uint32_t outs = mix.outs, ins = n - outs, length = packets.front().length;
  if (outs > 0 && depth + n > measure.packets(Precedence::out)) return false;
  if (rules_.rio) {
    if (measure.by_bytes() && !mix.alike) return false;
    const double step = measure.step(length);
    const RioRules::Level in{QueueDecision::in_level(rules_, content()), step}, total{level(), step};
    if (!rules_.rio->accept_all(decision_.rio, ins, outs, in, total, now)) return false;
  }
  ring_.put(tail_, packets, now);
  tail_ += n;
  in_depth_ += ins;
  if (mix.alike) [[likely]] {
    counted_ += n * QueueMeasure::counted(length);
    in_counted_ += ins * QueueMeasure::counted(length);
    large_ |= length > QueueMeasure::kFullPacket;
  } else {
    for (const Packet& p : packets) count(p);
  }
  if (packets.front().flow != kNoFlow) [[unlikely]]
    share(packets);
  arrived(ins, outs);
  return true;
}

void ActiveQueue::share(std::span<const Packet> packets) {
  if (!quota_) return;
  for (const Packet& p : packets) {
    if (p.flow == kNoFlow) continue;
    quota_->add(customer(p));
    ++shared_;
  }
}

// Keeps the state that each arrival changes in locals: through members each packet would wait for the store
// of the previous one, which doubles the cost.
std::size_t ActiveQueue::accept(std::span<const Packet> packets, Time now) {
  std::uint32_t depth = this->depth(), in_depth = in_depth_;
  std::uint32_t counted = counted_, in_counted = in_counted_;
  RioRules::Accepting rio(*rules_.rio, decision_.rio, in_depth, depth);
  const QueueMeasure measure = rules_.measure;
  bool large = large_;
  std::uint32_t n = 0;
  for (const Packet& packet : packets) {
    const Precedence precedence = packet.precedence;
    if (depth >= measure.packets(precedence)) break;
    if (!rio.accept(precedence, measure.level(in_depth, in_counted), measure.level(depth, counted))) break;
    const bool in = precedence == Precedence::in;
    in_depth += in;
    const std::uint32_t counts = QueueMeasure::counted(packet.length);
    counted += counts;
    in_counted += in ? counts : 0u;
    large |= counts < packet.length;
    ++depth;
    ++n;
  }
  if (n == 0) return 0;
  ring_.put(tail_, packets.first(n), now);
  if (packets.front().flow != kNoFlow) [[unlikely]]
    share(packets.first(n));
  const auto is_red = [](const Packet& p) { return p.precedence == Precedence::red; };
  const auto reds = red_ ? static_cast<std::uint32_t>(std::ranges::count_if(packets.first(n), is_red)) : 0u;
  const std::uint32_t ins = in_depth - in_depth_, outs = n - ins - reds;
  rio.keep(decision_.rio, ins, outs, reds);
  tail_ += n;
  in_depth_ = in_depth;
  counted_ = counted;
  in_counted_ = in_counted;
  large_ = large;
  arrived(ins, outs);
  if (red_) [[unlikely]]
    counters_[index(Precedence::red)].arrivals += reds;
  return n;
}

// Counts packets that RIO accepted without a verdict for each.
void ActiveQueue::arrived(std::uint32_t ins, std::uint32_t outs) {
  if (rules_.rio && outs > 0) decision_.rio.detector.out_arrival(false);  // accepted: no congestion
  counters_[index(Precedence::in)].arrivals += ins;
  counters_[index(Precedence::out)].arrivals += outs;
}

void ActiveQueue::remove(const PacketTally& t, Time now) {
  if (t.packets == 0) return;
  note_sojourn(t.packets, now);
  counted_ -= static_cast<std::uint32_t>(t.bytes);
  in_counted_ -= static_cast<std::uint32_t>(t.in_bytes);
  if (large_ | red_ | (shared_ != 0)) [[unlikely]]
    correct(t.packets);
  head_ += t.packets;
  in_depth_ -= t.ins;
  departed(Precedence::in, t.ins, t.in_bytes, now);
  departed(Precedence::out, t.outs(), t.out_bytes(), now);
}

// Adds again what remove() takes off for more than a packet counts, counts red packets, which its tally has
// as OUT, and takes packets from the parts of their customers.
void ActiveQueue::correct(std::uint32_t packets) {
  QueueCounters &out = counters_[index(Precedence::out)], &red = counters_[index(Precedence::red)];
  for (std::uint32_t at = head_; at != head_ + packets; ++at) {
    const Packet& p = ring_.packet(at);
    const std::uint32_t more = p.length - QueueMeasure::counted(p.length);
    counted_ += more;
    in_counted_ += p.precedence == Precedence::in ? more : 0u;
    if (quota_ && p.flow != kNoFlow) {
      quota_->remove(customer(p));
      --shared_;
    }
    if (p.precedence != Precedence::red) continue;
    ++red.departures, --out.departures;
    red.departed_bytes += p.length, out.departed_bytes -= p.length;
  }
  large_ &= depth() > packets;
}

// Adds the sojourn times of the first `packets`, most of which arrived together.
void ActiveQueue::note_sojourn(std::uint32_t packets, Time now) {
  std::uint32_t at = head_;
  for (const std::uint32_t end = head_ + packets; at != end;) {
    const Time came = ring_.time(at);
    std::uint32_t run = end - at;
    if (ring_.time(end - 1) != came)
      for (run = 1; ring_.time(at + run) == came;) ++run;
    sojourn_.add(now - came, run);
    at += run;
  }
}

void ActiveQueue::departed(Precedence precedence, std::uint64_t packets, std::uint64_t bytes, Time now) {
  QueueCounters& counters = counters_[index(precedence)];
  counters.departures += packets;
  counters.departed_bytes += bytes;
  decision_.depart(rules_, precedence, packets, content(), now);
}

}  // namespace surety
