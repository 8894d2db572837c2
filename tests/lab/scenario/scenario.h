// SPDX-License-Identifier: BSD-3-Clause
// A scenario: routers, hosts, links and senders, checked, with every default filled in.
//
// Immutable once parsed; names have become indices. Routers are ordinary router configurations (config.h),
// senders those of endpoints.h. `surety-lab run FILE` reads one; config/examples/lab-gtfrc-fig2b.yaml shows
// the vocabulary, `surety-lab --schema` prints all of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/parse.h"
#include "endpoints/config/endpoints.h"

namespace surety::lab {

struct RouterNode {
  std::string name;
  config::Config config;
  // Whether this router's congested queues signal to the borders, and whether it obeys signals. The lab's
  // default is on: `signalling: off` (or the section's `mode: off`) is what switches it off.
  bool signalling = true;  // config.signalling.mode says the same: off, or act (observe where it is written)
  std::string yaml{};  // its sections as JSON, which is YAML: what `surety-lab live` hands to `surety run`
};

struct HostNode {
  std::string name;  // `h#2` for the second of `{name: h, times: 3}`
  // As given (`{name: h, address: 203.0.113.7}`), or made up: 10.0.0.0/8, by index.
  IpAddress address;
};

struct NodePort {
  bool router = false;
  std::size_t node = 0;  // index into Scenario::routers or ::hosts
  std::size_t port = 0;  // of a router: index into its ports
  // Of a router, the interface on that port whose tags frames have: index into its interfaces, and which
  // member of a template, from 0. None: the port itself.
  struct Tagged {
    std::size_t definition = 0, member = 0;
    friend bool operator==(const Tagged&, const Tagged&) = default;
  };
  std::optional<Tagged> interface {};
  friend bool operator==(const NodePort&, const NodePort&) = default;
};

struct LinkDirection {
  std::optional<Rate> rate;  // none: infinitely fast
  Duration delay{};          // propagation
  Probability loss;          // each packet by itself, drawn from the seed
  // Packets that may wait to be sent, drop-tail; none: a host's link takes all, a router's port is held back
  // instead, so that packets wait in its own queues.
  std::optional<std::uint32_t> queue;
};
struct Link {
  std::string name;  // as written: "h1 edge.a"; of replicas "h#2 edge.a"
  NodePort a, b;
  LinkDirection forth, back;  // a to b, b to a
};

// From `at` on a router sends what is for a host by this port, whatever the shortest way is.
struct RouteChange {
  Duration at{};  // 0: from the start
  std::size_t router = 0, port = 0, host = 0;
};

struct LabSender {
  // Name, protocol, flows, start, stop, target, parameters, and `to_port` (0: the lab takes one); its port
  // and address are not used. From or to replicas there is one for each of them, named `f#2`.
  config::Sender sender;
  std::size_t host = 0, to = 0;  // indices into hosts
  // `ack: every | delayed` (default every, as the papers), `in: [AF11]`; the window is never less than the
  // sender's, the MTU that of the receiver's link.
  endpoints::SinkParams sink;
  // Its keys as JSON, but for the lab's own: what `surety-lab live` hands to `surety-endpoint`.
  std::string yaml{};
};

struct Scenario {
  std::string name, file;
  Duration duration{};
  config::TimeRange measure;                  // default: all of it
  std::uint64_t seed = 1;                     // `seed`, overruled by --seed
  Duration sample = std::chrono::seconds(1);  // of the series, and the bin of time_to_target
  std::vector<RouterNode> routers;
  std::vector<HostNode> hosts;
  std::vector<Link> links;
  std::vector<LabSender> senders;
  std::vector<RouteChange> routes;  // by time; of equal times in the order of the file
};

// `--set senders.long.target=400 kbit/s`: the path's steps are keys; items of a list are named by their
// `name`, links by their ends (`links.h1~edge.a.delay`), all of them by their place from 0. What a map does
// not have yet is made; a path into a router of `config: FILE` goes on in that file. The value is YAML, as in
// `routers.core.queues.q.assured.rio.out={min: 5, max: 15, pmax: 0.1}`; `null` takes the key or item away.
struct Setting {
  std::string path, value;
};

struct ScenarioResult {
  std::optional<Scenario> scenario;  // present when there is no error
  // In the order of the file; settings' first, routers' files' last.
  std::vector<config::Diagnostic> diagnostics;
  bool ok() const { return scenario.has_value(); }
};
// `file_name` is for messages, and relative file names (`config: FILE`) start at its
// directory. Nothing throws.
ScenarioResult parse_scenario(std::string_view text, const std::string& file_name,
                              std::span<const Setting> settings = {});
ScenarioResult parse_scenario_file(const std::string& path, std::span<const Setting> settings = {});

}  // namespace surety::lab
