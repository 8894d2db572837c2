// SPDX-License-Identifier: BSD-3-Clause
// The routes of all sources for one prefix, best first. Nearly always there is one, which takes no memory of
// its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "router/pipeline/routes/hop_sets.h"

namespace surety {

enum class RouteSource : std::uint8_t { neighbor, connected, yaml, kernel };  // in order of preference

class RouteCandidates {
 public:
  struct Candidate {
    HopSets::Id set = HopSets::kNone;
    std::uint32_t metric = 0;      // lower is better; one candidate of each (source, metric)
    std::uint32_t generation = 0;  // see Rib::remove_stale()
    RouteSource source = RouteSource::kernel;
  };

  std::span<const Candidate> all() const {
    if (many_) return *many_;
    return {&one_, one_.set == HopSets::kNone ? 0U : 1U};
  }
  const Candidate* find(RouteSource source, std::uint32_t metric) const {
    for (const auto& c : all())
      if (c.source == source && c.metric == metric) return &c;
    return nullptr;
  }
  // Adds the candidate, or replaces the one with the same (source, metric).
  void set(const Candidate& candidate) {
    std::vector<Candidate> now(all().begin(), all().end());
    const auto better = [](const auto& a, const auto& b) {
      return std::tie(a.source, a.metric) < std::tie(b.source, b.metric);
    };
    const auto at = std::lower_bound(now.begin(), now.end(), candidate, better);
    if (at != now.end() && !better(candidate, *at))
      *at = candidate;
    else
      now.insert(at, candidate);
    keep(std::move(now));
  }
  // Removes the candidates for which `condition` is true, and returns them.
  template <class Condition>
  std::vector<Candidate> take_if(Condition&& condition) {
    std::vector<Candidate> taken;
    if (std::ranges::none_of(all(), condition)) return taken;
    std::vector<Candidate> left;
    for (const auto& c : all()) (condition(c) ? taken : left).push_back(c);
    keep(std::move(left));
    return taken;
  }

 private:
  void keep(std::vector<Candidate> now) {
    one_ = now.empty() ? Candidate{} : now.front();
    many_ = now.size() > 1 ? std::make_unique<std::vector<Candidate>>(std::move(now)) : nullptr;
  }

  Candidate one_;                                 // the candidate, if there is at most one
  std::unique_ptr<std::vector<Candidate>> many_;  // all candidates, if there are more
};

}  // namespace surety
