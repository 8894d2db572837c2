// SPDX-License-Identifier: BSD-3-Clause
// One setting, applied to the tree of a scenario: the nodes on its path are copied, so that what an alias
// shares stays as it is elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/scenario/scenario_sources.h"

namespace surety::lab {

class SettingEditor {
 public:
  // `line` (below 1) is where its nodes stand, and its errors.
  SettingEditor(Sources& sources, const Setting& setting, int line)
      : sources_(sources), setting_(setting), mark_{line, 1}, path_(setting.path) {}

  void apply();

 private:
  bool read_value();
  // Whether the path leads into the file of a router's `config: FILE`; then it is applied there.
  bool enter_router_file();
  // What stands in the place of `at` (null: nothing) once the rest of the path is followed; null: nothing.
  // `at` itself: reported, nothing changes.
  const Node* edit(const Node* at, std::string_view rest);
  const Node* edit_map(const Node& at, std::string_view rest);
  const Node* edit_item(const Node& at, std::string_view rest);
  void error(std::string message);
  std::string written_up_to(std::string_view rest) const;

  Sources& sources_;
  const Setting& setting_;
  const Mark mark_;
  const std::string_view path_;
  const Node* value_ = nullptr;  // null: the key goes away
};

}  // namespace surety::lab
