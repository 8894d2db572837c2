// SPDX-License-Identifier: BSD-3-Clause
// The ends of links: a host, or a router's port; and what may be linked to what.
#pragma once

#include "tests/lab/scenario/scenario_sections.h"

namespace surety::lab {

struct LinkEnd {
  std::string name;  // as written
  NodePort port;     // of replicas the first one
  std::size_t count = 1;
  bool replicas = false;
  Mark at;

  // The k-th (from 0) of replicas; itself where there is one.
  LinkEnd replica(std::size_t k, const Scenario& scenario) const;
};

// `host`, `host#2` or `router.port`. None: reported.
std::optional<LinkEnd> resolve_end(const Node& node, ScenarioDraft& draft);

// Links two ends that are one each. A host has one link; a router's port has one to another router's, or any
// number to hosts (an access switch). False: reported.
bool attach(const LinkEnd& a, const LinkEnd& b, ScenarioDraft& draft);

}  // namespace surety::lab
