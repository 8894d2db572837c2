// SPDX-License-Identifier: BSD-3-Clause
// What a configuration says, as a tree of its own: what is written, without places, comments and spaces, and
// whatever the order of keys is. Two of them can be told apart in words (changes.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/document.h"

namespace surety::config {

struct Outline {
  Node::Kind kind = Node::Kind::null;
  std::string key;             // of an entry of a map
  std::string text;            // of a scalar; of a hidden one a fingerprint
  bool hidden = false;         // it comes from elsewhere, and may be a secret
  std::vector<Outline> below;  // of a map by key, of a list in its order

  const Outline* find(std::string_view name) const;  // an entry of a map; null: not there
  // As YAML on one line; what is hidden is not in it.
  std::string words() const;
  friend bool operator==(const Outline&, const Outline&) = default;
};

Outline outline_of(const Node& root);

}  // namespace surety::config
