// SPDX-License-Identifier: BSD-3-Clause
// Section `filters`: access lists, by name.
#include <algorithm>
#include <cctype>
#include <map>

#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::size_t kMaxEntries = 65'535;  // in all filters, the pairs of their sources and destinations

// Reads `permit` or `deny`, and returns its value.
const Node* read_verdict(MapReader& map, FilterEntry& entry, Problems& problems) {
  const Node* permit = map.find("permit");
  const Node* deny = map.find("deny");
  if (permit && deny) problems.error(deny->mark, "an entry permits or denies, not both");
  if (!permit && !deny && map.node().kind == Node::Kind::map)
    problems.error(map.node().mark,
                   "an entry needs `permit` or `deny`, like `{permit: {source: 10.1.0.0/24}}`");
  entry.permit = permit != nullptr;
  return permit ? permit : deny;
}

// `lines`: of the names that the filter has already.
void read_entry_name(MapReader& map, std::string& name, std::map<std::string, Mark>& lines,
                     Problems& problems) {
  if (!map.read("name", name)) return;
  const Mark at = map.at("name");
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (!is_name(name)) {
    problems.error(at, "{} cannot name an entry", quote(name));
  } else if (std::ranges::all_of(name, is_digit)) {
    problems.error(at, "a name cannot be a number: an entry without a name is called by its number");
  } else if (const auto [it, fresh] = lines.emplace(name, at); !fresh) {
    problems.error(at, "there is already an entry {} in this filter, at {}", quote(name),
                   line_name(it->second));
  }
}

void read_entry(const Node& node, Filter& filter, std::map<std::string, Mark>& lines, Problems& problems) {
  auto& entry = filter.entries.emplace_back();
  MapReader map(node, "an entry of a filter", problems);
  if (const Node* match = read_verdict(map, entry, problems))
    read_filter_match(*match, entry.match, problems);
  read_entry_name(map, entry.name, lines, problems);
}

// `room`: entries left for this filter and the following ones.
void read_filter(const Node& node, Filter& filter, std::vector<Mark>& places, std::size_t& room,
                 Problems& problems) {
  std::map<std::string, Mark> lines;
  for (const Node* n : sequence(node, "entries, like `- {permit: {source: 10.1.0.0/24}}`", problems)) {
    read_entry(*n, filter, lines, problems);
    places.push_back(n->mark);
    const std::size_t pairs = pairs_of(filter.entries.back().match);
    if (pairs > room) {
      problems.error(n->mark, "too many entries: at most {} in all filters", kMaxEntries);
      return;
    }
    room -= pairs;
  }
  if (node.kind == Node::Kind::sequence && node.items.empty())
    problems.error(node.mark,
                   "a filter without entries denies everything; if that is intended, write `[{deny: {}}]`");
}

// Entries behind one that decides about everything decide nothing.
void warn_about_entries(const Filter& filter, const Draft::FilterPlaces& places, Problems& problems) {
  const auto& entries = filter.entries;
  const auto decides = [](const FilterEntry& e) { return e.permit || matches_all(e.match); };
  if (!entries.empty() && std::ranges::none_of(entries, decides))
    problems.warning(
        places.name,
        "filter `{}` denies everything: it has no `permit`, and packets that match no entry are denied",
        filter.name);
  const auto all = std::ranges::find_if(entries, [](const FilterEntry& e) { return matches_all(e.match); });
  if (all == entries.end()) return;
  const auto index = static_cast<std::size_t>(all - entries.begin());
  if (all->permit && std::all_of(entries.begin(), all, [](const FilterEntry& e) { return e.permit; }))
    problems.warning(places.name, "filter `{}` permits everything", filter.name);
  if (index + 1 < entries.size())
    problems.warning(places.entries[index + 1],
                     "no packet reaches this entry or those after it: the entry at {} matches everything",
                     line_name(places.entries[index]));
}

}  // namespace

void read_filters(const Node& node, Draft& draft) {
  std::size_t room = kMaxEntries;
  for_each_named(node, "filter", draft.problems,
                 [&](const std::string& name, const Node& key, const Node& value) {
                   auto& filter = draft.config.filters.emplace_back();
                   filter.name = name;
                   auto& places = draft.filter_places.emplace_back(Draft::FilterPlaces{key.mark, {}});
                   read_filter(value, filter, places.entries, room, draft.problems);
                 });
}

void read_filter_names(MapReader& map, std::string_view noun, std::optional<std::size_t>& in,
                       std::optional<std::size_t>& out, Draft& draft) {
  const Node* node = map.find("filter");
  if (!node) return;
  MapReader filter(*node, std::string(noun), draft.problems);
  if (const Node* n = filter.find("in")) in = draft.filters.resolve(*n, "filter", draft.problems);
  if (const Node* n = filter.find("out")) out = draft.filters.resolve(*n, "filter", draft.problems);
}

void warn_about_filters(Draft& draft) {
  std::vector<bool> used(draft.config.filters.size());
  const auto use = [&](const auto& at) {
    if (at.filter_in) used[*at.filter_in] = true;
    if (at.filter_out) used[*at.filter_out] = true;
  };
  std::ranges::for_each(draft.config.ports, use);
  std::ranges::for_each(draft.config.interfaces, use);
  for (const Draft::Plan& plan : draft.plan_terms) use(plan.like);
  if (const auto suspended = draft.filters.find("suspended"); suspended && !draft.plan_terms.empty())
    used[*suspended] = true;
  for (std::size_t f = 0; f < used.size(); ++f) {
    const Filter& filter = draft.config.filters[f];
    if (!used[f])
      draft.problems.warning(draft.filter_places[f].name, "no port or interface uses filter `{}`",
                             filter.name);
    if (draft.filters.find(filter.name))  // in the file
      warn_about_entries(filter, draft.filter_places[f], draft.problems);
  }
}

}  // namespace surety::config
