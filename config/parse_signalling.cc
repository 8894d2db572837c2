// SPDX-License-Identifier: BSD-3-Clause
// Section `signalling`.
#include <map>

#include "config/address.h"
#include "config/reader.h"
#include "config/sections.h"

namespace surety::config {
namespace {

using Mode = Signalling::Mode;
using Report = Signalling::Report;

constexpr std::size_t kMaxBorders = 4096;
constexpr std::uint64_t kMaxQueueLimit = 1'000'000, kMaxSourceLimit = 10'000'000;
constexpr Duration kMinAge = std::chrono::milliseconds(100), kMaxAge = std::chrono::hours(1);

void read_in_one_word(const Node& node, Draft& draft) {
  auto& mode = draft.config.signalling.mode;
  const auto on = parse_flag(node.text).value;
  if (on && (!*on || draft.lab)) {
    mode = *on ? Mode::act : Mode::off;
  } else {
    draft.problems.error(
        node.mark, "{} is not {}", quote(node.text),
        draft.lab ? "`on`, `off` or `{mode: ...}`" : "`off` or `{mode: act, key_file: FILE}`");
  }
}

// Returns true if both are valid, and fit together.
bool read_border(const Node& node, Signalling::Border& border, Problems& problems) {
  MapReader map(node, "a border", problems);
  const bool source = read_masked(map.require("source"), border.source, problems);
  const bool address = map.required("border", border.border);
  if (address && !is_unicast(border.border)) {
    problems.error(map.at("border"), "`{}` cannot be the address of a router", to_string(border.border));
    return false;
  }
  if (!source || !address) return false;
  if (border.source.address.is_v6() == border.border.is_v6()) return true;
  problems.error(map.at("border"),
                 "border `{}` and source `{}` are of different address families: a signal has the family of "
                 "the packet that caused it",
                 to_string(border.border), to_string(border.source));
  return false;
}

void read_borders(const Node& node, Draft& draft) {
  auto& problems = draft.problems;
  std::map<std::string, Mark> lines;
  for (const Node* n :
       sequence(node, "borders, like `- {source: 10.1.0.0/16, border: 192.0.2.1}`", problems)) {
    Signalling::Border border;
    if (!read_border(*n, border, problems)) continue;
    const auto [it, fresh] = lines.emplace(to_string(border.source), n->mark);
    if (!fresh) {
      problems.error(n->mark, "`{}` already has a border, at {}", it->first, line_name(it->second));
    }
    draft.config.signalling.borders.push_back(border);
    if (draft.config.signalling.borders.size() == kMaxBorders + 1)
      problems.error(n->mark, "too many borders: at most {}", kMaxBorders);
  }
}

}  // namespace

void read_signalling(const Node& node, Draft& draft) {
  auto& s = draft.config.signalling;
  draft.signalling_places.mode = node.mark;
  if (node.kind == Node::Kind::scalar) return read_in_one_word(node, draft);
  auto& problems = draft.problems;
  MapReader map(node, "`signalling`", problems);
  map.read_word("mode", s.mode, {{"off", Mode::off}, {"observe", Mode::observe}, {"act", Mode::act}});
  draft.signalling_places.mode = map.at("mode");
  if (map.read("key_file", s.key_file)) s.key_file = draft.file_name(s.key_file, map.at("key_file"));
  if (s.mode != Mode::off && !map.find("key_file") && !draft.lab) {
    problems.error(map.at("mode"), "signals are authenticated: this mode needs `key_file`");
  }
  map.read("max_age", s.max_age);
  if (s.max_age < kMinAge || s.max_age > kMaxAge)
    problems.error(map.at("max_age"), "the maximal age of a signal is from 100 ms to 1 h");
  map.read_word("report", s.report, {{"samples", Report::samples}, {"events", Report::events}});
  read_integer(map.find("queue_limit"), 1, kMaxQueueLimit, s.queue_limit, problems);
  read_integer(map.find("source_limit"), 1, kMaxSourceLimit, s.source_limit, problems);
  if (const Node* n = map.find("borders")) {
    read_borders(*n, draft);
    draft.signalling_places.borders = map.at("borders");
  }
}

void validate_signalling(Draft& draft) {
  const auto& c = draft.config;
  if (c.signalling.mode != Mode::off && !draft.names_id && !draft.lab) {
    draft.problems.error(draft.signalling_places.mode,
                         "a signal carries the id of its router: this mode needs `id` of `router`, like "
                         "`router: {id: 192.0.2.1}`");
  }
  if (draft.problems.any_error()) return;
  if (c.router.role == Router::Role::border && draft.signalling_places.borders) {
    draft.problems.warning(*draft.signalling_places.borders,
                           "a router of `role: border` sends no signals: `borders` has no effect");
  }
}

}  // namespace surety::config
