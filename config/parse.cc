// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"

#include <fmt/format.h>

#include <memory>

#include "config/reader.h"
#include "config/reload.h"
#include "config/sections.h"
#include "config/text/assembly.h"
#include "config/text/outline.h"

namespace surety::config {
namespace {
constexpr std::string_view kVersion = "1";
}

void read_version(MapReader& map, Problems& problems) {
  const Node* n = map.require("version");
  if (!n) return;
  const auto* text = text_of(*n, "`version: 1`", problems);
  if (text && *text != kVersion) {
    problems.error(n->mark,
                   fmt::format("version {} is not supported; this program reads version 1", quote(*text)));
  }
}

void read_sections(MapReader& map, Draft& draft) {
  draft.ports = Names(map.find("ports"));
  draft.groups = Names(map.find("groups"));
  draft.filters = Names(map.find("filters"));
  draft.interfaces = Names(map.find("interfaces"));
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
  validate(draft);
}

namespace {

// The mark of the item at `path`, or of the innermost one there is.
Mark place(const Node& root, const std::vector<std::string>& path) {
  const Node* here = &root;
  for (const auto& key : path) {
    const Node* const next = here->entry(key);
    if (next == nullptr) break;
    here = next;
  }
  return here->mark;
}

void read_all(const Assembly& assembly, Draft& draft) {
  MapReader map(*assembly.root(), "the configuration", draft.problems);
  map.find("include");
  read_version(map, draft.problems);
  read_sections(map, draft);
}

// `tree`: what `sources` reads, or reads into.
ParseResult parse_from(Sources& sources, Tree& tree, const Config* running) {
  ParseResult result;
  Problems problems;
  const Assembly assembly(tree, sources, problems);
  Draft draft(problems, tree.directory);
  if (!problems.any_error()) read_all(assembly, draft);
  if (running != nullptr && !problems.any_error())
    for (auto& f : fixed(*running, draft.config))
      problems.error(place(*assembly.root(), f.path), std::move(f.message));
  if (!problems.any_error()) {
    draft.config.written = std::make_shared<const Outline>(outline_of(*assembly.root()));
    draft.config.other_files = assembly.others();
    result.config = std::move(draft.config);
  }
  result.diagnostics = problems.take(assembly.text(), tree.path_of(tree.file));
  result.tree = std::move(tree);
  return result;
}

}  // namespace

ParseResult parse_tree(Tree tree, const Config* running) {
  TreeSources sources(tree);
  return parse_from(sources, tree, running);
}

ParseResult parse(std::string_view text, const std::string& file_name) {
  return parse_tree(tree_of(text, file_name));
}

ParseResult parse_stored(Tree tree, const Config* running) {
  StoredSources sources(tree);
  return parse_from(sources, tree, running);
}

ParseResult parse_file(const std::string& path, const Config* running) {
  Tree tree = tree_at(path);
  FileSources sources(tree);
  return parse_from(sources, tree, running);
}

}  // namespace surety::config
