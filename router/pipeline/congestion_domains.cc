// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/congestion_domains.h"

#include <bit>
#include <utility>

#include "router/pipeline/egress_queues.h"

namespace surety {

std::vector<CongestionDomains::Controller> CongestionDomains::configured(const Snapshot& snapshot,
                                                                         PortIndex port, Time now) {
  std::vector<Controller> controllers;
  for (std::size_t d = 0; d < snapshot.domains.size(); ++d) {
    const CsaDomain& domain = snapshot.domains[d];
    if (domain.port == port)
      controllers.push_back(
          {static_cast<std::uint16_t>(d), domain.class_index, CsaController(domain.params, now)});
  }
  return controllers;
}

CongestionDomains::CongestionDomains(std::vector<Controller> controllers, std::size_t capacity,
                                     PortIndex port)
    : controllers_(std::move(controllers)),
      alphas_(std::make_unique<std::atomic<Ratio>[]>(capacity)),
      port_(port) {
  for (std::size_t d = 0; d < capacity; ++d) alphas_[d].store(Ratio::of(1), std::memory_order_relaxed);
  for (const Controller& c : controllers_) publish(c);
}

void CongestionDomains::adopt(std::vector<Controller>& fresh) {
  auto old = controllers_.begin();
  for (Controller& c : fresh) {
    while (old != controllers_.end() && old->domain < c.domain) ++old;
    if (old != controllers_.end() && old->domain == c.domain) {
      const Ratio max = c.csa.params().max;
      c.csa = old->csa;
      c.csa.set_max(max);
    }
    publish(c);
  }
  controllers_.swap(fresh);
}

void CongestionDomains::move(const ClassMoves& moves, std::vector<Contributors>& fresh) {
  watched_ = moves.image(watched_);
  if (contributors_.empty()) return;
  for (std::size_t c = 0; c < contributors_.size(); ++c)
    if (moves.to[c] != ClassMoves::kGone) std::swap(contributors_[c], fresh[moves.to[c]]);
  contributors_.swap(fresh);
  if (events_) watched_ = all_classes();
}

void CongestionDomains::arrival(std::size_t class_index, CongestionEvent event, const Packet& p, Time now) {
  for (Controller& c : controllers_) {
    if (c.class_index != class_index) continue;
    // Timers that expire now come first: until an onset the queue was not congested, until an eighth it was.
    c.csa.advance(now, event == CongestionEvent::eighth);
    if (event == CongestionEvent::onset) c.csa.onset(now);
    if (event == CongestionEvent::eighth) c.csa.eighth(now);
    publish(c);
  }
  if (!signals_on_) return;
  if (events_) return report(class_index, event, p, now);
  Contributors& contributors = contributors_[class_index];
  const bool eighth = event == CongestionEvent::eighth;
  contributors.congested(eighth, now);
  watched_ |= std::uint64_t{contributors.watching()} << class_index;
  if (eighth) sample(class_index, p, now);
}

void CongestionDomains::enable_signals(bool on, std::size_t classes, std::uint32_t limit,
                                       config::Signalling::Report report) {
  signals_on_ = on;
  if (!on || !contributors_.empty()) return;
  contributors_.assign(classes, Contributors(limit));
  batch_.resize(Contributors::kMost);
  events_ = report == config::Signalling::Report::events;
  if (events_) watched_ = all_classes();
}

[[gnu::noinline]] void CongestionDomains::note(const ClassRun& run, Time now) {
  for (const Packet& p : run.packets) note(run.class_index, p, now);
}

void CongestionDomains::note(std::size_t class_index, const Packet& packet, Time now) {
  if (packet.precedence != (events_ ? Precedence::in : Precedence::out)) return;
  const std::uint8_t* const ip = egress_ip(packet);
  const std::uint8_t dscp = events_ ? std::uint8_t{0} : traffic_class(ip) >> 2;
  contributors_[class_index].note(source_of(ip), destination_of(ip), dscp, now);
}

[[gnu::noinline]] void CongestionDomains::sample(std::size_t class_index, const Packet& p, Time now) {
  CongestionSignal s = signal_about({egress_ip(p), p.length});
  if (!contributors_[class_index].may_sample(s.source, s.destination, s.dscp, now)) return;
  s.port = port_;
  s.class_index = static_cast<std::uint8_t>(class_index);
  s.time = now;
  signals_.push(s);
}

void CongestionDomains::advance(EgressQueues& queues, Time now) {
  const auto congested = [&](std::size_t class_index) {
    return by_kind(queues, [&](auto& q) { return q.congested(class_index, now); });
  };
  for (Controller& c : controllers_) {
    if (now < c.csa.next_event()) continue;
    c.csa.advance(now, congested(c.class_index));
    publish(c);
  }
  for (std::uint64_t left = watched_; left != 0; left &= left - 1) {
    const auto c = static_cast<std::size_t>(std::countr_zero(left));
    if (now < contributors_[c].next()) continue;
    remind(c, congested(c), now);
  }
}

void CongestionDomains::remind(std::size_t class_index, bool congested, Time now) {
  Contributors& contributors = contributors_[class_index];
  if (events_) return send(class_index, contributors.check(congested, now, batch_));
  send(class_index, contributors.remind(congested, now, batch_));
  if (!contributors.watching()) watched_ &= ~(std::uint64_t{1} << class_index);
}

[[gnu::noinline]] void CongestionDomains::report(std::size_t class_index, CongestionEvent event,
                                                 const Packet& p, Time now) {
  CongestionSignal arrival = signal_about({egress_ip(p), p.length});
  arrival.time = now;
  const SignalKind kind = event == CongestionEvent::onset ? SignalKind::onset : SignalKind::eighth;
  send(class_index, contributors_[class_index].report(kind, arrival, batch_));
}

// Sends the first `n` of batch_.
void CongestionDomains::send(std::size_t class_index, std::size_t n) {
  for (std::size_t i = 0; i < n && signals_on_; ++i) {
    batch_[i].port = port_;
    batch_[i].class_index = static_cast<std::uint8_t>(class_index);
    signals_.push(batch_[i]);
  }
}

Time CongestionDomains::next_event() const {
  Time t = kNever;
  for (const Controller& c : controllers_) t = std::min(t, c.csa.next_event());
  for (std::uint64_t left = watched_; left != 0; left &= left - 1)
    t = std::min(t, contributors_[static_cast<std::size_t>(std::countr_zero(left))].next());
  return t;
}

}  // namespace surety
