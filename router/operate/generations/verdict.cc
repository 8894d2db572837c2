// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/generations/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace surety {
namespace {

constexpr std::string_view kAtOnce = "at_once", kRestart = "restart";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; !from.empty() && (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

Json verdict_of(const std::vector<config::Diagnostic>& diagnostics, Json changes) {
  Json verdict = {{"errors", Json::array()}, {"warnings", Json::array()}};
  using Severity = config::Diagnostic::Severity;
  for (const auto& d : diagnostics)
    if (d.severity != Severity::note)
      verdict[d.severity == Severity::error ? "errors" : "warnings"].push_back(d.format());
  const std::size_t all = changes.size();
  if (all > kMostChanges) {
    // When the list is truncated, changes that need a restart stay: they decide whether the configuration can
    // be adopted.
    std::stable_partition(changes.begin(), changes.end(),
                          [](const Json& c) { return c.at("takes") == kRestart; });
    changes.erase(changes.begin() + kMostChanges, changes.end());
    verdict["left_out"] = all - kMostChanges;
  }
  verdict["changes"] = std::move(changes);
  return verdict;
}

Json in_json(const std::vector<config::Change>& changes) {
  Json all = Json::array();
  for (const config::Change& c : changes)
    all.push_back({{"what", c.what},
                   {"takes", c.takes == config::Change::Takes::restart ? kRestart : kAtOnce},
                   {"whom", c.whom}});
  return all;
}

bool has_errors(const Json& verdict) {
  return !verdict.at("errors").empty();
}

std::vector<std::string> what_takes_a_restart(const Json& verdict) {
  std::vector<std::string> all;
  for (const Json& change : verdict.at("changes"))
    if (change.at("takes") == kRestart) all.push_back(change.at("what"));
  return all;
}

void print_changes(const Json& verdict, std::ostream& out) {
  for (const Json& change : verdict.at("changes")) {
    const std::string whom = change.at("whom");
    out << change.at("what").get<std::string>() << (change.at("takes") == kRestart ? "; takes a restart" : "")
        << (whom.empty() ? "" : "; affects " + whom) << '\n';
  }
  if (verdict.contains("left_out")) out << "and " << verdict.at("left_out") << " more changes\n";
}

void print_problems(const Json& verdict, const Renames& renames, std::ostream& err) {
  for (const char* const kind : {"warnings", "errors"})
    for (std::string text : verdict.at(kind)) {
      for (const auto& [from, to] : renames) replace_all(text, from, to);
      err << text << (text.ends_with('\n') ? "" : "\n");
    }
}

Json words_of(const Json& verdict) {
  Json all = Json::array();
  for (const Json& change : verdict.at("changes")) all.push_back(change.at("what"));
  return all;
}

}  // namespace surety
