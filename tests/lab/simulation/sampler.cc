// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace surety::lab {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Duration kSecond = std::chrono::seconds(1);

double control(const endpoints::FlowReading& r, const config::Sender& s) {
  if (std::holds_alternative<endpoints::TcpParams>(s.params))
    return static_cast<double>(r.cwnd) / static_cast<double>(s.common().packet.count());
  return static_cast<double>(r.sending.bits_per_second());
}

}  // namespace

Sampler::Sampler(Network& network)
    : network_(network),
      scenario_(network.plan().scenario()),
      from_(Network::kZero + scenario_.measure.from),
      to_(Network::kZero + scenario_.measure.to),
      next_tick_(Network::kZero),
      tick_(scenario_.sample / kTicks),
      flows_(network.plan().flows().size()),
      shares_(network),
      conformance_(network.all_routers()) {
  network.recorder().measure(from_, to_);
  for (std::size_t r = 0; r < network.routers(); ++r) {
    const RouterDriver& router = network.router(r);
    const Snapshot& snapshot = router.snapshot();
    for (std::size_t p = 0; p < router.ports(); ++p) {
      if (router.egress(p).plain() != nullptr) continue;
      // With queues below the port, its own are among those.
      for (std::size_t c = 0; !router.egress(p).tree() && c < router.egress(p).scheduler()->classes(); ++c) {
        QueueWatch& q = queues_.emplace_back();
        q.router = r, q.port = p, q.class_index = c;
      }
      for (std::size_t a = 0; a < router.egress(p).aggregates().size(); ++a) {
        AggregateWatch& w = aggregates_.emplace_back();
        w.router = r, w.port = p, w.index = a;
        w.met = aggregate(w).marker.tokens();
      }
    }
    for (std::size_t d = 0; d < snapshot.domains.size(); ++d) {
      const CsaDomain& domain = snapshot.domains[d];
      if (!snapshot.queues[domain.port].classes[domain.class_index].scheduling.queue.rio)
        continue;  // never congested
      DomainWatch& w = domains_.emplace_back();
      w.router = r;
      w.domain = static_cast<std::uint16_t>(d);
    }
  }
  next_tick_ += tick_;
  next_second_ = Network::kZero + kSecond;
  next_ = std::min({next_tick_, next_second_, from_});
}

bool Sampler::measuring() const {
  return begun_ && !ended_;
}

void Sampler::tick() {
  const Time now = next_;
  if (now >= next_second_) {
    conformance_.second(now);
    next_second_ += kSecond;
  }
  if (!begun_ && now >= from_) mark(false);
  if (now >= next_tick_) {
    watch_averages();
    if (++ticks_ == kTicks) sample();
    next_tick_ += tick_;
  }
  if (begun_ && !ended_ && now >= to_) mark(true);
  next_ = std::min(next_tick_, next_second_);
  if (!begun_) next_ = std::min(next_, from_);
  if (!ended_) next_ = std::min(next_, std::max(to_, now + Duration(1)));
}

// An end of the measured interval.
void Sampler::mark(bool end) {
  (end ? ended_ : begun_) = true;
  const auto receivers = network_.stations().receivers();
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    (end ? flows_[f].at_end : flows_[f].at_begin) = network_.recorder().count(f);
    (end ? flows_[f].payload_end : flows_[f].payload_begin) = receivers[f].payload_bytes;
  }
  (end ? drops_end_ : drops_begin_) = network_.recorder().drops();
  for (QueueWatch& q : queues_)
    for (const Precedence p : {Precedence::in, Precedence::out, Precedence::red})
      (end ? q.at_end : q.at_begin)[index(p)] = queue(q).counters(p);
  shares_.mark(end);
  (end ? conformance_end_ : conformance_begin_) = conformance_.counts();
  network_.update_contracts();
  for (std::uint32_t f = 0; f < flows_.size(); ++f)
    if (const auto c = network_.contracts().contract(f))
      (end ? flows_[f].contract_end : flows_[f].contract_begin) = c->in_bytes;
}

const ActiveQueue& Sampler::queue(const QueueWatch& q) {
  return network_.router(q.router).egress(q.port).scheduler()->queue(q.class_index);
}

const Egress::Aggregate& Sampler::aggregate(const AggregateWatch& w) {
  return network_.router(w.router).egress(w.port).aggregates()[w.index];
}

double Sampler::alpha(const DomainWatch& d) {
  const RouterDriver& router = network_.router(d.router);
  return value(router.egress(router.snapshot().domains[d.domain].port).alpha(d.domain));
}

void Sampler::watch_averages() {
  for (QueueWatch& q : queues_) {
    const ActiveQueue& queue = this->queue(q);
    const QueueStatus status = queue.status();
    const double in = status.has_rio ? status.average_in : queue.depth(Precedence::in);
    const double total = status.has_rio ? status.average_total : queue.depth();
    q.sample_in.add(in);
    q.sample_total.add(total);
    if (!measuring()) continue;
    q.in.add(in);
    q.total.add(total);
  }
  read_remotes();
  for (AggregateWatch& w : aggregates_) watch_tokens(w);
  if (!measuring()) return;
  ++measured_ticks_;
  shares_.tick();
  for (auto& [key, w] : remotes_) {
    w.mean.add(value(w.now));
    w.least = std::min(w.least, value(w.now));
  }
  for (DomainWatch& d : domains_) {
    const double a = alpha(d);
    d.mean.add(a);
    d.least = std::min(d.least, a);
  }
  for (std::uint32_t f = 0; f < flows_.size(); ++f)
    if (const auto r = network_.stations().sender(f); r.rtt > Duration{}) flows_[f].rtt.add(seconds(r.rtt));
}

// In a tick of 10 ms, say, comes a packet or two: they met what there was, on average, in the middle of it.
void Sampler::watch_tokens(AggregateWatch& w) {
  const Egress::Aggregate& a = aggregate(w);
  const ArdParams& params = network_.router(w.router).snapshot().config.aggregates[a.config_index].marker;
  const std::uint64_t in = a.counters.passed_in + a.counters.remarked + a.counters.dropped;
  const auto came = static_cast<double>(in - std::exchange(w.in, in));
  const Credit met = std::exchange(w.met, a.marker.tokens(next_ + tick_ / 2));
  w.tokens = a.marker.tokens(next_);
  const Credit packet = TokenBucketParams(params.tpr_max, params.bucket, params.tokens, params.nominal_packet)
                            .cost(static_cast<std::uint32_t>(params.nominal_packet.count()));
  const bool enough = met >= packet;
  if (!enough || met < a.marker.threshold()) {
    w.dropped += came * params.drop.value();
    w.remarked += came * (1 - params.drop.value()) * (enough ? a.marker.remark_probability(met).value() : 1);
  }
  if (!measuring()) return;
  w.level.add(static_cast<double>(w.tokens) / kCreditPerByte);
  w.below.add(w.tokens < a.marker.threshold() ? 1 : 0);
}

void Sampler::read_remotes() {
  for (auto& [key, w] : remotes_) w.now = w.max;
  for (std::size_t r = 0; r < network_.routers(); ++r)
    for (const RemoteAlphaReading& a : network_.router(r).ingress().remote_alphas()) {
      const Ratio max = network_.router(r).snapshot().domains[a.domain].params.max;
      const auto place = remotes_.try_emplace({r, a.domain, a.path}, begin_remote(max)).first;
      place->second.now = a.alpha;
    }
}

Sampler::RemoteWatch Sampler::begin_remote(Ratio max) const {
  RemoteWatch w;
  w.now = w.max = max;
  w.mean = {max.value() * static_cast<double>(measured_ticks_), measured_ticks_};
  if (measured_ticks_ > 0) w.least = max.value();
  w.series.assign(samples_, static_cast<float>(max.value()));
  return w;
}

void Sampler::sample() {
  ticks_ = 0;
  ++samples_;
  const double bin = seconds(scenario_.sample);
  const auto push = [](Series& s, double x) { s.push_back(static_cast<float>(x)); };
  network_.update_contracts();
  for (std::uint32_t f = 0; f < flows_.size(); ++f) {
    FlowWatch& w = flows_[f];
    const FlowCount count = network_.recorder().count(f), d = count - w.last;
    w.last = count;
    push(w.throughput, 8 * static_cast<double>(d.bytes) / bin);
    push(w.in, 8 * static_cast<double>(d.in_bytes) / bin);
    const auto contract = network_.contracts().contract(f);
    const std::uint64_t in_bytes = contract ? contract->in_bytes : 0;
    push(w.contract, 8 * static_cast<double>(in_bytes - std::exchange(w.contract_last, in_bytes)) / bin);
    push(w.delay, d.received > 0 ? d.delay_sum / static_cast<double>(d.received) : kNone);
    const config::Sender& s = scenario_.senders[network_.plan().flows()[f].sender].sender;
    if (!std::holds_alternative<endpoints::UdpParams>(s.params))
      push(w.control, control(network_.stations().sender(f), s));
  }
  for (QueueWatch& q : queues_) {
    push(q.in_series, std::exchange(q.sample_in, {}).value());
    push(q.total_series, std::exchange(q.sample_total, {}).value());
  }
  for (DomainWatch& d : domains_) push(d.series, alpha(d));
  for (auto& [key, w] : remotes_) push(w.series, value(w.now));
  for (AggregateWatch& w : aggregates_) {
    push(w.series, static_cast<double>(aggregate(w).marker.tpr().bits_per_second()));
    push(w.tokens_series, static_cast<double>(w.tokens) / kCreditPerByte);
  }
}

void Sampler::finish(RunResult& result) {
  if (!begun_) mark(false);
  if (!ended_) mark(true);
  network_.recorder().settle(network_.now());
  flow_results(result);
  drop_results(result);
  queue_results(result);
  shares_.results(result, std::max(result.measure_to_s - result.measure_from_s, 1e-9));
  domain_results(result);
  remote_results(result);
  aggregate_results(result);
}

}  // namespace surety::lab
