// SPDX-License-Identifier: BSD-3-Clause
// Section `routers` of a scenario.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tests/lab/scenario/node_json.h"
#include "tests/lab/scenario/scenario_sections.h"

namespace surety::lab {
namespace {

using Mode = config::Signalling::Mode;

constexpr std::size_t kMaxRouters = 1000;
constexpr std::uint32_t kSmallFlowTable = 4096;

config::Draft lab_draft(config::Problems& problems, std::string directory) {
  config::Draft draft(problems, std::move(directory));
  draft.lab = true;
  draft.config.signalling.mode = Mode::act;
  return draft;
}

void keep(config::Draft&& from, bool flow_table, RouterNode& router, ScenarioDraft& draft) {
  auto& places = draft.router_places.back();
  for (const auto& p : from.port_places) places.ports.push_back({.name = p.name, .link = {}, .peer = {}});
  places.default_flow_table = !flow_table;
  router.config = std::move(from.config);
}

void read_inline(config::MapReader& map, RouterNode& router, ScenarioDraft& draft) {
  auto inner = lab_draft(draft.problems, draft.sources.directory());
  if (map.find("version")) config::read_version(map, draft.problems);
  config::read_sections(map, inner);
  router.yaml = json_text(map.node());
  keep(std::move(inner), map.find("flow_table") != nullptr, router, draft);
}

// `config: FILE`, and what may stand beside it.
void read_file(const Node& config, config::MapReader& map, Mark name, RouterNode& router,
               ScenarioDraft& draft) {
  auto beside = lab_draft(draft.problems, draft.sources.directory());
  const Node* signalling = map.find("signalling");
  if (signalling) config::read_signalling(*signalling, beside);
  auto* tree = draft.sources.router_file(router.name, config);
  if (tree && !tree->root) tree->problems.error(tree->document.error_mark(), tree->document.error());
  draft.router_places.back().unknown = !tree || !tree->root;
  if (!tree || !tree->root) return;
  auto inner = lab_draft(tree->problems, std::filesystem::path(tree->file).parent_path().string());
  config::MapReader file(*tree->root, "the configuration", tree->problems);
  config::read_version(file, tree->problems);
  config::read_sections(file, inner);
  router.yaml = json_text(*tree->root);
  for (auto& p : inner.port_places) p.name = name;  // the ports stand in another file
  if (signalling) inner.config.signalling.mode = beside.config.signalling.mode;
  keep(std::move(inner), file.find("flow_table") != nullptr, router, draft);
}

void read_router(const Node& key, const Node& value, RouterNode& router, ScenarioDraft& draft) {
  config::MapReader map(value, fmt::format("router {}", config::quote(router.name)), draft.problems);
  if (const Node* config = map.find("config"))
    read_file(*config, map, key.mark, router, draft);
  else
    read_inline(map, router, draft);
  router.signalling = router.config.signalling.mode != Mode::off;
}

}  // namespace

std::optional<std::size_t> ScenarioDraft::find_router(std::string_view name) const {
  const auto& all = scenario.routers;
  const auto it = std::find_if(all.begin(), all.end(), [&](const RouterNode& r) { return r.name == name; });
  if (it == all.end()) return {};
  return static_cast<std::size_t>(it - all.begin());
}

void read_routers(const Node& node, ScenarioDraft& draft) {
  config::for_each_named(
      node, "router", draft.problems, [&](const std::string& name, const Node& key, const Node& value) {
        auto& router = draft.scenario.routers.emplace_back();
        if (draft.scenario.routers.size() == kMaxRouters + 1)
          draft.problems.error(key.mark, fmt::format("too many routers: at most {}", kMaxRouters));
        router.name = name;
        draft.router_places.emplace_back();
        read_router(key, value, router, draft);
      });
}

// Many routers and runs share a machine: a table as large as there are flows, both ways;
// and all of them may begin at once.
void size_flow_tables(ScenarioDraft& draft) {
  std::uint64_t flows = 0;
  for (const auto& s : draft.scenario.senders) flows += 2 * std::uint64_t{s.sender.flows};
  for (std::size_t i = 0; i < draft.scenario.routers.size(); ++i) {
    if (!draft.router_places[i].default_flow_table) continue;
    auto& table = draft.scenario.routers[i].config.flow_table;
    table.capacity = static_cast<std::uint32_t>(std::max<std::uint64_t>(kSmallFlowTable, flows));
    table.creation_rate = 0;
  }
}

}  // namespace surety::lab
