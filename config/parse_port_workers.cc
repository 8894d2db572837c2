// SPDX-License-Identifier: BSD-3-Clause
// A port's `worker` and `receive`: the workers that transmit and receive its packets.
#include <algorithm>

#include "config/reader.h"
#include "config/sections.h"
#include "config/text/problems.h"

namespace surety::config {
namespace {

constexpr std::size_t kMaxQueues = 64;  // per port

// A core that is a worker, where the file says which ones are.
bool read_worker(const Node& node, unsigned& core, Draft& draft) {
  const auto& workers = draft.config.workers;
  if (!read_integer(&node, 0, kMaxCore, core, draft.problems)) return false;
  if (workers.empty() || std::find(workers.begin(), workers.end(), core) != workers.end()) return true;
  std::vector<std::string> cores(workers.size());
  std::ranges::transform(workers, cores.begin(), [](unsigned w) { return std::to_string(w); });
  const std::vector<std::string_view> names(cores.begin(), cores.end());
  draft.problems.error(node.mark, "core {} is not a worker{}", core, hint(node.text, names));
  return false;
}

void read_readers(const Node& node, Port& port, Draft& draft) {
  for (const Node* n : list_of(node)) {
    unsigned core = 0;
    if (read_worker(*n, core, draft)) port.rx_workers.push_back(core);
  }
  if (node.kind == Node::Kind::sequence && node.items.empty())
    draft.problems.error(
        node.mark, "the list of workers is empty; leave `workers` out to use those that the device allows");
}

}  // namespace

void read_port_workers(MapReader& port, Port& out, Draft& draft) {
  unsigned core = 0;
  if (const Node* n = port.find("worker"); n && read_worker(*n, core, draft)) out.owner = core;
  const Node* receive = port.find("receive");
  if (!receive) return;
  MapReader map(*receive, "`receive`", draft.problems);
  std::uint16_t queues = kMaxQueues;
  if (read_integer(map.find("queues"), 1, kMaxQueues, queues, draft.problems)) out.rx_queues = queues;
  if (const Node* n = map.find("workers")) read_readers(*n, out, draft);
  map.read("dispatch", out.dispatch);
  if (out.dispatch.value_or(false) &&
      std::max<std::size_t>(out.rx_queues.value_or(1), out.rx_workers.size()) > 1)
    draft.problems.error(
        map.at("dispatch"),
        "`dispatch` needs a single receive queue: with several, the device spreads the packets");
  if (out.rx_workers.size() > queues)
    draft.problems.error(map.at("workers"), "{} workers for {} receive queue{}: each needs one",
                         out.rx_workers.size(), queues, queues == 1 ? "" : "s");
}

}  // namespace surety::config
