// SPDX-License-Identifier: BSD-3-Clause
// The texts that a scenario consists of (its file, the files of its routers) and the settings that change
// their trees before anything is read.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/text/document.h"
#include "config/text/problems.h"
#include "tests/lab/scenario/scenario.h"

namespace surety::lab {

using config::Mark;
using config::Node;

struct SourceTree {
  SourceTree(std::string f, std::string t)
      : file(std::move(f)), text(std::move(t)), document(text), root(document.root()) {}
  SourceTree(const SourceTree&) = delete;
  SourceTree& operator=(const SourceTree&) = delete;

  const std::string file, text;
  const config::Document document;
  const Node* root;  // with the settings applied; null: not YAML
  config::Problems problems;
};

class Sources {
 public:
  Sources(std::string text, const std::string& file, std::span<const Setting> settings);

  SourceTree scenario;

  // Relative names start at the scenario's directory.
  const std::string& directory() const { return directory_; }
  // The tree of the file that a router's `config: FILE` names; null, and reported there, when it cannot be
  // read. The same one each time, and one for each router.
  SourceTree* router_file(const std::string& router, const Node& config);

  // Those of settings first, in their order; then the scenario's, then those of the routers' files.
  std::vector<config::Diagnostic> take_diagnostics();

 private:
  friend class SettingEditor;
  void apply(const Setting& setting, int line);

  const std::span<const Setting> settings_;
  const std::string directory_;
  std::map<std::pair<std::string, std::string>, SourceTree> router_files_;  // by router and file
  std::deque<Node> edited_;
  std::deque<config::Document> values_;
};

}  // namespace surety::lab
