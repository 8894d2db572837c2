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
  std::size_t members = 0;  // of a template that is meant as a whole: each host has one of its own

  // The k-th (from 0) of replicas or members; itself where there is one.
  LinkEnd replica(std::size_t k, const Scenario& scenario) const;
};

// `host`, `host#2`, `router.port`, `router.interface`, `router.template` or `router.template.17`. None:
// reported.
std::optional<LinkEnd> resolve_end(const Node& node, ScenarioDraft& draft);

// Links two ends that are one each. A host has one link; a router's port has one to another router's, or any
// number to hosts (an access switch), to those behind its interfaces with their tags. False: reported.
bool attach(const LinkEnd& a, const LinkEnd& b, ScenarioDraft& draft);

}  // namespace surety::lab
