// SPDX-License-Identifier: BSD-3-Clause
#include "config/match_text.h"

#include <deque>

#include "config/sections.h"

namespace surety::config {

Field field_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == text.npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

MatchText parse_fields(std::span<const Field> fields) {
  std::deque<Node> words;
  const auto scalar = [&](const std::string& text) {
    Node n;
    n.kind = Node::Kind::scalar;
    n.text = text;
    return &words.emplace_back(std::move(n));
  };
  Node map;
  map.kind = Node::Kind::map;
  for (const auto& [name, value] : fields) map.entries.emplace_back(scalar(name), scalar(value));
  MatchText result;
  Problems problems;
  read_filter_match(map, result.match, problems);
  for (const Diagnostic& d : problems.take({}, {}))
    if (result.error.empty() && d.severity == Diagnostic::Severity::error) result.error = d.message;
  return result;
}

}  // namespace surety::config
