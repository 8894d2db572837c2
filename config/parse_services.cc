// SPDX-License-Identifier: BSD-3-Clause
// Section `services`: what a rule gives a flow.
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

using Places = Draft::ServicePlaces;

void read_colour(MapReader& mark, std::string_view key, std::optional<Dscp>& out, Problems& problems) {
  Dscp d = 0;
  const Node* n = mark.find(key);
  if (n && read_dscp(*n, d, problems)) out = d;
}

void read_mark(const Node& node, Service& s, int colours, Problems& problems) {
  MapReader mark(node, colours == 1 ? "`mark` of a service without OUT packets" : "`mark`", problems);
  read_colour(mark, "in", s.mark_in, problems);
  if (colours > 1) read_colour(mark, "out", s.mark_out, problems);
  if (colours < 3) return;
  const Node* red = mark.find("red");
  s.drop_red = red && red->kind == Node::Kind::scalar && red->text == "drop";
  if (!s.drop_red) read_colour(mark, "red", s.mark_red, problems);
}

// A colour-aware meter reads colours from the DSCPs of `mark`.
void check_colours(const Service& s, Mark at, Problems& problems) {
  if (!s.color_aware) return;
  if (!s.mark_out && !s.mark_red)
    return problems.error(
        at,
        "`color_aware` reads the colors of packets from the DSCPs of `mark`: give it `out`, "
        "`red` or both");
  const auto same = [](const auto& a, const auto& b) { return a && a == b; };
  if (same(s.mark_in, s.mark_out) || same(s.mark_in, s.mark_red) || same(s.mark_out, s.mark_red))
    problems.error(at, "`color_aware` cannot distinguish colors to which `mark` gives the same DSCP");
}

// The conditioner decides which keys there may be, so it is looked up before the map's reader is made.
std::string what_of(const Node& node) {
  for (const auto& [key, value] : node.entries) {
    if (key->text == "conditioner" && value->kind == Node::Kind::scalar)
      return "a service with conditioner " + quote(value->text);
  }
  return "a service";
}

void read_objective(MapReader& map, std::optional<double>& out, Problems& problems) {
  Probability part(0);
  if (!map.read("objective", part)) return;
  if (part == Probability(0)) {
    problems.error(map.at("objective"), "an objective is more than 0 and at most 100 %");
  } else {
    out = part.value();
  }
}

void read_service(const Node& node, Service& s, Places& places, Problems& problems) {
  MapReader map(node, what_of(node), problems);
  if (!read_conditioner(map, s, places, problems)) {
    map.ignore_the_rest();
    return;
  }
  if (!std::holds_alternative<None>(s.conditioner)) read_objective(map, s.objective, problems);
  const int colours = std::visit([](const auto& c) { return c.kColours; }, s.conditioner);
  if (const Node* n = map.find("mark")) {
    places.mark = n->mark;
    read_mark(*n, s, colours, problems);
  }
  check_colours(s, places.mark, problems);
}

}  // namespace

void read_services(const Node& node, Draft& draft) {
  for_each_named(
      node, "service", draft.problems, [&](const std::string& name, const Node& key, const Node& value) {
        auto& service = draft.config.services.emplace_back();
        service.name = name;
        Places places{.name = key.mark, .mark = key.mark, .buckets = {}, .buffer = {}, .auto_max = {}};
        read_service(value, service, places, draft.problems);
        draft.service_places.push_back(std::move(places));
      });
}

}  // namespace surety::config
