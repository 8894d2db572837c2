// SPDX-License-Identifier: BSD-3-Clause
// What all runs of a scenario share: compiled router configurations, who is reached by which port, and the
// flows with their addresses and ports.
//
// Immutable once made; used by several threads at a time. The lab makes up the routes: shortest total delay,
// then fewest routers, then the order of the file; the scenario's `routes` change them. Every address, of
// hosts and of routers, has one next-hop id, the same in all routers of the process, so that one FIB serves
// them all; what lies behind the id is each router's own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "router/pipeline/rewrite_stage.h"
#include "router/pipeline/routes/fib.h"
#include "router/pipeline/routes/neighbors.h"
#include "router/pipeline/routes/paths.h"
#include "router/pipeline/snapshot.h"
#include "router/pipeline/wire/ip.h"
#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

// 2 * link + direction (0: forth).
using LineNumber = std::uint32_t;
inline constexpr LineNumber kNoLine = ~0u;

struct PlannedLine {
  NodePort from, to;
  const LinkDirection* parameters = nullptr;
};

struct PlannedHost {
  IpAddress address;
  MacAddress mac{}, peer_mac{};  // its own; what stands at the other end of its link
  LineNumber out = kNoLine, in = kNoLine;
  VlanTags tags;  // of the frames that it sends
};

struct PlannedRouter {
  std::unique_ptr<const Snapshot> snapshot;
  std::vector<MacAddress> macs;                                   // by port
  std::vector<std::vector<LineNumber>> lines;                     // that leave by a port
  std::vector<std::pair<std::uint32_t, NextHopEntry>> next_hops;  // by id
  std::uint32_t ids = 0;                                          // one more than the largest
};

// A router's next hop becomes another one.
struct PlannedChange {
  Duration at{};
  std::size_t router = 0;
  std::uint32_t id = 0;
  NextHopEntry entry;
};

// One flow of a sender; its index is its number everywhere in a run.
struct PlannedFlow {
  std::size_t sender = 0;    // index into Scenario::senders
  std::uint32_t number = 0;  // of the sender's flows, from 0
  std::string name;          // the sender's; with `#k` where it has several
  endpoints::Transport transport = endpoints::Transport::tcp;
  Tuple tuple;  // as the sender sees it
};

// A sink: flows with equal parameters share one, whatever their host.
struct PlannedSink {
  endpoints::Transport transport = endpoints::Transport::tcp;
  std::uint16_t port = 0;
  endpoints::SinkParams params;
  bool chosen = false;  // the port, by a sender: others do not share it unasked
};

class Plan {
 public:
  // Source ports of the flows: unique in a run, so that every packet tells its flow.
  static constexpr std::uint16_t kFirstFlowPort = 10'000;  // sinks are below
  static constexpr std::size_t kMaxFlows = 65'535 - kFirstFlowPort;

  explicit Plan(Scenario scenario);  // throws ScenarioError

  const Scenario& scenario() const { return scenario_; }
  const Fib& fib() const;
  // The host of a path: each has a route of its own. `others`: of a path of length 0.
  std::string host_of(const Path& path) const;
  // By which frames come in and leave at a router's end of a link.
  InterfaceIndex interface_of(const NodePort& router) const;
  const std::vector<PlannedLine>& lines() const { return lines_; }
  const std::vector<PlannedHost>& hosts() const { return hosts_; }
  const std::vector<PlannedRouter>& routers() const { return routers_; }
  const std::vector<PlannedFlow>& flows() const { return flows_; }
  const std::vector<PlannedSink>& sinks() const { return sinks_; }
  const std::vector<PlannedChange>& changes() const { return changes_; }  // by time

 private:
  void lay_lines();
  void plan_hosts();
  void plan_routers();
  void tag_hosts();
  void plan_routes();
  void plan_ways(std::size_t router, const std::vector<std::uint32_t>& ids);
  void plan_changes();
  void add_addresses();
  void plan_flows();
  std::uint16_t sink_port(const LabSender& s, endpoints::Transport transport);
  // The line by which a router sends to a host; kNoLine: it cannot be reached.
  LineNumber towards(std::size_t router, std::size_t host) const;
  NextHopEntry hop_by(LineNumber line) const;

  Scenario scenario_;
  std::vector<PlannedLine> lines_;
  std::vector<PlannedHost> hosts_;
  std::vector<PlannedRouter> routers_;
  std::vector<PlannedFlow> flows_;
  std::vector<PlannedSink> sinks_;
  std::vector<std::uint32_t> ids_;  // of the hosts
  std::vector<PlannedChange> changes_;
  struct OwnAddress {
    std::size_t router;
    IpAddress address;
  };
  std::vector<OwnAddress> own_addresses_;      // of the routers' ports
  std::vector<std::vector<LineNumber>> ways_;  // [router][destination router]: the first line
};

MacAddress mac_of(const NodePort& n);

// Throws ScenarioError for what only shows here: a host that cannot be reached.
std::shared_ptr<const Plan> make_plan(Scenario scenario);
const Scenario& scenario_of(const Plan& plan);

}  // namespace surety::lab
