// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/network.h"

#include <algorithm>
#include <numeric>

#include "tests/lab/simulation/delivered.h"
#include "tests/lab/simulation/lab_frame.h"
#include "tests/lab/simulation/scenario_error.h"

namespace surety::lab {

namespace {

std::uint64_t draw64(Rng& rng) {
  const std::uint64_t high = rng.next();
  return high << 32 | rng.next();
}

std::vector<Line> make_lines(const Plan& plan, Rng& rng) {
  std::vector<Line> lines;
  for (const auto& l : plan.lines()) lines.emplace_back(*l.parameters, draw64(rng), Network::kZero);
  return lines;
}

std::vector<Time> starts(const Plan& plan, const Stations& stations) {
  std::vector<Time> times;
  for (std::uint32_t f = 0; f < plan.flows().size(); ++f) times.push_back(stations.start(f));
  return times;
}

// The time of day when runs begin, and the key of their routers: the same for all, as a run depends on
// nothing else than scenario and seed.
constexpr UnixTime kStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

SignalKeys lab_keys() {
  HiddenKey::Plain secret;
  std::iota(secret.begin(), secret.end(), std::uint8_t{0});
  return {{{.id = 1, .secret = HiddenKey(secret)}}};
}

Time time_of_change(const Plan& plan, std::size_t change) {
  return change < plan.changes().size() ? Network::kZero + plan.changes()[change].at : kNever;
}

// From hosts, and by customer ports of routers that other routers are behind.
bool flows_enter(const Plan& plan, const PlannedLine& l) {
  if (!l.to.router) return false;
  const auto& port = plan.scenario().routers[l.to.node].config.ports[l.to.port];
  return !l.from.router || port.trust == config::Port::Trust::customer;
}

}  // namespace

Network::Network(const Plan& plan, PacketPool& pool, std::uint64_t seed)
    : plan_(plan),
      pool_(pool),
      rng_(seed),
      trust_{lab_keys(), WallClock(kStart, kZero)},
      lines_(make_lines(plan, rng_)),
      stations_(plan, pool, rng_, kZero),
      recorder_(plan, starts(plan, stations_),
                [this](std::uint32_t flow) {
                  const PlannedFlow& f = plan_.flows()[flow];
                  return static_cast<double>(stations_.sender(flow).payload_bytes) *
                         delivered_per_payload(plan_.scenario().senders[f.sender].sender,
                                               f.tuple.local.is_v6());
                }),
      contracts_(plan),
      routers_from_(static_cast<Thing>(lines_.size())),
      hosts_(routers_from_ + static_cast<Thing>(plan.routers().size())),
      tree_(hosts_ + std::size_t{1}),
      next_change_(time_of_change(plan, 0)) {
  for (const PlannedLine& l : plan.lines()) enters_.push_back(flows_enter(plan, l));
  for (std::size_t r = 0; r < plan.routers().size(); ++r) {
    routers_.push_back(std::make_unique<RouterDriver>(plan.routers()[r], plan.fib(), draw64(rng_), trust_,
                                                      static_cast<RouterLines&>(*this), kZero));
    tree_.set(router_thing(r), routers_[r]->next_event());
  }
  tree_.set(hosts_, stations_.next_wakeup());
  pool_.observe(this);
}

Network::~Network() {
  pool_.observe(nullptr);  // what is still on its way was not dropped
  for (Line& l : lines_) l.discard();
}

void Network::run_to(Time end) {
  for (;;) {
    const Thing thing = tree_.first();
    const Time when = tree_.when(thing);
    if (when >= end) break;
    if (when >= next_change_) [[unlikely]]
      change_routes(when);
    now_ = std::max(now_, when);
    ++events_;
    dispatch(thing);
  }
  now_ = std::max(now_, end);
}

// Routes come before what happens at the same time.
void Network::change_routes(Time until) {
  const auto& all = plan_.changes();
  for (; changes_ < all.size() && kZero + all[changes_].at <= until; ++changes_)
    routers_[all[changes_].router]->set_next_hop(all[changes_].id, all[changes_].entry);
  next_change_ = time_of_change(plan_, changes_);
}

void Network::dispatch(Thing thing) {
  if (thing < routers_from_) return arrive(thing);
  if (thing == hosts_) return poll_hosts();
  const std::size_t r = thing - routers_from_;
  routers_[r]->turn(now_);
  after(r);
}

void Network::arrive(LineNumber n) {
  Line& line = lines_[n];
  rte_mbuf* const m = line.take();
  tree_.set(n, line.next_arrival());
  const NodePort& to = plan_.lines()[n].to;
  if (!to.router) {
    signals_leaked_ += note_of(m).signal;
    recorder_.on_arrival(note_of(m), m, now_);
    stations_.receive(m, now_);
    poll_hosts();
    return;
  }
  RouterDriver& router = *routers_[to.node];
  const auto port = static_cast<PortIndex>(to.port);
  if (enters_[n]) enter(n, m);
  note_of(m).router = static_cast<std::uint16_t>(to.node + 1);
  if (router.has_buffers())
    receive_noting_drops(router, m, port);
  else
    router.receive(m, port, now_);
  after(to.node);
}

// Once it has been dropped nobody knows any more what it came as.
void Network::receive_noting_drops(RouterDriver& router, rte_mbuf* m, PortIndex port) {
  const PacketNote note = note_of(m);
  const Precedence came_as = recorder_.precedence(note, m);
  const std::uint64_t before = router.buffer_drops(port);
  router.receive(m, port, now_);
  if (router.buffer_drops(port) != before) recorder_.on_buffer_drop(note, came_as);
}

// A packet of a sender may have a contract where it comes into the network.
void Network::enter(LineNumber n, rte_mbuf* m) {
  PacketNote& note = note_of(m);
  const NodePort& to = plan_.lines()[n].to;
  if (note.data && !note.contracted)
    note.contracted =
        contracts_.enter(note.flow, to, {rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len});
}

rte_mbuf* Network::signal_buffer() {
  rte_mbuf* m = nullptr;
  if (!pool_.take({&m, 1})) throw ScenarioError(kNoBuffers);
  note_of(m) = {.on_the_way = true, .signal = true, .sent = now_};
  return m;
}

void Network::after(std::size_t r) {
  tree_.set(router_thing(r), routers_[r]->next_event());
}

void Network::poll_hosts() {
  std::span<const Stations::Sent> sent;
  do {
    sent = stations_.poll(now_);
    for (const auto& s : sent) {
      recorder_.on_sent(note_of(s.mbuf));
      send(s.line, s.mbuf, now_);
    }
  } while (sent.size() == Stations::kRoom);  // where there was room left, no more is due now
  tree_.set(hosts_, std::max(stations_.next_wakeup(), now_ + Duration(1)));
}

void Network::send(LineNumber n, rte_mbuf* m, Time now) {
  if (n == kNoLine) return rte_pktmbuf_free(m);
  if (tap_ != nullptr && n / 2 == tap_link_)
    tap_->on_frame(n / 2, static_cast<int>(n % 2), {rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len},
                   Time(now - kZero));
  note_of(m).router = 0;
  Line& line = lines_[n];
  const bool was_empty = line.in_flight() == 0;
  if (!line.send(m, ip_length(m), now)) return rte_pktmbuf_free(m);
  if (was_empty) tree_.set(n, line.next_arrival());
}

LineNumber Network::line_to(const rte_mbuf* m) const {
  const auto* const mac = rte_pktmbuf_mtod(m, const std::uint8_t*);
  if (mac[0] != 2 || mac[1] != 1) return kNoLine;
  const std::size_t host =
      std::size_t{mac[2]} << 24 | std::size_t{mac[3]} << 16 | std::size_t{mac[4]} << 8 | mac[5];
  return host < plan_.hosts().size() ? plan_.hosts()[host].in : kNoLine;
}

std::uint64_t Network::signals_lost() const {
  std::uint64_t n = signals_freed_ + signals_leaked_;
  for (const auto& r : routers_) {
    n -= r->unrouted_signals();
    for (const std::uint64_t ended : r->ingress().signals()) n -= ended;
  }
  return n;
}

std::uint64_t Network::hops() const {
  std::uint64_t n = 0;
  for (const auto& l : lines_) n += l.counters().packets - l.in_flight();
  for (const auto& r : routers_) n += r->transmitted();
  return n;
}

}  // namespace surety::lab
