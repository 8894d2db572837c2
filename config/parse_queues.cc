// SPDX-License-Identifier: BSD-3-Clause
// Section `queues`: sets of classes, their scheduling and the DSCPs that lead to them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "aqm/queue_measure.h"
#include "config/names.h"
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

constexpr std::uint64_t kMaxWeight = 10000;
constexpr std::uint32_t kMaxLimit = 1'000'000;
constexpr Duration kMaxDelay = std::chrono::seconds(5);

// Owner of each DSCP of the set, for the message when it is taken again.
struct Taken {
  std::array<std::string, 64> by;
};

void read_dscps(const Node& node, const std::string& name, std::vector<Dscp>& out, Taken& taken,
                Problems& problems) {
  for (const Node* n : list_of(node)) {
    Dscp d = 0;
    if (!read_dscp(*n, d, problems)) continue;
    if (std::ranges::find(out, d) != out.end()) continue;  // another name of it, as VA and 44
    if (!taken.by[d].empty()) {
      problems.error(n->mark, "{} already belongs to class `{}`", quote(n->text), taken.by[d]);
      continue;
    }
    taken.by[d] = name;
    out.push_back(d);
  }
}

void read_precedences(const Node& node, QueueClass& c, Taken& taken, Problems& problems) {
  const auto& name = c.scheduling.name;
  if (node.kind != Node::Kind::map) {
    read_dscps(node, name, c.in, taken, problems);
    return;
  }
  MapReader map(node, "`dscp`", problems);
  if (const Node* n = map.find("in")) read_dscps(*n, name, c.in, taken, problems);
  if (const Node* n = map.find("out")) read_dscps(*n, name, c.out, taken, problems);
  if (const Node* n = map.find("red")) read_dscps(*n, name, c.red, taken, problems);
}

// A rate, or a part of the rate at which the set is served: at_rate() makes it one.
void read_cap(const Node* n, QueueClass& c, Problems& problems) {
  if (!n) return;
  if (n->kind != Node::Kind::scalar || n->text.find('%') == std::string::npos) {
    read_value(*n, c.scheduling.cap, problems);
    return;
  }
  const auto part = parse_ratio(n->text).value;
  if (part && *part > Ratio{} && *part <= Ratio::of(1))
    c.part = part;
  else
    problems.error(n->mark, "{} is not above 0 % and at most 100 % of the port's `shape`", quote(n->text));
}

void read_scheduling(MapReader& map, ClassParams& c, Problems& problems) {
  map.read_word("priority", c.strict, {{"strict", true}, {"weighted", false}});
  const Node* weight = map.find("weight");
  read_integer(weight, 1, kMaxWeight, c.weight, problems);
  if (c.strict && weight) {
    problems.error(weight->mark, "a strict class has no weight; leave `weight` out or `priority: strict`");
  }
}

// The setting without an average and without chance, in which the ARD paper's flows lock in phase
// (tests/lab/papers/README.md): `max` of `rio` and that alone decides. Weight 1 makes the averages the depths
// that an arrival meets; a step just below `max` refuses from `max` on.
void make_tail_drop(RedParams& red) {
  red.min = red.max = std::nextafter(std::ceil(red.max), 0.0);
}
void make_out_tail_drop(RioParams& rio) {
  rio.weight = 1;
  make_tail_drop(rio.in);
  make_tail_drop(rio.out);
  if (rio.red) make_tail_drop(*rio.red);
}

enum class Aqm : std::uint8_t { rio, tail_drop, out_tail_drop, decoupled_tail_drop };

// Returns the value of `aqm`; no value: the class has no such key.
std::optional<Aqm> read_aqm(MapReader& map, ActiveQueueParams& queue, Problems& problems) {
  Aqm aqm = Aqm::rio;
  map.read_word("aqm", aqm,
                {{"rio", Aqm::rio},
                 {"tail-drop", Aqm::tail_drop},
                 {"out-tail-drop", Aqm::out_tail_drop},
                 {"decoupled-tail-drop", Aqm::decoupled_tail_drop}});
  const bool by_length = aqm == Aqm::out_tail_drop || aqm == Aqm::decoupled_tail_drop;
  const auto said = map.find("aqm") ? std::optional(aqm) : std::nullopt;
  const Node* n = map.find("rio");
  if (!n && by_length)
    problems.error(map.at("aqm"), "`aqm: {}` needs the thresholds of `rio`, which this class does not have",
                   map.find("aqm")->text);
  if (n && aqm == Aqm::tail_drop)
    problems.error(map.at("aqm"), "tail drop has no thresholds; leave `aqm` or `rio` out");
  if (!n) return said;
  read_rio(*n, queue.rio.emplace(), problems);
  auto& rio = *queue.rio;
  const double max = std::max(rio.in.max, rio.out.max);
  if (by_length) make_out_tail_drop(rio);
  rio.count_arriving &= !by_length;
  rio.decoupled = aqm == Aqm::decoupled_tail_drop;
  if (max > queue.limit) {
    problems.warning(n->mark, "the queue overflows at its limit of {} packets before RIO's `max` is reached",
                     queue.limit);
  }
  return said;
}

// The full packets of a size.
void read_size(const Node& n, Bytes size, ActiveQueueParams& queue, Problems& problems) {
  const std::uint64_t packets = size.count() / QueueMeasure::kFullPacket;
  if (queue.beyond == 0)
    problems.error(n.mark, "with `count: packets`, `limit` must be packets, too, like `200 packets`");
  else if (packets == 0)
    problems.error(n.mark, "{} is less than one packet of {} B", quote(n.text), QueueMeasure::kFullPacket);
  else if (packets > kMaxLimit)
    problems.error(n.mark, "{} is more than {} packets of {} B", quote(n.text), kMaxLimit,
                   QueueMeasure::kFullPacket);
  else
    queue.limit = static_cast<std::uint32_t>(packets);
}

// A number of packets, a size, or a time. The thresholds of `rio` are packets: a class with `rio` and without
// `limit` has the default of 1000.
void read_limit(MapReader& map, QueueClass& c, Problems& problems) {
  const Node* const n = map.find("limit");
  const bool scalar = n && n->kind == Node::Kind::scalar;
  if (!n) {
    if (!map.find("rio")) c.limit = QueueClass::kDefaultLimit;
    return;
  }
  QueueClass::Delay limit{.most = kMaxLimit};
  if (const auto size = scalar ? parse_bytes(n->text).value : std::nullopt)
    read_size(*n, *size, c.scheduling.queue, problems);
  else if (!scalar || !parse_duration(n->text).value)
    read_packets(n, 1, kMaxLimit, c.scheduling.queue.limit, problems);
  else if (map.find("rio"))
    problems.error(
        n->mark, "the thresholds of `rio` are packets, so `limit` must be packets, too, like `200 packets`");
  else if (read_value(*n, limit.time, problems) && limit.time > kMaxDelay)
    problems.error(n->mark, "packets can wait for at most 5 s in a class");
  else
    c.limit = limit;
}

// Red packets have a curve of their own, and a curve has packets.
void check_red(MapReader& map, Problems& problems) {
  const auto red_of = [&](const char* key) {
    const Node* const n = map.find(key);
    return n && n->kind == Node::Kind::map ? n->entry("red") : nullptr;
  };
  const Node *const dscps = red_of("dscp"), *const curve = red_of("rio");
  if (dscps && !curve)
    problems.error(
        dscps->mark,
        "`red` packets need thresholds of their own, `rio: {in: ..., out: ..., red: ...}`; without "
        "these their DSCPs belong to `out`");
  if (curve && !dscps)
    problems.error(curve->mark, "the class has no `red` packets: give it their DSCPs, `dscp: {red: [...]}`");
}

QueueClass read_class(const Node& node, const std::vector<QueueClass>& others, Taken& taken,
                      std::optional<Aqm>& aqm, Problems& problems) {
  QueueClass c;
  MapReader map(node, "a class", problems);
  auto& s = c.scheduling;
  s.queue.beyond = 1;  // counts by bytes; settle_places() sets the number
  const auto same_name = [&](const QueueClass& o) { return o.scheduling.name == s.name; };
  if (map.required("name", s.name) && std::any_of(others.begin(), others.end(), same_name)) {
    problems.error(map.at("name"), "there is already a class `{}` in this set", s.name);
  }
  if (!s.name.empty() && !is_name(s.name)) {
    problems.error(map.at("name"), "{} cannot name a class", quote(s.name));
  }
  read_scheduling(map, s, problems);
  read_cap(map.find("rate"), c, problems);
  map.read_word("count", s.queue.beyond, {{"bytes", 1}, {"packets", 0}});
  read_limit(map, c, problems);
  if (const Node* n = map.find("dscp")) read_precedences(*n, c, taken, problems);
  aqm = read_aqm(map, s.queue, problems);
  check_red(map, problems);
  return c;
}

// The places of a port beyond the limits, in parts of them: at most seven for each packet of a limit, 190
// bytes each in a full queue.
void settle_places(QueueSet& set) {
  std::uint64_t all = 0;
  for (const QueueClass& c : set.classes) all += c.scheduling.queue.beyond > 0 ? c.scheduling.queue.limit : 0;
  for (QueueClass& c : set.classes) {
    auto& [limit, rio, beyond, reserved] = c.scheduling.queue;
    if (beyond > 0)
      beyond = static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(kMostBeyond * std::uint64_t{limit} / all, 1, 7 * std::uint64_t{limit}));
  }
}

// True if a class has IN packets, and OUT or red packets that are not merely those of DSCPs that no class
// names.
bool has_both(const QueueSet& set, std::size_t c) {
  const QueueSet::Entry& best_effort = set.by_dscp[0];
  const bool takes_be = best_effort.class_index == c && best_effort.precedence == Precedence::out;
  const QueueClass& of = set.classes[c];
  return !of.in.empty() && (!of.out.empty() || !of.red.empty() || takes_be);
}

// Half of the room, or as much of that as RIO's `max` for OUT leaves. Queues that count packets, as the
// papers' do, reserve nothing.
void settle_reserved(QueueSet& set, std::size_t c) {
  ActiveQueueParams& queue = set.classes[c].scheduling.queue;
  if (!queue.rio || queue.beyond == 0 || !has_both(set, c)) return;
  const auto max = static_cast<std::uint32_t>(std::min(std::ceil(queue.rio->out.max), 1.0 * queue.limit));
  queue.reserved = std::min(queue.limit / 2, queue.limit - max);
}

// Without RIO a flood of OUT packets leaves IN packets no room.
void settle_rio(QueueSet& set, std::size_t c, std::optional<Aqm> aqm, Mark at, Problems& problems) {
  ActiveQueueParams& queue = set.classes[c].scheduling.queue;
  if (queue.rio || aqm.value_or(Aqm::rio) != Aqm::rio || (!aqm && !has_both(set, c))) return;
  const RioParams& rio = queue.rio.emplace(derived_rio(queue.limit));
  set.classes[c].derived_rio = true;
  if (aqm) return;
  const auto& name = set.classes[c].scheduling.name;
  if (set.classes[c].limit)
    return problems.note(
        at,
        "IN and OUT packets share class {}, which has no `rio`: OUT packets have room for 10 to 20 % of its "
        "limit; `aqm: rio` confirms this, `aqm: tail-drop` drops IN and OUT alike",
        quote(name));
  const auto text = [](const RedParams& red) {
    return fmt::format("{{min: {:g}, max: {:g}, pmax: {:g}}}", red.min, red.max, red.pmax.value());
  };
  problems.note(at,
                "IN and OUT packets share class {}, which has no `rio`; derived from its limit of {} "
                "packets: `rio: {{average: {:g}, in: {}, out: {}}}`; `aqm: rio` confirms this, `aqm: "
                "tail-drop` drops IN and OUT alike",
                quote(name), queue.limit, rio.weight, text(rio.in), text(rio.out));
}

// Full packets that the rate sends within the limit.
std::uint32_t packets_of(const QueueClass::Delay& limit, Rate rate) {
  const double seconds = std::chrono::duration<double>(limit.time).count();
  const double packets =
      static_cast<double>(rate.bits_per_second()) / 8 * seconds / QueueMeasure::kFullPacket;
  return static_cast<std::uint32_t>(std::clamp<double>(packets, limit.least, limit.most));
}

// DSCPs that no class names go, as OUT, to the class that names BE, else to the last.
void map_dscps(QueueSet& set) {
  std::size_t fallback = set.classes.empty() ? 0 : set.classes.size() - 1;
  for (std::size_t i = 0; i < set.classes.size(); ++i) {
    const auto& c = set.classes[i];
    const auto names_be = [](const std::vector<Dscp>& v) {
      return std::find(v.begin(), v.end(), 0) != v.end();
    };
    if (names_be(c.in) || names_be(c.out) || names_be(c.red)) fallback = i;
  }
  set.by_dscp.fill({static_cast<std::uint8_t>(fallback), Precedence::out});
  for (std::size_t i = 0; i < set.classes.size(); ++i) {
    const auto index = static_cast<std::uint8_t>(i);
    for (const Dscp d : set.classes[i].in) set.by_dscp[d] = {index, Precedence::in};
    for (const Dscp d : set.classes[i].out) set.by_dscp[d] = {index, Precedence::out};
    for (const Dscp d : set.classes[i].red) set.by_dscp[d] = {index, Precedence::red};
  }
}

QueueSet plain_queues() {
  QueueSet set;
  QueueClass& c = set.classes.emplace_back();
  c.scheduling.name = "default";
  c.limit = QueueClass::kDefaultLimit;
  return set;  // by_dscp: class 0, OUT
}

}  // namespace

QueueSet at_rate(const QueueSet* of, const std::optional<Rate>& rate) {
  QueueSet set = of != nullptr ? *of : plain_queues();
  if (!rate) return set;
  for (QueueClass& c : set.classes) {
    ActiveQueueParams& queue = c.scheduling.queue;
    c.scheduling.cap = c.cap_at(rate);
    if (c.limit) queue.limit = packets_of(*c.limit, std::min(*rate, c.scheduling.cap.value_or(*rate)));
    if (c.derived_rio) queue.rio = derived_rio(queue.limit);
    if (queue.rio) queue.rio->capacity = *rate;  // the averages decay over idle time at that pace
  }
  settle_places(set);
  for (std::size_t c = 0; c < set.classes.size(); ++c) settle_reserved(set, c);
  return set;
}

void read_queues(const Node& node, Draft& draft) {
  auto& problems = draft.problems;
  for_each_named(
      node, "queue set", problems, [&](const std::string& name, const Node& key, const Node& value) {
        auto& set = draft.config.queues.emplace_back();
        set.name = name;
        draft.queue_places.push_back(key.mark);
        auto& places = draft.class_places.emplace_back();
        Taken taken;
        std::vector<std::pair<Mark, std::optional<Aqm>>> said;
        for (const Node* n :
             sequence(value, "classes, like `- {name: assured, weight: 9, dscp: [AF11]}`", problems)) {
          if (set.classes.size() == kMaxClasses) {
            problems.error(n->mark, "too many classes: at most {}", kMaxClasses);
            break;
          }
          auto& [at, aqm] = said.emplace_back(n->mark, std::nullopt);
          set.classes.push_back(read_class(*n, set.classes, taken, aqm, problems));
          const auto place = [n](std::string_view key) {
            const Node* const value = n->kind == Node::Kind::map ? n->entry(key) : nullptr;
            return value ? std::optional(value->mark) : std::nullopt;
          };
          places.push_back({place("limit"), place("rate")});
        }
        if (value.kind == Node::Kind::sequence && value.items.empty())
          problems.error(value.mark, "a queue set needs a class");
        settle_places(set);
        map_dscps(set);
        for (std::size_t c = 0; c < said.size(); ++c) {
          settle_rio(set, c, said[c].second, said[c].first, problems);
          settle_reserved(set, c);
        }
      });
}

}  // namespace surety::config
