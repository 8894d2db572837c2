// SPDX-License-Identifier: BSD-3-Clause
// Section `aggregates`: ARD/ARM markers in front of the classes of ports and interfaces.
#include <algorithm>

#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

enum class Marker : std::uint8_t { ard, arm };

void read_marker(MapReader& map, ArdParams& p, Problems& problems) {
  Marker marker = Marker::ard;
  map.read_word("marker", marker, {{"ard", Marker::ard}, {"arm", Marker::arm}});
  map.required("rate", p.tpr_max);
  map.read_word("tokens", p.tokens, {{"bytes", TokenUnit::bytes}, {"packets", TokenUnit::packets}});
  map.read("packet", p.nominal_packet);
  map.read("bucket", p.bucket);
  map.read("threshold", p.threshold);
  const Bytes bucket = p.bucket.bytes(p.nominal_packet);
  if (bucket > kMaxBucketDepth) problems.error(map.at("bucket"), "a bucket holds at most 1 GB");
  if (p.threshold.bytes(p.nominal_packet) > bucket) {
    problems.error(map.at(map.find("threshold") ? "threshold" : "bucket"), "`threshold` is above `bucket`");
  }
  if (map.read("remark", p.remark) && p.remark == Probability(0)) {
    problems.error(map.at("remark"), "`remark` must be more than 0 and at most 1");
  }
  if (marker == Marker::arm && map.find("drop")) {
    problems.error(map.at("drop"), "`arm` drops nothing; leave `drop` out or use `marker: ard`");
  }
  map.read("drop", p.drop);
  if (marker == Marker::arm) p.drop = Probability(0);
  map.read("interval", p.interval);
}

// Only the ingress edge drops early: packets that have passed one marker are not dropped by another (the ARD
// paper, section 2.1). Elsewhere ARD only remarks.
void read_ingress(MapReader& map, ArdParams& p, Draft& draft) {
  const bool border = draft.config.router.role == Router::Role::border;
  bool ingress = border;
  map.read("ingress", ingress);
  if (ingress && !border) {
    draft.problems.error(map.at("ingress"),
                         "a router of `role: core` is not an ingress edge; leave `ingress` out");
  } else if (!ingress && map.find("drop") && p.drop > Probability(0)) {
    draft.problems.warning(
        map.at("drop"),
        "`drop` has no effect: only a marker at the ingress edge drops early, this one only remarks");
  }
  if (!ingress) p.drop = Probability(0);
}

const char* noun_of(const Aggregate& a) {
  return a.interface ? "interface" : "port";
}

// The queue set that the aggregate's packets enter; none when something on the way is missing (and reported).
const QueueSet* find_set(MapReader& map, Aggregate& a, Draft& draft) {
  const auto& c = draft.config;
  std::optional<std::size_t> port;
  const Node* at = read_outlet(map, port, a.interface, draft);
  if (!at && map.node().kind == Node::Kind::map)
    draft.problems.error(map.node().mark, "an aggregate needs `port` or `interface`");
  if (!port && !a.interface) return nullptr;
  if (a.interface && c.interfaces[*a.interface].is_template()) {
    draft.problems.error(at->mark,
                         "{} is one interface for each inner tag, but an aggregate has one marker: name a "
                         "port or a single interface",
                         quote(at->text));
    return nullptr;
  }
  a.port = a.interface ? c.interfaces[*a.interface].port : *port;
  if (a.port >= c.ports.size()) return nullptr;  // an interface of no port, which is reported
  const QueueSet* set = c.queues_before(a);
  if (!set)
    draft.problems.error(at->mark, "{} {} has no `queues`{}", noun_of(a), quote(at->text),
                         a.interface ? ", nor has its port" : "");
  return set;
}

// The class of that set; none as above.
const QueueClass* find_class(MapReader& map, Aggregate& a, Draft& draft) {
  const Node* queue = map.require("queue");
  const QueueSet* set = find_set(map, a, draft);
  if (!queue || !set) return nullptr;
  Names classes;
  for (const auto& q : set->classes) classes.add(q.scheduling.name);
  const auto found = classes.resolve(*queue, "class", draft.problems);
  if (!found) return nullptr;
  a.class_index = *found;
  return &set->classes[*found];
}

// The aggregate that has the prefix in the class of `a`: another one, or `a` itself; null: none yet.
const Aggregate* holder(const Prefix& p, const Aggregate& a, const std::vector<Aggregate>& others) {
  const auto has = [&](const Aggregate& b) {
    return same_class(a, b) && std::find(b.sources.begin(), b.sources.end(), p) != b.sources.end();
  };
  const auto other = std::find_if(others.begin(), others.end(), has);
  return other != others.end() ? &*other : has(a) ? &a : nullptr;
}

void read_sources(MapReader& map, Aggregate& a, const QueueClass* c, Draft& draft) {
  const Node* n = map.find("match");
  if (!n) return;
  MapReader match(*n, "`match` of an aggregate", draft.problems);
  const Node* source = match.require("source");
  if (!source) return;
  const auto prefixes = list_of(*source);
  if (prefixes.empty()) draft.problems.error(source->mark, "`source` needs at least one prefix");
  for (const Node* item : prefixes) {
    Prefix p;
    if (!read_masked(item, p, draft.problems)) continue;
    const Aggregate* const known = c ? holder(p, a, draft.config.aggregates) : nullptr;
    if (known) {
      draft.problems.error(item->mark, "aggregate `{}` already has {} of this class of this {}", known->name,
                           to_string(p), noun_of(a));
    }
    a.sources.push_back(p);
  }
}

// An aggregate without `match` is for the whole class, or for the rest of it: there is one at most.
void check_whole_class(const Aggregate& a, const Mark& at, Draft& draft) {
  for (const auto& other : draft.config.aggregates) {
    if (!same_class(other, a) || !other.sources.empty()) continue;
    draft.problems.error(at,
                         "aggregate `{}` already covers this class of this {}; give one of the two a `match`",
                         other.name, noun_of(a));
    return;
  }
}

void read_out_dscp(MapReader& map, Aggregate& a, const QueueClass* c, Problems& problems) {
  bool given = false;
  if (const Node* n = map.find("mark")) {
    MapReader mark(*n, "`mark` of an aggregate", problems);
    const Node* out = mark.require("out");
    given = out && read_dscp(*out, a.out_dscp, problems);
    const bool elsewhere = given && c && std::find(c->out.begin(), c->out.end(), a.out_dscp) == c->out.end();
    if (elsewhere) {
      problems.warning(out->mark,
                       "{} is not an OUT DSCP of class `{}`: the next router may not treat it as OUT",
                       quote(out->text), c->scheduling.name);
    }
    return;
  }
  if (!c) return;
  if (c->out.empty()) {
    problems.error(map.at("queue"),
                   "class `{}` has no OUT DSCP for remarked packets; give it `dscp: {{in: .., out: ..}}`",
                   c->scheduling.name);
    return;
  }
  a.out_dscp = c->out.front();
}

}  // namespace

void read_aggregates(const Node& node, Draft& draft) {
  for_each_named(node, "aggregate", draft.problems,
                 [&](const std::string& name, const Node& key, const Node& value) {
                   Aggregate a;
                   a.name = name;
                   MapReader map(value, "an aggregate", draft.problems);
                   const QueueClass* c = find_class(map, a, draft);
                   read_marker(map, a.marker, draft.problems);
                   read_ingress(map, a.marker, draft);
                   read_out_dscp(map, a, c, draft.problems);
                   read_sources(map, a, c, draft);
                   const bool whole = !map.find("match");
                   if (!c || (!whole && a.sources.empty())) return;  // reported
                   if (whole) check_whole_class(a, key.mark, draft);
                   draft.config.aggregates.push_back(std::move(a));
                   draft.aggregate_places.push_back({map.at("rate")});
                 });
}

}  // namespace surety::config
