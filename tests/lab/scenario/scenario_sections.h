// SPDX-License-Identifier: BSD-3-Clause
// The sections of a scenario, one function each; each reads its node into the draft and reports.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/reader.h"
#include "config/sections.h"
#include "endpoints/config/endpoint_sections.h"
#include "tests/lab/scenario/scenario.h"
#include "tests/lab/scenario/scenario_sources.h"

namespace surety::lab {

// What one entry of `hosts` stands for.
struct HostSet {
  std::string name;
  std::size_t first = 0, count = 0;  // indices into Scenario::hosts
  bool replicas = false;             // `times` was given
  Mark at;
};

struct ScenarioDraft {
  explicit ScenarioDraft(Sources& s) : sources(s), problems(s.scenario.problems) {}

  Scenario scenario;
  Sources& sources;
  config::Problems& problems;

  struct PortPlace {
    Mark name;
    Mark link;                 // of the first one
    std::string peer;          // at its other end
    bool linked = false;       // or should be: an error is not followed by another one
    bool peer_routes = false;  // which is a router's
  };
  struct RouterPlaces {
    std::vector<PortPlace> ports;
    bool unknown = false;  // its file is not there: nothing is known of its ports
    bool default_flow_table = false;
  };
  std::vector<RouterPlaces> router_places;
  std::vector<HostSet> host_sets;
  std::map<std::string, std::size_t, std::less<>> host_set_index;
  struct HostPlace {
    Mark link;
    bool linked = false;  // or should be
    std::optional<NodePort> peer;
  };
  std::vector<HostPlace> host_places;

  std::optional<std::size_t> find_router(std::string_view name) const;
  // The set that holds the host of this name, which may be one replica's (`h#2`).
  std::optional<HostSet> find_hosts(std::string_view name) const;
};

// "there is no host `h`; did you mean `h1`?"
std::string no_such(std::string_view noun, std::string_view name, const std::vector<std::string>& names);

void read_routers(const Node& node, ScenarioDraft& draft);
void read_hosts(const Node& node, ScenarioDraft& draft);  // after routers
void read_links(const Node& node, ScenarioDraft& draft);  // after hosts
void check_links(ScenarioDraft& draft);
void read_lab_senders(const Node& node, ScenarioDraft& draft);    // after links
void read_route_changes(const Node& node, ScenarioDraft& draft);  // after links
void size_flow_tables(ScenarioDraft& draft);                      // after senders

}  // namespace surety::lab
