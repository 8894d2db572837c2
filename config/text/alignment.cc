// SPDX-License-Identifier: BSD-3-Clause
#include "config/text/alignment.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace surety::config {
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
