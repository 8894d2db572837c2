#include "tests/lab/router_driver.h"

#include <algorithm>

namespace surety::lab {

RouterDriver::RouterDriver(const PlannedRouter& plan, const Fib& fib, std::uint64_t seed, bool signals,
                           RouterLines& wire, Time now)
    : snapshot_(*plan.snapshot),
      seed_(seed),
      wire_(wire),
      ports_(plan.macs.size()),
      services_(snapshot_.services.size()),
      next_hops_(plan.ids),
      exits_(ports_, std::vector<KernelPeer>(plan.macs.size(), KernelPeer::none), nullptr),
      out_(plan.macs.size()),
      signals_(signals) {
  for (const auto& [id, entry] : plan.next_hops) next_hops_.set(id, entry);
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    egresses_.push_back(std::make_unique<Egress>(snapshot_, static_cast<PortIndex>(p), ports_[p], exits_, now,
                                                 seed + (p << 32)));
    egresses_.back()->enable_signals(signals);
    out_[p].line = plan.lines[p].size() == 1 ? plan.lines[p].front() : kNoLine;
    out_[p].held_back = out_[p].line != kNoLine && wire.holds_back(out_[p].line);
    out_[p].timed = egresses_[p]->next_timer() != kNever;
  }
  ingress_ = std::make_unique<Ingress>(
      IngressEnvironment{snapshot_, fib, next_hops_, egresses_, plan.macs, ports_, services_, exits_, meter_},
      seed, now);
  serve(now);
}

RouterDriver::~RouterDriver() {
  for (auto& e : egresses_) e->discard(kNever);
  ingress_->discard();
}

void RouterDriver::receive(rte_mbuf* m, PortIndex port, Time now) {
  timers(now);
  ingress_->receive({&m, 1}, port, now);
  serve(now);
}

void RouterDriver::turn(Time now) {
  timers(now);
  serve(now);
}

void RouterDriver::on_signal(const CongestionSignal& signal, Time now) {
  timers(now);
  ingress_->on_signal(signal, now);
  serve(now);
}

std::size_t RouterDriver::take_signals(std::span<CongestionSignal> out) {
  std::size_t n = 0;
  if (signals_)
    for (auto& e : egresses_) n += e->take_signals(out.subspan(n));
  return n;
}

void RouterDriver::timers(Time now) {
  ingress_->release(now);
  if (now < first_timer_) return;
  for (auto& e : egresses_)
    if (now >= e->next_timer()) e->advance(now);
}

// Sends what may leave, and finds out when to look again.
void RouterDriver::serve(Time now) {
  Time departure = kNever, timer = kNever;
  for (std::size_t p = 0; p < egresses_.size(); ++p) {
    Egress& egress = *egresses_[p];
    if (egress.depth() > 0) {
      transmit(p, now);
      if (egress.depth() > 0) departure = std::min(departure, next_departure(p, now));
    }
    if (out_[p].timed) timer = std::min(timer, egress.next_timer());
  }
  first_timer_ = timer;
  next_ = std::min({ingress_->next_event(), departure, timer});
}

Time RouterDriver::next_departure(std::size_t p, Time now) const {
  const Time free = out_[p].held_back ? std::max(now, wire_.free_at(out_[p].line)) : now;
  return std::max(free, egresses_[p]->next_departure(free));
}

void RouterDriver::transmit(std::size_t p, Time now) {
  const Port& port = out_[p];
  std::array<rte_mbuf*, kVector> burst;
  for (;;) {
    if (port.held_back && wire_.free_at(port.line) > now) return;
    const std::size_t n = egresses_[p]->transmit({burst.data(), port.held_back ? 1 : burst.size()}, now);
    ports_[p].tx_packets += n;
    transmitted_ += n;
    for (std::size_t i = 0; i < n; ++i) {
      ports_[p].tx_bytes += burst[i]->pkt_len;
      wire_.send(port.line != kNoLine ? port.line : wire_.line_to(burst[i]), burst[i], now);
    }
    if (n < (port.held_back ? 1 : burst.size())) return;
  }
}

}  // namespace surety::lab
