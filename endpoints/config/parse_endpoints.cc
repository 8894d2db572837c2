// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "config/reader.h"
#include "config/sections.h"
#include "endpoints/config/endpoint_sections.h"
#include "endpoints/config/endpoints.h"

namespace surety::config {
namespace {

constexpr std::uint64_t kMaxSeed = 999'999'999'999'999'999;  // largest number in a file

void read_measure(const Node& node, EndpointsDraft& draft) {
  TimeRange range;
  if (!read_time_range(node, range, draft.problems)) return;
  if (range.to <= range.from)
    draft.problems.error(node.mark, "expected a range of time, like `10 s - 60 s`");
  else if (draft.config.duration && range.from >= *draft.config.duration)
    draft.problems.error(node.mark, "the run ends before the measurement begins");
  else
    draft.config.measure = range;
}

void read_all(const Node& root, EndpointsDraft& draft) {
  auto& problems = draft.problems;
  MapReader map(root, "the configuration", problems);
  read_version(map, problems);
  const Node* ports = map.require("ports");
  draft.base.ports = Names(ports);
  if (ports) read_endpoint_ports(*ports, draft);
  const Node* sinks = map.find("sinks");
  if (sinks) read_sinks(*sinks, draft);
  const Node* senders = map.find("senders");
  if (senders) read_senders(*senders, draft);
  if (const Node* n = map.find("metrics")) read_metrics(*n, draft.base);
  if (const Node* n = map.find("dpdk")) read_dpdk(*n, draft.base);
  map.read("duration", draft.config.duration);
  if (const Node* n = map.find("measure")) read_measure(*n, draft);
  read_integer(map.find("seed"), 0, kMaxSeed, draft.config.seed, problems);
  if (root.kind == Node::Kind::map && !sinks && !senders)
    problems.error(root.mark, "nothing to do: there are neither `sinks` nor `senders`");
  validate_endpoints(draft);
  draft.config.metrics = draft.base.config.metrics;
  draft.config.dpdk = draft.base.config.dpdk;
}

}  // namespace

EndpointsResult parse_endpoints(std::string_view text, const std::string& file_name) {
  Problems problems;
  EndpointsDraft draft(problems, std::filesystem::path(file_name).parent_path().string());
  const Document document(text);
  if (document.root())
    read_all(*document.root(), draft);
  else
    problems.error(document.error_mark(), document.error());
  EndpointsResult result;
  if (!problems.any_error()) result.config = std::move(draft.config);
  result.diagnostics = problems.take(text, file_name);
  return result;
}

EndpointsResult parse_endpoints_file(const std::string& path) {
  Problems problems;
  const auto text = read_yaml(path, problems);
  if (!text) return {{}, problems.take({}, path)};
  return parse_endpoints(*text, path);
}

}  // namespace surety::config
