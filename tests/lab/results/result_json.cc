// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/results/result_json.h"

#include <cmath>

namespace surety::lab {
namespace {

using Json = nlohmann::ordered_json;

Json bits(double per_second) {
  return rounded(per_second, 0);
}
Json seconds(double s) {
  return rounded(s, 9);
}
Json ratio(double r) {
  return rounded(r, 6);
}
Json packets(double average) {
  return rounded(average, 6);
}

template <class Show>
Json or_null(const std::optional<double>& value, Show show) {
  return value ? show(*value) : Json();
}

Json drops_of(const FlowResult& f) {
  Json all = Json::object();
  for (const auto& [router, n] : f.drops)
    all[router] = {{name(Precedence::in), n[index(Precedence::in)]},
                   {name(Precedence::out), n[index(Precedence::out)]}};
  return all;
}

Json row(const FlowResult& f) {
  return {{"name", f.name},
          {"protocol", f.protocol},
          {"target_bps", bits(f.target_bps)},
          {"committed_bps", bits(f.committed_bps)},
          {"throughput_bps", bits(f.throughput_bps)},
          {"goodput_bps", bits(f.goodput_bps)},
          {"sent_packets", f.sent_packets},
          {"received_packets", f.received_packets},
          {"lost_packets", f.lost_packets},
          {"in_share", or_null(f.in_share, ratio)},
          {"in_throughput_bps", bits(f.in_throughput_bps)},
          {"ros", or_null(f.ros, ratio)},
          {"time_to_target_s", or_null(f.time_to_target_s, seconds)},
          {"rtt_mean_s", or_null(f.rtt_mean_s, seconds)},
          {"one_way_delay_mean_s", or_null(f.one_way_delay_mean_s, seconds)},
          {"buffer_drops", f.buffer_drops},
          {"retransmitted_packets", f.retransmitted_packets},
          {"timeouts", f.timeouts},
          {"loss_events", f.loss_events},
          {"reordered_packets", f.reordered_packets},
          {"contract_in_bytes", f.contract_in_bytes},
          {"delivered_bps", bits(f.delivered_bps)},
          {"drops", drops_of(f)},
          {"conformance", or_null(f.conformance, ratio)}};
}

Json row(const PrecedenceResult& p) {
  return {{"arrivals", p.arrivals},
          {"early_drops", p.early_drops},
          {"forced_drops", p.forced_drops},
          {"overflow_drops", p.overflow_drops},
          {"marked", p.marked}};
}

Json row(const QueueResult& q) {
  Json json = {{"router", q.router},
               {"port", q.port},
               {"queue", q.queue},
               {name(Precedence::in), row(q.by_precedence[index(Precedence::in)])},
               {name(Precedence::out), row(q.by_precedence[index(Precedence::out)])},
               {"average_in_mean", packets(q.average_in_mean)},
               {"average_total_mean", packets(q.average_total_mean)},
               {"utilisation", ratio(q.utilisation)},
               {"rate_bps", bits(q.rate_bps)},
               {"departed_bps", bits(q.departed_bps)}};
  if (const auto& red = q.by_precedence[index(Precedence::red)]; red.arrivals > 0)
    json[name(Precedence::red)] = row(red);
  if (!q.interface.empty()) json["interface"] = q.interface;
  return json;
}

Json row(const GroupResult& g) {
  return {{"router", g.router},
          {"port", g.port},
          {"group", g.group},
          {"interfaces", g.interfaces},
          {"sending", g.sending},
          {"limit_bps", bits(g.limit_bps)},
          {"departed_bps", bits(g.departed_bps)},
          {"jain", or_null(g.jain, ratio)}};
}

Json row(const DomainResult& d) {
  return {{"router", d.router},
          {"port", d.port},
          {"queue", d.queue},
          {"alpha_mean", ratio(d.alpha_mean)},
          {"alpha_min", ratio(d.alpha_min)},
          {"alpha_last", ratio(d.alpha_last)},
          {"at", d.at},
          {"applied", d.applied}};
}

Json row(const AggregateResult& a) {
  return {{"name", a.name},
          {"tpr_bps", bits(a.tpr_bps)},
          {"lambda_in_bps", bits(a.lambda_in_bps)},
          {"lambda_out_bps", bits(a.lambda_out_bps)},
          {"remarked", a.remarked},
          {"dropped", a.dropped},
          {"router", a.router},
          {"tpr_max_bps", bits(a.tpr_max_bps)},
          {"passed_in", a.passed_in},
          {"passed_out", a.passed_out},
          {"tokens_mean_bytes", packets(a.tokens_mean)},
          {"below_threshold", ratio(a.below_threshold)},
          {"expected_remarked", packets(a.expected_remarked)},
          {"expected_dropped", packets(a.expected_dropped)}};
}

template <class Rows>
Json rows(const Rows& all) {
  Json array = Json::array();
  for (const auto& r : all) array.push_back(row(r));
  return array;
}

Json series(const Series& values, int decimals) {
  Json array = Json::array();
  for (const float v : values) array.push_back(rounded(static_cast<double>(v), decimals));
  return array;
}

Json counts(const std::map<std::string, std::map<std::string, std::uint64_t>>& all) {
  Json by_router = Json::object();
  for (const auto& [router, reasons] : all) {
    Json& counts = by_router[router] = Json::object();
    for (const auto& [reason, n] : reasons) counts[reason] = n;
  }
  return by_router;
}

}  // namespace

Json rounded(double value, int decimals) {
  if (!std::isfinite(value)) return {};
  if (decimals == 0) return std::llround(value);
  double scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  // The double next to the decimal, which prints with these decimals; + 0 turns -0 into 0.
  return std::round(value * scale) / scale + 0.0;
}

Json to_json(const RunResult& run) {
  Json json = {{"scenario", run.scenario},
               {"seed", run.seed},
               {"duration_s", seconds(run.duration_s)},
               {"events", run.events},
               {"flows", rows(run.flows)},
               {"queues", rows(run.queues)},
               {"domains", rows(run.domains)},
               {"aggregates", rows(run.aggregates)},
               {"measure_s", {seconds(run.measure_from_s), seconds(run.measure_to_s)}},
               {"drops", counts(run.drops)},
               {"signals", counts(run.signals)}};
  if (!run.groups.empty()) json["groups"] = rows(run.groups);
  if (run.interrupted) json["interrupted"] = true;
  return json;
}

Json with_series(const RunResult& run) {
  constexpr int kShares = 6, kSeconds = 6, kPackets = 3;
  Json json = to_json(run);
  json["sample_s"] = seconds(run.sample_s);
  for (std::size_t i = 0; i < run.flows.size(); ++i) {
    Json& flow = json["flows"][i];
    const FlowResult& f = run.flows[i];
    flow["throughput_series"] = series(f.throughput_series, 0);
    flow["in_series"] = series(f.in_series, 0);
    flow["control_series"] = series(f.control_series, kPackets);
    flow["delay_series"] = series(f.delay_series, kSeconds);
    flow["contract_series"] = series(f.contract_series, 0);
  }
  for (std::size_t i = 0; i < run.queues.size(); ++i) {
    json["queues"][i]["average_in_series"] = series(run.queues[i].average_in_series, kPackets);
    json["queues"][i]["average_total_series"] = series(run.queues[i].average_total_series, kPackets);
  }
  for (std::size_t i = 0; i < run.domains.size(); ++i)
    json["domains"][i]["alpha_series"] = series(run.domains[i].alpha_series, kShares);
  for (std::size_t i = 0; i < run.aggregates.size(); ++i) {
    json["aggregates"][i]["tpr_series"] = series(run.aggregates[i].tpr_series, 0);
    json["aggregates"][i]["tokens_series"] = series(run.aggregates[i].tokens_series, 0);
  }
  return json;
}

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace surety::lab
