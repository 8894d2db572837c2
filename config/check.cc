// SPDX-License-Identifier: BSD-3-Clause
#include "config/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "config/changes.h"
#include "config/parse.h"
#include "config/sold.h"

namespace surety::config {
namespace {

std::string counted(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string contents(const Config& c) {
  std::vector<std::string> parts{counted(c.ports.size(), "port")};
  const auto add = [&](std::size_t n, std::string_view noun) {
    if (n > 0) parts.push_back(counted(n, noun));
  };
  std::size_t interfaces = 0;
  for (const Interface& i : c.interfaces) interfaces += i.count();
  add(interfaces, "interface");
  add(c.groups.size(), "group");
  add(c.filters.size(), "filter");
  add(c.routes.size(), "route");
  add(c.queues.size(), "queue set");
  add(c.services.size(), "service");
  add(c.rules.size(), "rule");
  add(c.aggregates.size(), "aggregate");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Report check(const std::string& path) {
  auto result = parse_file(path);
  Report report;
  const auto count_of = [&](Diagnostic::Severity severity) {
    return static_cast<std::size_t>(std::ranges::count(result.diagnostics, severity, &Diagnostic::severity));
  };
  const auto errors = count_of(Diagnostic::Severity::error),
             warnings = count_of(Diagnostic::Severity::warning);
  for (const auto& d : result.diagnostics) report.text += d.format();
  const auto warned = warnings > 0 ? ", " + counted(warnings, "warning") : std::string();
  if (result.ok()) {
    const std::string customers = sold(*result.config), all = sold_in_all(*result.config);
    report.text += customers + (customers.empty() || all.empty() ? "" : "\n") + all;
    report.sum = fmt::format("{}: ok: {}{}\n", path, contents(*result.config), warned);
  } else {
    report.sum = fmt::format("{}: {}{}\n", path, counted(errors, "error"), warned);
  }
  report.config = std::move(result.config);
  return report;
}

int diff(const std::string& before, const std::string& after, std::string& report) {
  const auto a = parse_file(before), b = parse_file(after);
  report.clear();
  for (const auto* result : {&a, &b})
    for (const auto& d : result->diagnostics)
      if (d.severity == Diagnostic::Severity::error) report += d.format();
  if (!a.ok() || !b.ok()) return 2;
  report = to_text(changes(*a.config, *b.config));
  return report.empty() ? 0 : 1;
}

}  // namespace surety::config
