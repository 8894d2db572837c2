// SPDX-License-Identifier: BSD-3-Clause
// The content of a configuration as a tree: without positions, comments and spaces, and independent of the
// order of keys; and the entries that the lists of two such trees have in common. changes.h compares two of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/document.h"

namespace surety::config {

struct Outline {
  Node::Kind kind = Node::Kind::null;
  std::string key;             // for an entry of a map
  std::string text;            // for a scalar; a fingerprint if hidden
  bool hidden = false;         // true: from `!env` or `!file`, and may be a secret
  std::vector<Outline> below;  // a map's sorted by key, a list's in its order

  const Outline* find(std::string_view name) const;  // an entry of a map; null: not there
  // The tree as YAML on one line, without hidden values.
  std::string words() const;
  friend bool operator==(const Outline&, const Outline&) = default;
};

Outline outline_of(const Node& root);

// Matches the entries of two versions of a list.
struct Listed {
  std::string label;  // entries of the same label are the same, the first with the first, and so on
  bool named = true;  // false: the label is the whole text, so that a changed entry has another label
};
struct Aligned {
  std::optional<std::size_t> before, after;  // none: new, or removed
  bool moved = false;                        // true: in both, at another place
};

// In the order of `after`, with removed entries where they were. Takes n log n.
std::vector<Aligned> align(const std::vector<Listed>& before, const std::vector<Listed>& after);

}  // namespace surety::config
