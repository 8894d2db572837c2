// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/next_hop_objects.h"

#include <algorithm>

namespace surety {

void NextHopObjects::set(const NextHopEvent& event, std::uint32_t generation) {
  objects_[event.id] = {event, generation};
}

NextHopObjects::Meaning NextHopObjects::meaning(std::uint32_t id) const {
  const auto object = objects_.find(id);
  if (object == objects_.end()) return {};
  const NextHopEvent& what = object->second.what;
  if (what.blackhole) return {.blackhole = true, .hops = {}};
  if (what.group.empty()) return {.blackhole = false, .hops = {what.hop}};
  Meaning m;
  for (const auto& member : what.group) {
    const auto known = objects_.find(member.id);
    // The kernel has no groups of groups, and a blackhole only as a group's sole member.
    if (known == objects_.end() || !known->second.what.group.empty()) continue;
    m.blackhole |= known->second.what.blackhole;
    m.hops.push_back(known->second.what.hop);
    m.hops.back().weight = member.weight;
  }
  if (m.blackhole) m.hops.clear();
  return m;
}

std::vector<std::uint32_t> NextHopObjects::affected(std::uint32_t id) const {
  std::vector<std::uint32_t> out{id};
  for (const auto& [group, object] : objects_)
    if (std::ranges::any_of(object.what.group, [id](const auto& m) { return m.id == id; }))
      out.push_back(group);
  return out;
}

std::vector<std::uint32_t> NextHopObjects::stale(std::uint32_t generation) const {
  std::vector<std::uint32_t> out;
  for (const auto& [id, object] : objects_)
    if (object.generation != generation) out.push_back(id);
  return out;
}

}  // namespace surety
