// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_report.h"

#include <fmt/format.h>

#include "tests/lab/live/live_process.h"

namespace surety::lab {

namespace {

std::optional<double> number(const Json& row, const char* key) {
  const Json& v = row.at(key);
  return v.is_null() ? std::nullopt : std::optional(v.get<double>());
}

LiveFlow flow(const Json& row) {
  return {row.at("name"),
          row.at("protocol"),
          number(row, "target_bps").value_or(0),
          number(row, "throughput_bps"),
          number(row, "goodput_bps"),
          number(row, "in_share"),
          number(row, "rtt_mean_s"),
          row.at("sent_packets"),
          row.at("lost_packets")};
}

PrecedenceResult difference(const Json& end, const Json& begin) {
  const auto of = [&](const char* key) {
    return end.at(key).get<std::uint64_t>() - begin.at(key).get<std::uint64_t>();
  };
  return {of("arrivals"), of("early_drops"), of("forced_drops"), of("overflow_drops"), of("ecn_marks")};
}

}  // namespace

std::vector<LiveFlow> live_flows(const std::string& report) {
  try {
    std::vector<LiveFlow> flows;
    const Json all = Json::parse(report);
    for (const Json& row : all.at("flows")) flows.push_back(flow(row));
    return flows;
  } catch (const Json::exception& e) {
    throw LiveError(fmt::format("the endpoint's report cannot be read: {}", e.what()));
  }
}

std::vector<QueueResult> live_queues(const std::string& router, const Json& end, const Json& begin) {
  std::vector<QueueResult> queues;
  for (std::size_t i = 0; i < end.size() && i < begin.size(); ++i) {
    QueueResult& q = queues.emplace_back();
    q.router = router;
    q.port = end[i].at("port");
    q.queue = end[i].at("name");
    for (const Precedence p : {Precedence::in, Precedence::out})
      q.by_precedence[index(p)] = difference(end[i].at(name(p)), begin[i].at(name(p)));
  }
  return queues;
}

}  // namespace surety::lab
