// SPDX-License-Identifier: BSD-3-Clause
// From what the sampler has seen to the results of a run.
#include <algorithm>

#include "tests/lab/simulation/delivered.h"
#include "tests/lab/simulation/sampler.h"

namespace surety::lab {

namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// What the application of a sender gives it on average; 0: without end.
double offered(const config::Sender& s) {
  if (const auto* dccp = std::get_if<endpoints::DccpParams>(&s.params))
    return static_cast<double>(dccp->tfrc.application.bits_per_second());
  const auto* udp = std::get_if<endpoints::UdpParams>(&s.params);
  if (udp == nullptr) return 0;
  const double share = udp->off > Duration{} ? seconds(udp->on) / seconds(udp->on + udp->off) : 1;
  return share * static_cast<double>(udp->rate.bits_per_second());
}

}  // namespace

void Sampler::flow_results(RunResult& result) {
  const double measured = std::max(result.measure_to_s - result.measure_from_s, 1e-9);
  for (std::uint32_t i = 0; i < flows_.size(); ++i) {
    FlowWatch& w = flows_[i];
    const PlannedFlow& planned = network_.plan().flows()[i];
    const config::Sender& s = scenario_.senders[planned.sender].sender;
    const FlowCount d = w.at_end - w.at_begin;
    FlowResult& r = result.flows.emplace_back();
    r.name = planned.name;
    r.protocol = s.protocol;
    r.target_bps = static_cast<double>(s.target.bits_per_second());
    r.offered_bps = offered(s);
    r.throughput_bps = 8 * static_cast<double>(d.bytes) / measured;
    r.in_throughput_bps = 8 * static_cast<double>(d.in_bytes) / measured;
    r.goodput_bps = 8 * static_cast<double>(w.payload_end - w.payload_begin) / measured;
    const double per_payload = delivered_per_payload(s, planned.tuple.local.is_v6());
    r.delivered_bps = per_payload > 0 ? r.goodput_bps * per_payload : r.throughput_bps;
    r.sent_packets = d.sent;
    r.received_packets = d.received;
    r.lost_packets = d.lost;
    r.buffer_drops = d.buffer_drops;
    r.reordered_packets = d.reordered;
    if (d.received > 0) {
      r.in_share = ratio(d.in_received, d.received);
      r.one_way_delay_mean_s = d.delay_sum / static_cast<double>(d.received);
    }
    r.ros = network_.recorder().respect(i);
    if (const auto c = network_.contracts().contract(i)) {
      const double committed = static_cast<double>(c->committed.bits_per_second());
      r.contract_in_bytes = w.contract_end - w.contract_begin;
      const std::uint32_t sharers = network_.contracts().sharers(i);
      r.committed_bps = committed / sharers;
      // A flow that has a contract for itself cannot fill more of it than it offers.
      const double due = r.offered_bps > 0 && sharers == 1 ? std::min(committed, r.offered_bps) : committed;
      r.ros = std::min(1.0, 8 * static_cast<double>(r.contract_in_bytes) / measured / due);
      r.conformance = conformance(*c);
    }
    r.time_to_target_s = network_.recorder().time_to_target(i);
    if (w.rtt.n > 0) r.rtt_mean_s = w.rtt.value();
    const endpoints::FlowReading sender = network_.stations().sender(i);
    r.retransmitted_packets = sender.retransmitted_packets;
    r.timeouts = sender.timeouts;
    r.loss_events = sender.loss_events;
    r.throughput_series = std::move(w.throughput);
    r.in_series = std::move(w.in);
    r.control_series = std::move(w.control);
    r.delay_series = std::move(w.delay);
    r.contract_series = std::move(w.contract);
  }
}

// none: no second of it was demanding.
std::optional<double> Sampler::conformance(const ContractBook::Contract& contract) const {
  const auto of = [&](const ConformanceWatch::Counts& counts) {
    const auto at = counts[contract.router].find(contract.record);
    return at == counts[contract.router].end() ? ConformanceWatch::Seconds{} : at->second;
  };
  const auto begin = of(conformance_begin_), end = of(conformance_end_);
  if (end.demanding == begin.demanding) return std::nullopt;
  return ratio(end.met - begin.met, end.demanding - begin.demanding);
}

void Sampler::drop_results(RunResult& result) {
  for (const auto& [where, end] : drops_end_) {
    auto& drops = result.flows[where.first].drops[scenario_.routers[where.second].name];
    for (std::size_t p = 0; p < kPrecedences; ++p) drops[p] = end[p] - drops_begin_[where][p];
  }
}

void Sampler::queue_results(RunResult& result) {
  const double measured = std::max(result.measure_to_s - result.measure_from_s, 1e-9);
  for (QueueWatch& q : queues_) {
    const RouterDriver& router = network_.router(q.router);
    const config::Port& port = router.snapshot().config.ports[q.port];
    const config::QueueClass& c = router.snapshot().queues[q.port].classes[q.class_index];
    QueueResult& r = result.queues.emplace_back();
    r.router = scenario_.routers[q.router].name;
    r.port = port.name;
    r.queue = c.scheduling.name;
    std::uint64_t bytes = 0;
    for (std::size_t p = 0; p < kDropPrecedences; ++p) {
      r.by_precedence[p] = difference(q.at_end[p], q.at_begin[p]);
      bytes += q.at_end[p].departed_bytes - q.at_begin[p].departed_bytes;
    }
    r.average_in_mean = q.in.value();
    r.average_total_mean = q.total.value();
    const auto& lines = network_.plan().routers()[q.router].lines[q.port];
    if (port.shaper.rate)
      r.rate_bps = static_cast<double>(port.shaper.rate->bits_per_second());
    else if (lines.size() == 1)
      r.rate_bps = network_.line(lines.front()).rate_bps();
    r.departed_bps = 8 * static_cast<double>(bytes) / measured;
    if (r.rate_bps > 0) r.utilisation = r.departed_bps / r.rate_bps;
    if (const auto& rio = c.scheduling.queue.rio)
      r.thresholds = {rio->in.min, rio->in.max, rio->out.min, rio->out.max};
    r.average_in_series = std::move(q.in_series);
    r.average_total_series = std::move(q.total_series);
  }
}

void Sampler::domain_results(RunResult& result) {
  for (DomainWatch& d : domains_) {
    const Snapshot& snapshot = network_.router(d.router).snapshot();
    const CsaDomain& domain = snapshot.domains[d.domain];
    DomainResult& r = result.domains.emplace_back();
    r.router = r.at = scenario_.routers[d.router].name;
    r.port = snapshot.config.ports[domain.port].name;
    r.queue = domain.name.substr(r.port.size() + 1);
    r.alpha_mean = d.mean.value();
    r.alpha_last = alpha(d);
    r.alpha_min = std::min(d.least, r.alpha_last);
    r.alpha_series = std::move(d.series);
  }
}

// Named by what the border knows of it: the domain that it holds back, and where the path leads.
void Sampler::remote_results(RunResult& result) {
  for (auto& [key, w] : remotes_) {
    const Snapshot& snapshot = network_.router(key.router).snapshot();
    const CsaDomain& domain = snapshot.domains[key.domain];
    DomainResult& r = result.domains.emplace_back();
    r.router = r.at = scenario_.routers[key.router].name;
    r.port = snapshot.config.ports[domain.port].name;
    r.queue = domain.name.substr(r.port.size() + 1) + " towards " + network_.plan().host_of(key.path);
    r.alpha_mean = w.mean.value();
    r.alpha_last = value(w.now);
    r.applied = snapshot.config.signalling.mode != config::Signalling::Mode::observe;
    r.alpha_min = std::min(w.least, r.alpha_last);
    r.alpha_series = std::move(w.series);
  }
}

void Sampler::aggregate_results(RunResult& result) {
  for (AggregateWatch& w : aggregates_) {
    RouterDriver& router = network_.router(w.router);
    const Egress::Aggregate& a = aggregate(w);
    const config::Aggregate& c = router.snapshot().config.aggregates[a.config_index];
    AggregateResult& r = result.aggregates.emplace_back();
    r.router = scenario_.routers[w.router].name;
    r.name = c.name;
    r.tpr_bps = static_cast<double>(a.marker.tpr().bits_per_second());
    r.tpr_max_bps = static_cast<double>(c.marker.tpr_max.bits_per_second());
    r.lambda_in_bps = 8 * a.marker.lambda_in();
    r.lambda_out_bps = 8 * a.marker.lambda_out();
    r.passed_in = a.counters.passed_in;
    r.passed_out = a.counters.passed_out;
    r.remarked = a.counters.remarked;
    r.dropped = a.counters.dropped;
    r.tokens_mean = w.level.value();
    r.below_threshold = w.below.value();
    r.expected_remarked = w.remarked;
    r.expected_dropped = w.dropped;
    r.tpr_series = std::move(w.series);
    r.tokens_series = std::move(w.tokens_series);
  }
}

}  // namespace surety::lab
