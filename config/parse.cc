// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"

#include <memory>
#include <utility>

#include "config/reader.h"
#include "config/reload.h"
#include "config/sections.h"
#include "config/text/assembly.h"
#include "config/text/outline.h"

namespace surety::config {
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

// True, with an error, if the file is for another program.
bool is_of_another_program(const Node& root, Problems& problems) {
  static constexpr std::pair<const char*, const char*> kKeys[] = {
      {"routers", "this is a scenario of the lab: `surety-lab run` reads it"},
      {"senders", "this is a configuration of `surety-endpoint`, which reads it"},
      {"sinks", "this is a configuration of `surety-endpoint`, which reads it"}};
  for (const auto& [key, message] : kKeys)
    if (const Node* const value = root.entry(key)) {
      problems.error(value->mark, message);
      return true;
    }
  return false;
}

void read_all(const Assembly& assembly, Draft& draft) {
  if (is_of_another_program(*assembly.root(), draft.problems)) return;
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
