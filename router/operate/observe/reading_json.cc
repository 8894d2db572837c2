// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace surety {
namespace {

template <class Counters, class Infos>
void put(Json& row, const Counters& counters, const Infos& infos) {
  for (const auto& info : infos) row[info.name] = counters.*info.member;
}

template <class Rows, class RowOf>
Json rows_of(const Rows& rows, RowOf row_of) {
  Json result = Json::array();
  for (const auto& row : rows) result.push_back(row_of(row));
  return result;
}

std::uint64_t signals_sent(const SignallingReading& s) {
  std::uint64_t n = 0;
  for (const SignalSenderReading& sender : s.senders) n += sender.sent;
  return n;
}

Json router_row(const Reading& r) {
  Json row = {{"name", r.router_name},
              {"version", r.version},
              {"config_hash", r.config_hash},
              {"uptime_seconds", r.uptime_seconds},
              {"flows", r.flows},
              {"flow_capacity", r.flow_capacity},
              {"routes", r.routes},
              {"routes_rejected", r.routes_rejected},
              {"neighbors", r.neighbors},
              {"mempool_available", r.mempool_available},
              {"mempool_size", r.mempool_size},
              {"reloads", r.reloads},
              {"reload_failures", r.reload_failures},
              {"last_reload_successful", r.last_reload_successful},
              {"last_reload_timestamp_seconds", r.last_reload_timestamp},
              {"signals_sent", signals_sent(r.signalling)},
              {"cpu_seconds", r.process.cpu_seconds},
              {"resident_bytes", r.process.resident_bytes},
              {"open_fds", r.process.open_fds}};
  if (r.reload_seconds) row["reload_seconds"] = *r.reload_seconds;
  return row;
}

template <std::size_t n>
std::uint64_t sum(const std::array<std::uint64_t, n>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

Json port_row(const PortReading& p) {
  const PortCounters& c = p.counters;
  CounterOrder<PortCounters> order;
  Json row = {{"name", p.name}, {"device", p.device}, {"up", p.up}, {"missing", p.missing}};
  put(row, c, order.next({&PortCounters::rx_packets, &PortCounters::rx_bytes}));
  row["rx_missed"] = p.rx_missed;
  put(row, c, order.rest());
  row.update({{"queued", p.queued},
              {"handover", static_cast<std::uint64_t>(std::max<std::int64_t>(p.handover, 0))},
              {"dropped", sum(c.drops)},
              {"degraded", sum(c.degraded)},
              {"punted", sum(c.punted)},
              {"owner_core", p.owner_core},
              {"rx_cores", p.rx_cores},
              {"spread", p.spread}});
  Json& reasons = row["punt_reasons"] = Json::object();
  for (std::size_t i = 0; i < kPuntReasons; ++i) reasons[std::string(kPuntReasonInfo[i].name)] = c.punted[i];
  row["link_changes"] = p.link_changes;
  if (p.speed_bytes_per_second) row["speed_bytes_per_second"] = *p.speed_bytes_per_second;
  if (p.shape_bytes_per_second) row["shape_bytes_per_second"] = *p.shape_bytes_per_second;
  for (std::size_t plane = 0; p.sojourns && plane < p.sojourns->size(); ++plane)
    if (const auto p99 = sojourn_quantile((*p.sojourns)[plane], 0.99))
      row[plane == 0 ? "strict_sojourn_p99_seconds" : "data_sojourn_p99_seconds"] = *p99;
  return row;
}

Json interface_row(const InterfaceReading& i) {
  Json row = {{"name", i.name},
              {"port", i.port},
              {"customer", i.customer},
              {"vlan", i.tags},
              {"mtu", i.mtu},
              {"rx_packets", i.counters.rx_packets},
              {"rx_bytes", i.counters.rx_bytes},
              {"tx_packets", i.counters.tx_packets},
              {"tx_bytes", i.counters.tx_bytes}};
  if (i.shape_bytes_per_second) row["shape_bytes_per_second"] = *i.shape_bytes_per_second;
  if (i.members > 0) row["members"] = i.members;
  if (!i.of.empty()) row["of"] = i.of;
  return row;
}

Json queue_row(const QueueReading& q) {
  Json row = {
      {"port", q.port}, {"name", q.name}, {"rio", q.has_rio}, {"congested", q.congested}, {"limit", q.limit}};
  if (!q.interface.empty()) row["interface"] = q.interface;
  if (!q.of.empty()) row["of"] = q.of;
  if (q.members > 0) row["members"] = q.members;
  if (q.has_rio) {
    row["average_in"] = q.average_in;
    row["average_total"] = q.average_total;
  }
  for (const Precedence p : {Precedence::in, Precedence::out}) {
    Json& counts = row[name(p)];
    counts["depth"] = q.depth[index(p)];
    counts["limit"] = p == Precedence::in ? q.limit : q.out_limit;
    put(counts, q.counters[index(p)], QueueCounters::table());
    if (!q.thresholds) continue;
    const RedParams& red = (*q.thresholds)[index(p)];
    counts.update({{"min", red.min}, {"max", red.max}, {"pmax_ratio", red.pmax.value()}});
  }
  if (!q.has_sojourn) return row;
  if (const auto p50 = sojourn_quantile(q.sojourn, 0.5)) row["sojourn_p50_seconds"] = *p50;
  if (const auto p99 = sojourn_quantile(q.sojourn, 0.99)) row["sojourn_p99_seconds"] = *p99;
  row["sojourn_counts"] = q.sojourn.counts;
  return row;
}

Json service_row(const ServiceReading& s) {
  const ServiceCounters& c = s.counters;
  CounterOrder<ServiceCounters> order;
  Json row = {{"name", s.name}, {"conditioner", s.conditioner}};
  put(row, c, order.next({&ServiceCounters::flows, &ServiceCounters::contracts}));
  row["committed_bytes_per_second"] = s.committed_bytes_per_second;
  row["achieved_bytes_per_second"] = s.achieved_bytes_per_second;
  row["achieved_in_bytes_per_second"] = s.achieved_in_bytes_per_second;
  if (s.respect_ratio) row["respect_ratio"] = *s.respect_ratio;
  if (s.objective) row["objective_ratio"] = *s.objective;
  if (s.demanding_seconds > 0) {
    row["demanding_seconds"] = s.demanding_seconds;
    row["met_seconds"] = s.met_seconds;
  }
  for (const Precedence p : {Precedence::in, Precedence::out})
    for (const auto& info : ServiceCounters::table_by_precedence())
      row[name(p)][info.name] = (c.*info.member)[index(p)];
  for (const Precedence p : {Precedence::in, Precedence::out})
    row[name(p)]["delivered_bytes"] = s.delivered_bytes[index(p)];
  put(row, c, order.rest());
  return row;
}

Json contract_row(const ContractReading& c) {
  Json row = {{"customer", c.customer},
              {"service", c.service},
              {"contract", c.contract},
              {"committed_bytes_per_second", c.committed_bytes_per_second},
              {"offered_bytes_per_second", c.offered_bytes_per_second},
              {"delivered_bytes_per_second", c.delivered_bytes_per_second},
              {"delivered_in_bytes_per_second", c.delivered_in_bytes_per_second},
              {"offered_bytes", c.offered_bytes},
              {"delivered_in_bytes", c.delivered_bytes[index(Precedence::in)]},
              {"delivered_out_bytes", c.delivered_bytes[index(Precedence::out)]},
              {"held", c.held}};
  if (c.down) row["direction"] = *c.down ? "down" : "up";
  for (std::size_t place = 0; place < kLossPlaces.size(); ++place)
    row[fmt::format("dropped_{}", kLossPlaces[place])] = c.lost.at(static_cast<LossPlace>(place));
  Json& drops = row["drops"] = Json::object();
  for (std::size_t r = 0; r < kLossReasons.size(); ++r)
    if (c.lost.by_reason[r] > 0) drops[std::string(info(kLossReasons[r]).name)] = c.lost.by_reason[r];
  row["demanding_seconds"] = c.demanding_seconds;
  row["met_seconds"] = c.met_seconds;
  row["held_back_seconds"] = c.held_back_seconds;
  if (c.respect_ratio) row["respect_ratio"] = *c.respect_ratio;
  if (c.met) row["met"] = *c.met;
  if (c.met == false && c.reason) row["reason"] = info(*c.reason).name;
  if (c.objective) row["objective_ratio"] = *c.objective;
  return row;
}

Json flow_row(const FlowReading& f) {
  return {{"source", f.source},
          {"destination", f.destination},
          {"protocol", f.protocol},
          {"service", f.service},
          {"vlan", f.vlan},
          {"in_bytes", f.in_bytes},
          {"out_bytes", f.out_bytes},
          {"held", f.held},
          {"idle_seconds", f.idle_seconds}};
}

Json drop_rows(const Reading& r) {
  Json rows = Json::array();
  for (const PortReading& port : r.ports)
    for (std::size_t i = 0; i < kDropReasons; ++i) {
      const DropReasonInfo& reason = kDropReasonInfo[i];
      rows.push_back({{"port", port.name},
                      {"stage", reason.stage},
                      {"reason", reason.name},
                      {"group", reason.group == DropGroup::policy ? "policy" : "error"},
                      {"packets", port.counters.drops[i]},
                      {"help", reason.help}});
    }
  return rows;
}

// `way`: up (to a kernel or the responder), down (from them), kernel (frames of its device), responder (its
// results), icmp (errors).
Json exception_row(const std::string& port, std::string_view way, std::string_view result,
                   std::uint64_t frames, std::string_view help) {
  return {{"port", port}, {"way", way}, {"result", result}, {"frames", frames}, {"help", help}};
}

Json exception_rows(const Reading& r) {
  Json rows = Json::array();
  for (const PortReading& p : r.ports) {
    for (std::size_t i = 0; i < kExceptionResults; ++i) {
      const ExceptionResultInfo& info = kExceptionResultInfo[i];
      rows.push_back(exception_row(p.name, info.way, info.name, p.exceptions[i], info.help));
    }
    for (const KernelCount& k : p.kernel)
      rows.push_back(
          exception_row(p.name, "kernel", fmt::format("{} {}", k.frame_class, k.result), k.frames, k.help));
    for (const NamedCount& n : p.responder)
      rows.push_back(exception_row(p.name, "responder", n.name, n.count, n.help));
  }
  for (const NamedCount& n : r.icmp_errors)
    rows.push_back(exception_row("all", "icmp", n.name, n.count, n.help));
  return rows;
}

Json aggregate_row(const AggregateReading& a) {
  Json row = {{"name", a.name},
              {"port", a.port},
              {"queue", a.queue},
              {"tpr_bytes_per_second", a.tpr_bytes_per_second},
              {"lambda_in_bytes_per_second", a.lambda_in_bytes_per_second},
              {"lambda_out_bytes_per_second", a.lambda_out_bytes_per_second},
              {"tokens_bytes", a.tokens_bytes}};
  put(row, a.counters, AggregateCounters::table());
  return row;
}

Json filter_row(const FilterReading& f) {
  return {{"filter", f.filter}, {"entry", f.entry}, {"action", f.action()}, {"packets", f.packets}};
}

Json commitment_row(const config::Sale& s) {
  Json row = {{"port", s.port},
              {"group", s.group},
              {"interface", s.interface},
              {"queue", s.queue},
              {"direction", s.way == config::Sale::Way::up ? "up" : "down"},
              {"sold_bytes_per_second", s.sold.bytes_per_second()},
              {"oversold", s.oversold()}};
  if (s.capacity) row["capacity_bytes_per_second"] = s.capacity->bytes_per_second();
  if (s.members > 0) row["members"] = s.members;
  return row;
}

Json domain_row(const DomainReading& d) {
  return {{"name", d.name}, {"alpha_ratio", d.alpha}};
}

// "lan0, wan0:1": names, as many as a string of the wire has room for.
std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kRoom = 120;
  std::string text;
  for (const std::string& name : names) {
    if (text.size() + name.size() > kRoom) return text + " ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string owned_by(unsigned core, const Reading& r) {
  std::vector<std::string> names;
  for (const PortReading& p : r.ports)
    if (p.owner_core == core) names.push_back(p.name);
  return joined(names);
}

// A port's queue with its number where there are several.
std::string read_by(unsigned core, const Reading& r) {
  std::vector<std::string> names;
  for (const PortReading& p : r.ports)
    for (std::size_t q = 0; q < p.rx_cores.size(); ++q)
      if (p.rx_cores[q] == core)
        names.push_back(p.rx_cores.size() == 1 ? p.name : p.name + ':' + std::to_string(q));
  return joined(names);
}

Json worker_rows(const Reading& r) {
  return rows_of(r.workers, [&](const WorkerReading& w) {
    Json row = {{"core", w.core}, {"flows", w.flows}};
    put(row, w.counters, WorkerCounters::table());
    if (w.busy_ratio) row["busy_ratio"] = *w.busy_ratio;
    row["owns"] = owned_by(w.core, r);
    row["reads"] = read_by(w.core, r);
    return row;
  });
}

Json sender_row(const SignalSenderReading& q) {
  return {{"kind", "sender"}, {"port", q.port},       {"queue", q.queue},
          {"sent", q.sent},   {"limited", q.limited}, {"lost", q.lost}};
}

Json source_row(const SignalSourceReading& q) {
  return {{"kind", "source"}, {"router", q.router},   {"port", q.port},
          {"queue", q.queue}, {"signals", q.signals}, {"age_seconds", q.age_seconds}};
}

Json path_row(const SignalPathReading& p) {
  return {{"kind", "path"},
          {"path", p.path},
          {"domain", p.domain},
          {"alpha_ratio", p.alpha},
          {"applied_alpha_ratio", p.applied_alpha}};
}

Json signalling_rows(const SignallingReading& s) {
  Json rows = Json::array();
  rows.push_back({{"kind", "mode"}, {"mode", s.mode}});
  for (const SignalSenderReading& q : s.senders) rows.push_back(sender_row(q));
  for (const SignalSourceReading& q : s.sources) rows.push_back(source_row(q));
  for (std::size_t i = 0; i < kSignalResults; ++i)
    rows.push_back({{"kind", "received"},
                    {"result", kSignalResultInfo[i].name},
                    {"signals", s.received[i]},
                    {"help", kSignalResultInfo[i].help}});
  for (const SignalPathReading& p : s.paths) rows.push_back(path_row(p));
  return rows;
}

Json stage_rows(const StageCounters& s) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < kStages; ++i)
    rows.push_back({{"stage", kStageNames[i]}, {"cycles", s.cycles[i]}, {"packets", s.packets[i]}});
  return rows;
}

}  // namespace

std::optional<double> sojourn_quantile(const SojournHistogram& histogram, double q) {
  const std::uint64_t samples = sum(histogram.counts);
  if (samples == 0) return std::nullopt;
  const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(samples)));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < SojournHistogram::kBuckets; ++i) {
    below += histogram.counts[i];
    if (below >= rank) return sojourn_bound(i);
  }
  return sojourn_bound(SojournHistogram::kBuckets - 1);
}

Json table(const Reading& r, std::string_view name) {
  if (name == "router") return Json::array({router_row(r)});
  if (name == "ports") return rows_of(r.ports, port_row);
  if (name == "interfaces") return rows_of(r.interfaces, interface_row);
  if (name == "queues") return rows_of(r.queues, queue_row);
  if (name == "services") return rows_of(r.services, service_row);
  if (name == "contracts") return rows_of(r.contracts, contract_row);
  if (name == "filters") return rows_of(r.filters, filter_row);
  if (name == "flows") return rows_of(r.top_flows, flow_row);
  if (name == "drops") return drop_rows(r);
  if (name == "exceptions") return exception_rows(r);
  if (name == "aggregates") return rows_of(r.aggregates, aggregate_row);
  if (name == "domains") return rows_of(r.domains, domain_row);
  if (name == "signalling") return signalling_rows(r.signalling);
  if (name == "workers") return worker_rows(r);
  if (name == "stages") return stage_rows(r.stages);
  if (name == "commitments") return r.sold ? rows_of(*r.sold, commitment_row) : Json::array();
  return nullptr;
}

Json to_json(const Reading& reading) {
  Json tables = Json::object();
  for (const std::string_view name : kTables) tables[std::string(name)] = table(reading, name);
  return tables;
}

}  // namespace surety
