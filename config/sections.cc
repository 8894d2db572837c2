// SPDX-License-Identifier: BSD-3-Clause
#include "config/sections.h"

#include <fmt/format.h>

#include <filesystem>

#include "config/reader.h"
#include "config/text/problems.h"
#include "config/values.h"

namespace surety::config {

Names::Names(const Node* map) {
  if (!map) return;
  for (const auto& [key, value] : map->entries) add(key->text);
}

void Names::add(std::string_view name) {
  index_.emplace(name, names_.size());
  names_.push_back(name);
}

std::optional<std::size_t> Names::find(std::string_view name) const {
  const auto it = index_.find(name);
  if (it == index_.end()) return {};
  return it->second;
}

std::optional<std::size_t> Names::resolve(const Node& reference, std::string_view noun,
                                          Problems& problems) const {
  const auto* text = text_of(reference, fmt::format("the name of {}", with_article(noun)), problems);
  if (!text) return {};
  const auto found = find(*text);
  if (!found && !problems.full()) {
    problems.error(reference.mark, "there is no {} {}{}", noun, quote(*text), hint(*text, names_));
  }
  return found;
}

std::string Draft::file_name(const std::string& name, Mark at) const {
  const std::string base =
      at.file == nullptr ? directory : std::filesystem::path(at.file->name).parent_path().string();
  return name.starts_with('/') || base.empty() ? name : base + "/" + name;
}

namespace {
constexpr std::string_view kVersion = "1";
}

void read_version(MapReader& map, Problems& problems) {
  const Node* n = map.require("version");
  if (!n) return;
  const auto* text = text_of(*n, "`version: 1`", problems);
  if (text && *text != kVersion) {
    problems.error(n->mark, "version {} is not supported; this program reads version 1", quote(*text));
  }
}

void read_sections(MapReader& map, Draft& draft) {
  draft.ports = Names(map.find("ports"));
  draft.groups = Names(map.find("groups"));
  draft.filters = Names(map.find("filters"));
  draft.interfaces = Names(map.find("interfaces"));
  if (const Node* const subscribers = map.find("subscribers"))
    for (const auto& [name, value] : subscribers->entries) draft.interfaces.add(name->text);
  draft.plans = Names(map.find("plans"));
  draft.queues = Names(map.find("queues"));
  draft.services = Names(map.find("services"));
  using Admission = Config::Admission;
  map.read_word("admission", draft.config.admission,
                {{"warn", Admission::warn}, {"refuse", Admission::refuse}});
  struct Section {
    std::string_view key;
    void (*read)(const Node&, Draft&);
  };
  // In the order that references need.
  for (const auto& [key, read] : {Section{"router", read_router},
                                  Section{"workers", read_workers},
                                  Section{"queues", read_queues},
                                  Section{"ports", read_ports},
                                  Section{"groups", read_groups},
                                  Section{"filters", read_filters},
                                  Section{"interfaces", read_interfaces},
                                  Section{"plans", read_plans},
                                  Section{"subscribers", read_subscribers},
                                  Section{"pcp", read_pcp},
                                  Section{"routes", read_routes},
                                  Section{"neighbors", read_neighbors},
                                  Section{"services", read_services},
                                  Section{"classify", read_classify},
                                  Section{"aggregates", read_aggregates},
                                  Section{"signalling", read_signalling},
                                  Section{"metrics", read_metrics},
                                  Section{"log", read_log},
                                  Section{"icmp", read_icmp},
                                  Section{"flow_table", read_flow_table},
                                  Section{"dpdk", read_dpdk},
                                  Section{"kernel", read_kernel}}) {
    if (const Node* n = map.find(key)) read(*n, draft);
  }
  map.require("ports");
  add_rules_of_subscribers(draft);
  validate(draft);
}

}  // namespace surety::config
