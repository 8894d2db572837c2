// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/outline.h"

#include <algorithm>

#include "config/text/hash.h"

namespace surety::config {

Outline outline_of(const Node& n) {
  const bool hidden = n.origin != Node::Origin::written;
  Outline outline{n.kind, {}, hidden ? hash_of(n.text) : n.text, hidden, {}};
  outline.below.reserve(n.items.size() + n.entries.size());
  for (const Node* item : n.items) outline.below.push_back(outline_of(*item));
  for (const auto& [key, value] : n.entries)
    outline.below.push_back(outline_of(*value)), outline.below.back().key = key->text;
  if (n.kind == Node::Kind::map) std::ranges::sort(outline.below, {}, &Outline::key);
  return outline;
}

const Outline* Outline::find(std::string_view name) const {
  if (kind != Node::Kind::map) return nullptr;
  const auto at = std::ranges::lower_bound(below, name, {}, &Outline::key);
  return at != below.end() && at->key == name ? &*at : nullptr;
}

std::string Outline::words() const {
  if (kind == Node::Kind::null) return "null";
  if (kind == Node::Kind::scalar) return hidden ? "(not shown)" : text;
  std::string all;
  for (const Outline& o : below)
    all += (all.empty() ? "" : ", ") + (o.key.empty() ? "" : o.key + ": ") + o.words();
  return kind == Node::Kind::map ? '{' + all + '}' : '[' + all + ']';
}

}  // namespace surety::config
