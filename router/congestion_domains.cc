// SPDX-License-Identifier: BSD-3-Clause
#include "router/congestion_domains.h"

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
    if (old != controllers_.end() && old->domain == c.domain) c.csa = old->csa;
    publish(c);
  }
  controllers_.swap(fresh);
}

void CongestionDomains::arrival(std::size_t class_index, CongestionEvent event, const Packet& p, Time now) {
  for (Controller& c : controllers_) {
    if (c.class_index != class_index) continue;
    // What expires now comes first: until an onset the queue was not congested, until an eighth it was.
    c.csa.advance(now, event == CongestionEvent::eighth);
    if (event == CongestionEvent::onset) c.csa.onset(now);
    if (event == CongestionEvent::eighth) c.csa.eighth(now);
    publish(c);
  }
  if (signals_on_ && event == CongestionEvent::eighth) ask_for_signal(class_index, p, now);
}

[[gnu::noinline]] void CongestionDomains::ask_for_signal(std::size_t class_index, const Packet& p, Time now) {
  CongestionSignal s = signal_about({egress_ip(p), p.length});
  s.port = port_;
  s.class_index = static_cast<std::uint8_t>(class_index);
  s.time = now;
  signals_.push(s);
}

void CongestionDomains::advance(ClassScheduler& queues, Time now) {
  for (Controller& c : controllers_) {
    if (now < c.csa.next_event()) continue;
    ActiveQueue& queue = queues.queue(c.class_index);
    queue.settle(now);  // an idle queue is not congested any more
    c.csa.advance(now, queue.congested());
    publish(c);
  }
}

}  // namespace surety
