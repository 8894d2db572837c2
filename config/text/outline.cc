// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/outline.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "config/text/tree.h"

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

namespace {

using Index = std::optional<std::size_t>;
using Partners = std::vector<Index>;  // per entry of a list: its partner in the other one

Partners partners(const std::vector<Listed>& before, const std::vector<Listed>& after) {
  std::map<std::string_view, std::pair<std::vector<std::size_t>, std::size_t>>
      places;  // indices with this label, and how many are taken
  for (std::size_t i = 0; i < before.size(); ++i) places[before[i].label].first.push_back(i);
  Partners all(after.size());
  for (std::size_t j = 0; j < after.size(); ++j) {
    const auto found = places.find(after[j].label);
    if (found == places.end()) continue;
    auto& [free, taken] = found->second;
    if (taken < free.size()) all[j] = free[taken++];
  }
  return all;
}

// The longest ascending part of `all`: entries that kept their order. The rest has moved.
std::vector<bool> unmoved(const Partners& all) {
  std::vector<std::size_t> ends;  // for each length, the last index in `all` of the best run
  Partners earlier(all.size());
  for (std::size_t j = 0; j < all.size(); ++j) {
    if (!all[j]) continue;
    const auto at = std::ranges::lower_bound(ends, *all[j], {}, [&](std::size_t e) { return *all[e]; });
    if (at != ends.begin()) earlier[j] = *std::prev(at);
    if (at == ends.end())
      ends.push_back(j);
    else
      *at = j;
  }
  std::vector<bool> stays(all.size());
  for (Index j = ends.empty() ? Index() : ends.back(); j; j = earlier[*j]) stays[*j] = true;
  return stays;
}

}  // namespace

std::vector<Aligned> align(const std::vector<Listed>& before, const std::vector<Listed>& after) {
  const Partners partner = partners(before, after);
  const std::vector<bool> stays = unmoved(partner);
  enum class Place : std::uint8_t { free, moved, kept };
  std::vector<Place> places(before.size());
  for (std::size_t j = 0; j < after.size(); ++j)
    if (partner[j]) places[*partner[j]] = stays[j] ? Place::kept : Place::moved;
  std::vector<Aligned> all;
  std::size_t i = 0;
  const auto gone_before = [&](std::size_t end) {
    for (; i < end; ++i)
      if (places[i] == Place::free) all.push_back({i, {}});
  };
  for (std::size_t j = 0; j < after.size(); ++j) {
    if (stays[j]) gone_before(*partner[j]);
    while (i < before.size() && places[i] == Place::moved) ++i;
    const bool in_place = !partner[j] && i < before.size() && places[i] == Place::free && !before[i].named;
    const bool changed = in_place && !after[j].named;
    all.push_back({changed ? Index(i++) : partner[j], j, partner[j] && !stays[j]});
    if (stays[j]) ++i;
  }
  gone_before(before.size());
  return all;
}

}  // namespace surety::config
