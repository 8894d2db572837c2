#include "tests/lab/network.h"

#include <algorithm>

namespace surety::lab {

namespace {

constexpr std::size_t kEthernet = 14;

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

}  // namespace

Network::Network(const Plan& plan, PacketPool& pool, std::uint64_t seed)
    : plan_(plan),
      pool_(pool),
      rng_(seed),
      lines_(make_lines(plan, rng_)),
      stations_(plan, pool, rng_, kZero),
      recorder_(plan, starts(plan, stations_)),
      contracts_(plan),
      post_(plan),
      tree_(lines_.size() + plan.routers().size() + 2) {
  for (std::size_t r = 0; r < plan.routers().size(); ++r) {
    const RouterNode& node = plan.scenario().routers[r];
    const bool signals = node.signalling && node.config.router.role == config::Router::Role::core;
    routers_.push_back(std::make_unique<RouterDriver>(plan.routers()[r], plan.fib(), draw64(rng_), signals,
                                                      static_cast<RouterLines&>(*this), kZero));
    tree_.set(router_thing(r), routers_[r]->next_event());
  }
  tree_.set(hosts_thing(), stations_.next_wakeup());
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
    now_ = std::max(now_, when);
    ++events_;
    dispatch(thing);
  }
  now_ = std::max(now_, end);
}

void Network::dispatch(Thing thing) {
  if (thing < lines_.size()) return arrive(thing);
  if (thing == hosts_thing()) return poll_hosts();
  if (thing == post_thing()) return deliver_signal();
  const std::size_t r = thing - lines_.size();
  routers_[r]->turn(now_);
  after(r);
}

void Network::arrive(LineNumber n) {
  Line& line = lines_[n];
  rte_mbuf* const m = line.take();
  tree_.set(n, line.next_arrival());
  const NodePort& to = plan_.lines()[n].to;
  if (!to.router) {
    recorder_.on_arrival(note_of(m), m, now_);
    stations_.receive(m, now_);
    poll_hosts();
    return;
  }
  RouterDriver& router = *routers_[to.node];
  const auto port = static_cast<PortIndex>(to.port);
  const PacketNote note = note_of(m);
  if (note.data && !plan_.lines()[n].from.router && !contracts_.knows(note.flow)) [[unlikely]]
    contracts_.learn(note.flow, to.node, to.port, {rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len});
  const std::uint64_t before = router.buffer_drops(port);
  router.receive(m, port, now_);
  if (router.buffer_drops(port) != before) recorder_.on_buffer_drop(note);
  after(to.node);
}

void Network::deliver_signal() {
  const auto [router, signal] = post_.take();
  tree_.set(post_thing(), post_.next());
  routers_[router]->on_signal(signal, now_);
  after(router);
}

void Network::after(std::size_t r) {
  if (post_.collect(*routers_[r], r, now_)) tree_.set(post_thing(), post_.next());
  tree_.set(router_thing(r), routers_[r]->next_event());
}

void Network::poll_hosts() {
  for (std::span<const Stations::Sent> sent; !(sent = stations_.poll(now_)).empty();)
    for (const auto& s : sent) {
      recorder_.on_sent(note_of(s.mbuf));
      send(s.line, s.mbuf, now_);
    }
  tree_.set(hosts_thing(), std::max(stations_.next_wakeup(), now_ + Duration(1)));
}

void Network::send(LineNumber n, rte_mbuf* m, Time now) {
  if (n == kNoLine) return rte_pktmbuf_free(m);
  if (tap_ != nullptr && n / 2 == tap_link_)
    tap_->on_frame(n / 2, static_cast<int>(n % 2), {rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len},
                   Time(now - kZero));
  Line& line = lines_[n];
  const bool was_empty = line.in_flight() == 0;
  if (!line.send(m, m->pkt_len - static_cast<std::uint32_t>(kEthernet), now)) return rte_pktmbuf_free(m);
  if (was_empty) tree_.set(n, line.next_arrival());
}

LineNumber Network::line_to(const rte_mbuf* m) const {
  const auto* const mac = rte_pktmbuf_mtod(m, const std::uint8_t*);
  if (mac[0] != 2 || mac[1] != 1) return kNoLine;
  const std::size_t host =
      std::size_t{mac[2]} << 24 | std::size_t{mac[3]} << 16 | std::size_t{mac[4]} << 8 | mac[5];
  return host < plan_.hosts().size() ? plan_.hosts()[host].in : kNoLine;
}

std::uint64_t Network::hops() const {
  std::uint64_t n = 0;
  for (const auto& l : lines_) n += l.counters().packets - l.in_flight();
  for (const auto& r : routers_) n += r->transmitted();
  return n;
}

}  // namespace surety::lab
