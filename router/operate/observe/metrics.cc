// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/metrics.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "router/operate/observe/reading_fields.h"

namespace surety {
namespace {

using namespace metrics;

std::string label_text(const Json& value) {
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}

void add(Family& family, const Labels& labels, const Json& value) {
  if (value.is_boolean())
    family.add(labels, value.get<bool>() ? 1.0 : 0.0);
  else if (value.is_number())
    family.add(labels, value.get<double>());
}

// Adds the families of a table, with one or several series for each row.
template <class Row, class Rows, class LabelsOf>
void families(Families& out, const fields::Table<Row>& table, const Rows& rows, LabelsOf labels_of) {
  std::vector<Labels> labels;
  labels.reserve(rows.size());
  for (const Row& row : rows) labels.push_back(labels_of(row));
  for (const fields::Field<Row>* f : table.metrics) {
    const bool counts = std::string_view(f->metric.name).ends_with("_total");
    Family family(counts ? MetricType::Counter : MetricType::Gauge, f->metric.name, f->metric.help);
    const std::vector<std::string> more = fields::words(f->metric.labels);
    const auto& value = f->metric.series.json ? f->metric.series.json : f->value.json;
    auto of_row = labels.begin();
    for (const Row& row : rows) {
      const Json series = value(row);
      if (more.empty()) add(family, *of_row, series);
      for (std::size_t i = 0; i < series.size() && !more.empty(); ++i) {
        Labels all = *of_row;
        for (std::size_t m = 0; m < more.size(); ++m) all.push_back({more[m], label_text(series[i][m])});
        add(family, all, series[i].back());
      }
      ++of_row;
    }
    family.move_to(out);
  }
}
template <class Row, class Rows>
void families(Families& out, const fields::Table<Row>& table, const Rows& rows) {
  families(out, table, rows, [&](const Row& row) {
    Labels labels;
    for (const auto& [name, field] : table.labels)
      labels.push_back({name, label_text(field->value.json(row))});
    return labels;
  });
}

void icmp_errors(Families& out, const Reading& r) {
  Family family(MetricType::Counter, "surety_icmp_errors_total",
                "ICMP errors about packets that cannot be forwarded, by result.");
  for (const NamedCount& n : r.icmp_errors) family.add({{"result", std::string(n.name)}}, n.count);
  family.move_to(out);
}

void netlink_defects(Families& out, const Reading& r) {
  Family family(MetricType::Counter, "surety_netlink_defects_total",
                "Messages of the kernel that are cut or of a newer kernel, by defect.");
  for (const NamedCount& n : r.netlink_defects) family.add({{"defect", std::string(n.name)}}, n.count);
  family.move_to(out);
}

Histogram histogram(const SojournHistogram& sojourn) {
  Histogram result;
  for (std::size_t i = 0; i < SojournHistogram::kBuckets; ++i) {
    result.sample_count += sojourn.counts[i];
    result.bucket.push_back({result.sample_count, sojourn_bound(i)});
  }
  result.sample_count += sojourn.counts.back();
  result.sample_sum = static_cast<double>(sojourn.sum_ns) * 1e-9;
  return result;
}

// A template's members have series of their own beside it: sums must leave out one of them (label `of`).
Labels labels_of_queue(const QueueReading& q) {
  Labels labels{{"port", q.port}, {"queue", q.name}};
  if (q.interface.empty()) return labels;
  labels.push_back({"interface", q.interface});
  labels.push_back({"of", q.of});
  return labels;
}

void sojourns(Families& out, const Reading& r) {
  Family queues(MetricType::Histogram, "surety_queue_sojourn_seconds",
                "How long packets stayed in the queue.");
  for (const QueueReading& q : r.queues)
    if (q.has_sojourn) queues.add(labels_of_queue(q), histogram(q.sojourn));
  queues.move_to(out);
  Family ports(
      MetricType::Histogram, "surety_port_sojourn_seconds",
      "How long packets stayed in the queues of a port and its interfaces, where these have queues.");
  for (const PortReading& p : r.ports)
    for (std::size_t plane = 0; p.sojourns && plane < p.sojourns->size(); ++plane)
      ports.add({{"port", p.name}, {"classes", plane == 0 ? "strict" : "weighted"}},
                histogram((*p.sojourns)[plane]));
  ports.move_to(out);
}

void stages(Families& out, const StageCounters& s) {
  Family cycles(MetricType::Counter, "surety_stage_cycles_total", "TSC cycles spent in a stage.");
  Family packets(MetricType::Counter, "surety_stage_packets_total", "Packets processed by a stage.");
  for (std::size_t i = 0; i < kStages; ++i) {
    cycles.add({{"stage", std::string(kStageNames[i])}}, s.cycles[i]);
    packets.add({{"stage", std::string(kStageNames[i])}}, s.packets[i]);
  }
  cycles.move_to(out);
  packets.move_to(out);
}

void top_flows(Families& out, const Reading& r) {
  Family bytes(MetricType::Gauge, "surety_top_flow_bytes",
               "Bytes of the largest flows; a gauge, because the flow of a slot changes.");
  for (std::size_t slot = 0; slot < r.top_flows.size(); ++slot) {
    const FlowReading& f = r.top_flows[slot];
    for (const Precedence p : {Precedence::in, Precedence::out})
      bytes.add({{"slot", std::to_string(slot)},
                 {"source", f.source},
                 {"destination", f.destination},
                 {"protocol", f.protocol},
                 {"service", f.service},
                 {"precedence", name(p)}},
                p == Precedence::in ? f.in_bytes : f.out_bytes);
  }
  bytes.move_to(out);
}

void signals(Families& out, const SignallingReading& s) {
  Family family(MetricType::Counter, "surety_csa_signals_total",
                "Congestion signals, by direction and result.");
  SignalSenderReading sent;
  for (const SignalSenderReading& q : s.senders) fields::kSenders.merge(sent, q);
  family.add({{"direction", "sent"}, {"result", "sent"}}, sent.sent);
  family.add({{"direction", "sent"}, {"result", "limited"}}, sent.limited);
  family.add({{"direction", "sent"}, {"result", "lost"}}, sent.lost);
  for (std::size_t i = 0; i < kSignalResults; ++i)
    family.add({{"direction", "received"}, {"result", std::string(kSignalResultInfo[i].name)}},
               s.received[i]);
  family.move_to(out);
}

}  // namespace

void metrics::congestion(Families& out, const Reading& r) {
  families(out, fields::kDomains, r.domains);
  families(out, fields::kAggregates, r.aggregates);
  signals(out, r.signalling);
  std::vector<SignalPathReading> paths = r.signalling.paths;
  single(out, MetricType::Gauge, "surety_csa_paths",
         "Paths that congestion signals throttle, or would in mode observe.", std::uint64_t{paths.size()});
  std::ranges::stable_sort(paths, {}, &SignalPathReading::alpha);
  paths.resize(std::min(paths.size(), kMaxPathSeries));
  families(out, fields::kPaths, paths);
}

Families render(const Reading& r) {
  Families out;
  single(out, MetricType::Gauge, "surety_build_info",
         "Always 1; the labels give the router's name, version and configuration.", 1.0,
         {{"version", r.version}, {"router", r.router_name}, {"config_hash", r.config_hash}});
  families(out, fields::kRouter, std::span(&r, 1));
  families(out, fields::kPorts, r.ports);
  families(out, fields::kInterfaces, r.interfaces);
  icmp_errors(out, r);
  netlink_defects(out, r);
  families(out, fields::kQueues, r.queues, labels_of_queue);
  sojourns(out, r);
  families(out, fields::kServices, r.services);
  families(out, fields::kContracts, r.contracts);
  if (r.sold) families(out, fields::kCommitments, *r.sold);
  families(out, fields::kFilters, r.filters);
  congestion(out, r);
  std::vector<fields::WorkerRow> workers;
  for (const WorkerReading& w : r.workers) workers.push_back({w, r});
  families(out, fields::kWorkers, workers);
  stages(out, r.stages);
  top_flows(out, r);
  return out;
}

}  // namespace surety
