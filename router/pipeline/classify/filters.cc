// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/classify/filters.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace surety {

namespace {

using Places = std::unordered_map<std::string_view, std::size_t>;

// Filters by name; only the first of a name.
Places places(const Filters& filters) {
  Places at;
  for (std::size_t i = 0; i < filters.size(); ++i) at.emplace(filters[i].config().name, i);
  return at;
}

}  // namespace

Filters::Filters(const config::Config& config, const Filters* before) : firsts_{0} {
  const Places known = before == nullptr ? Places{} : places(*before);
  for (const config::Filter& f : config.filters) {
    const auto same = known.find(f.name);
    filters_.push_back(same != known.end() && (*before)[same->second].config() == f
                           ? before->filters_[same->second]
                           : std::make_shared<const Filter>(f));
    firsts_.push_back(firsts_.back() + filters_.back()->counters().size());
  }
  if (before == nullptr) return;
  for (std::size_t i = 0; i < filters_.size(); ++i)
    if (const auto same = known.find(filters_[i]->config().name); same != known.end())
      follow(i, *before, same->second);
}

// Filter i is what filter k was.
void Filters::follow(std::size_t i, const Filters& before, std::size_t k) {
  const std::size_t to = firsts_[i], from = before.firsts_[k];
  const auto& now = filters_[i]->counters();
  if (filters_[i] == before.filters_[k]) {
    runs_.push_back({from, to, now.size()});
    return;
  }
  std::map<std::pair<std::string_view, bool>, std::size_t> old;
  for (const auto& c : before.filters_[k]->counters())
    old.emplace(std::pair<std::string_view, bool>(c.name, c.permit), old.size());
  for (std::size_t c = 0; c < now.size(); ++c)
    if (const auto at = old.find({now[c].name, now[c].permit}); at != old.end())
      runs_.push_back({from + at->second, to + c, 1});
}

void Filters::carry_over(std::span<const std::uint64_t> before, std::span<std::uint64_t> now) const {
  for (const Run& r : runs_) std::copy_n(&before[r.from], r.count, &now[r.to]);
}

std::uint64_t Filters::judge(std::size_t i, std::span<const FilteredPacket> packets,
                             std::span<std::uint64_t> counts) const {
  std::array<std::uint32_t, Filter::kMostAtOnce> entries;
  const Filter& filter = *filters_[i];
  filter.match(packets, entries);
  std::uint64_t refused = 0;
  for (std::size_t p = 0; p < packets.size(); ++p) {
    const Filter::Verdict verdict = filter.verdict(entries[p]);
    ++counts[firsts_[i] + verdict.counter];
    refused |= std::uint64_t{verdict.permit == 0} << p;
  }
  return refused;
}

}  // namespace surety
