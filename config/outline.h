// SPDX-License-Identifier: BSD-3-Clause
// What a configuration says, section by section and entry by entry: enough to tell in words how two of them
// differ. What is compared is what is written; comments, spaces and the order of keys are not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/document.h"

namespace surety::config {

struct Outline {
  struct Section {
    std::map<std::string, std::uint64_t> entries;  // by name (of a list's: what tells it from others): a hash
    std::uint64_t order = 0;                       // a hash of all, in their order; of a map 0
  };
  std::map<std::string, Section, std::less<>> sections;
};
Outline outline_of(const Node* root);

struct SectionDifference {
  std::string section;
  std::vector<std::string> added, removed, changed;
  bool moved = false;  // only the order is another
};
// Sections that differ, by name.
std::vector<SectionDifference> difference(const Outline& before, const Outline& after);
// "ports: wan1 added; services: gold, silver changed"; of many names the first kNamed. "nothing has changed".
inline constexpr std::size_t kNamed = 5;
std::string in_words(const std::vector<SectionDifference>& differences);

}  // namespace surety::config
