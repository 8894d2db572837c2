// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/routes/weighted_members.h"

#include <algorithm>
#include <numeric>

namespace surety {
namespace {

constexpr std::uint64_t kMost = RouteTarget::kMaxCount;

std::uint64_t total(const std::vector<std::uint64_t>& places) {
  return std::accumulate(places.begin(), places.end(), std::uint64_t{0});
}

std::vector<std::uint64_t> reduced(const std::vector<WeightedMember>& members) {
  std::uint64_t common = 0;
  for (const auto& m : members) common = std::gcd(common, std::uint64_t{m.weight});
  std::vector<std::uint64_t> places;
  places.reserve(members.size());
  for (const auto& m : members) places.push_back(m.weight / common);
  const std::uint64_t sum = total(places);
  if (sum <= kMost) return places;
  for (auto& p : places) p = std::max<std::uint64_t>(1, p * kMost / sum);
  for (auto over = total(places); over > kMost; --over) --*std::ranges::max_element(places);
  return places;
}

}  // namespace

NextHopMembers places_of(std::vector<WeightedMember> members) {
  std::stable_sort(members.begin(), members.end(),
                   [](const auto& a, const auto& b) { return a.member < b.member; });
  const auto same = [](const auto& a, const auto& b) { return a.member == b.member; };
  members.erase(std::unique(members.begin(), members.end(), same), members.end());
  if (members.size() > kMost) members.resize(kMost);
  NextHopMembers out;
  if (members.empty()) return out;
  const auto places = reduced(members);
  for (std::size_t i = 0; i < members.size(); ++i) out.insert(out.end(), places[i], members[i].member);
  return out;
}

}  // namespace surety
