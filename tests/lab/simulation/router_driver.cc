// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/router_driver.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "router/pipeline/egress_tags.h"
#include "router/pipeline/flows/losses.h"
#include "tests/lab/simulation/lab_frame.h"

namespace surety::lab {

namespace {

bool holds_packets(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.services,
                             [](const auto& s) { return s.kind == ServiceProgram::Kind::csa; });
}

// A border's own queues drive the alpha of its flows directly.
bool signals(const config::Config& c) {
  return c.router.role == config::Router::Role::core && c.signalling.mode != config::Signalling::Mode::off;
}
}  // namespace

RouterDriver::RouterDriver(const PlannedRouter& plan, const Fib& fib, std::uint64_t seed,
                           const SignalTrust& trust, RouterLines& wire, Time now)
    : snapshot_(*plan.snapshot),
      seed_(seed),
      clock_(trust.clock),
      wire_(wire),
      ports_(plan.macs.size()),
      services_(snapshot_.services.size()),
      next_hops_(plan.ids),
      disposal_(ports_, std::vector<KernelPeer>(plan.macs.size(), KernelPeer::none), nullptr),
      out_(plan.macs.size()),
      has_buffers_(holds_packets(snapshot_)),
      sells_rates_(
          std::ranges::any_of(snapshot_.services, [](const auto& s) { return s.committed > Rate{}; })) {
  if (sells_rates_) disposal_.losses().make_room(1, snapshot_.config.flow_table.capacity);
  if (signals(snapshot_.config)) sender_.emplace(snapshot_.config, trust.keys, now, trust.clock.at(now));
  for (const auto& [id, entry] : plan.next_hops) next_hops_.set(id, entry);
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    egresses_.push_back(std::make_unique<Egress>(snapshot_, static_cast<PortIndex>(p), ports_[p], disposal_,
                                                 now, seed + (p << 32)));
    egresses_.back()->enable_signals(sender_.has_value());
    port_egresses_.push_back({egresses_.back().get(), nullptr});
    out_[p].egress = egresses_.back().get();
    out_[p].counters = &ports_[p];
    takes_notes_ = takes_notes_ || egresses_.back()->tree() != nullptr;
    out_[p].line = plan.lines[p].size() == 1 ? plan.lines[p].front() : kNoLine;
    out_[p].held_back = out_[p].line != kNoLine && wire.holds_back(out_[p].line);
    out_[p].timed = sender_.has_value() || egresses_[p]->next_timer() != kNever;
  }
  ingress_ = std::make_unique<Ingress>(
      IngressEnvironment{snapshot_, fib, next_hops_, port_egresses_, plan.macs, ports_, services_, disposal_,
                         meter_, &trust.keys, &trust.clock},
      seed, now);
  serve(now);
}

RouterDriver::~RouterDriver() {
  for (auto& e : egresses_) e->discard(kNever);
  ingress_->discard();
}

void RouterDriver::receive(rte_mbuf* m, PortIndex port, Time now) {
  clear_owner(m);  // as from a device: the router before this one may have conditioned it
  timers(now);
  ingress_->receive({&m, 1}, port, now);
  serve(now);
}

void RouterDriver::turn(Time now) {
  timers(now);
  serve(now);
}

bool RouterDriver::asks_for_signals() const {
  return std::ranges::any_of(out_, [](const Port& p) { return !p.egress->signals().empty(); });
}

// As they leave by a queue of this router, they may ask for further ones.
void RouterDriver::send_signals(Time now) {
  for (auto& e : egresses_)
    while (const std::size_t n = e->take_signals(signals_))
      for (std::size_t i = 0; i < n; ++i) send(signals_[i], now);
}

// Congested queues of interfaces tell this router's own conditioners.
void RouterDriver::take_notes(Time now) {
  for (auto& e : egresses_)
    while (const std::size_t n = e->tree() != nullptr ? e->take_notes(signals_) : 0)
      for (std::size_t i = 0; i < n; ++i) ingress_->on_note(signals_[i], now);
}

void RouterDriver::send(const CongestionSignal& signal, Time now) {
  std::array<std::uint8_t, kMaxSignalBytes> ip;
  const std::size_t length = sender_->write(signal, now, clock_.at(now), ip);
  if (length == 0 || snapshot_.config.signalling.mode != config::Signalling::Mode::act) return;
  rte_mbuf* const m = wire_.signal_buffer();
  std::memcpy(rte_pktmbuf_append(m, static_cast<std::uint16_t>(kEthernet + length)) + kEthernet, ip.data(),
              length);
  if (ingress_->originate(m, now)) return;
  sender_->lost(signal);
  ++unrouted_;
}

void RouterDriver::timers(Time now) {
  ingress_->release(now);
  if (now < first_timer_) return;
  for (auto& e : egresses_)
    if (now >= e->next_timer()) e->advance(now);
}

// Sends what may leave, and finds out when to look again.
void RouterDriver::serve(Time now) {
  if (sender_ && asks_for_signals()) send_signals(now);
  if (takes_notes_) [[unlikely]]
    take_notes(now);
  Time departure = kNever, timer = kNever;
  for (const Port& port : out_) {
    if (port.egress->depth() > 0) departure = std::min(departure, transmit(port, now));
    if (port.timed) timer = std::min(timer, port.egress->next_timer());
  }
  first_timer_ = timer;
  next_ = std::min({ingress_->next_event(), departure, timer});
}

void RouterDriver::tag(rte_mbuf* m) {
  const auto& pcp = snapshot_.config.pcp;
  if (!write_tags(m, pcp ? pcp->of_dscp : Priorities{}))
    throw std::logic_error("no room before a packet of the lab for its tags");
}

// When there may be more to send.
Time RouterDriver::transmit(const Port& port, Time now) {
  const std::size_t most = port.held_back ? 1 : burst_.size();
  do {
    if (port.held_back && wire_.free_at(port.line) > now) break;
    const std::size_t n = port.egress->transmit({burst_.data(), most}, now);
    port.counters->tx_packets += n;
    transmitted_ += n;
    for (std::size_t i = 0; i < n; ++i) {
      rte_mbuf* const m = burst_[i];
      if (has_interface(m)) [[unlikely]]
        tag(m);
      port.counters->tx_bytes += m->pkt_len;
      wire_.send(port.line != kNoLine ? port.line : wire_.line_to(m), m, now);
    }
    if (n < most) break;
  } while (port.egress->depth() > 0);
  if (port.egress->depth() == 0) return kNever;
  const Time free = port.held_back ? std::max(now, wire_.free_at(port.line)) : now;
  return std::max(free, port.egress->next_departure(free));
}

}  // namespace surety::lab
