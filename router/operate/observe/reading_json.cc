// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/reading_json.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "router/operate/observe/reading_fields.h"
#include "router/operate/observe/subscriber_rows.h"

namespace surety {
namespace {

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

Json worker_rows(const Reading& r) {
  Json rows = Json::array();
  for (const WorkerReading& w : r.workers) rows.push_back(fields::kWorkers.json_row({w, r}));
  return rows;
}

template <class Row>
void append(Json& rows, const fields::Table<Row>& table, const std::vector<Row>& readings) {
  for (const Row& row : readings) rows.push_back(table.json_row(row));
}

Json signalling_rows(const SignallingReading& s) {
  Json rows = Json::array();
  rows.push_back({{"kind", "mode"}, {"mode", s.mode}});
  append(rows, fields::kSenders, s.senders);
  append(rows, fields::kSources, s.sources);
  for (std::size_t i = 0; i < kSignalResults; ++i)
    rows.push_back({{"kind", "received"},
                    {"result", kSignalResultInfo[i].name},
                    {"signals", s.received[i]},
                    {"help", kSignalResultInfo[i].help}});
  append(rows, fields::kPaths, s.paths);
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
  const std::uint64_t samples =
      std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
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
  if (name == "router") return Json::array({fields::kRouter.json_row(r)});
  if (name == "ports") return fields::kPorts.json_rows(r.ports);
  if (name == "interfaces") return fields::kInterfaces.json_rows(r.interfaces);
  if (name == "queues") return fields::kQueues.json_rows(r.queues);
  if (name == "services") return fields::kServices.json_rows(r.services);
  if (name == "contracts") return fields::kContracts.json_rows(r.contracts);
  if (name == "filters") return fields::kFilters.json_rows(r.filters);
  if (name == "flows") return fields::kFlows.json_rows(r.top_flows);
  if (name == "drops") return drop_rows(r);
  if (name == "exceptions") return exception_rows(r);
  if (name == "aggregates") return fields::kAggregates.json_rows(r.aggregates);
  if (name == "domains") return fields::kDomains.json_rows(r.domains);
  if (name == "signalling") return signalling_rows(r.signalling);
  if (name == "workers") return worker_rows(r);
  if (name == "stages") return stage_rows(r.stages);
  if (name == "commitments") return r.sold ? fields::kCommitments.json_rows(*r.sold) : Json::array();
  if (name == "subscribers") return fields::kSubscribers.json_rows(subscriber_rows(r));
  return nullptr;
}

Json to_json(const Reading& reading) {
  Json tables = Json::object();
  for (const std::string_view name : kTables) tables[std::string(name)] = table(reading, name);
  return tables;
}

}  // namespace surety
