// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "endpoints/report/report.h"
#include "router/process/human.h"

namespace surety::endpoints {
namespace {

using Flows = std::span<const FlowResult>;
using Value = std::function<std::optional<double>(const FlowResult&)>;
using Show = std::string (*)(double);

constexpr std::size_t kRowsPerLine = 8;

std::string line_of(const FlowResult& f) {
  return f.identity.name.substr(0, f.identity.name.find('#'));
}

// The flows of the first line of YAML.
Flows first_line(Flows flows) {
  std::size_t n = 1;
  while (n < flows.size() && line_of(flows[n]) == line_of(flows[0])) ++n;
  return flows.first(n);
}

template <class F>
void for_each_line(Flows flows, F&& f) {
  for (Flows line; !flows.empty(); flows = flows.subspan(line.size())) f(line = first_line(flows));
}

std::string rate_of(double bits_per_second) {
  return human::rate(bits_per_second / 8);
}
std::string count(double n) {
  return fmt::format("{:.0f}", n);
}
std::string small(double p) {
  return fmt::format("{:.3g}", p);
}

struct Column {
  const char* title;
  Value value;
  Show show;
};

std::optional<double> seconds_of(const std::optional<Duration>& d) {
  return d ? std::optional(seconds(*d)) : std::nullopt;
}
std::optional<double> bits(const FlowResult& f, Rate r) {
  return f.arrival_known ? std::optional(static_cast<double>(r.bits_per_second())) : std::nullopt;
}
std::optional<double> target(const FlowResult& f) {
  if (f.identity.target == Rate{}) return {};
  return static_cast<double>(f.identity.target.bits_per_second());
}

// Blank where it is as much as was delivered.
std::optional<double> arriving(const FlowResult& f) {
  constexpr double kAsMuch = 0.005;
  const double more = f.throughput.bytes_per_second() - f.delivered.bytes_per_second();
  return std::abs(more) > kAsMuch * f.delivered.bytes_per_second() ? bits(f, f.throughput) : std::nullopt;
}

// Blank where it is not of that kind of flow.
std::optional<double> unless_zero(std::uint64_t n) {
  return n > 0 ? std::optional(static_cast<double>(n)) : std::nullopt;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      {"target", target, rate_of},
      {"delivered", [](const FlowResult& f) { return bits(f, f.delivered); }, rate_of},
      {"arriving", arriving, rate_of},
      {"goodput", [](const FlowResult& f) { return bits(f, f.goodput); }, rate_of},
      {"sent", [](const FlowResult& f) { return unless_zero(f.sent); }, count},
      {"received", [](const FlowResult& f) { return unless_zero(f.received); }, count},
      {"lost", [](const FlowResult& f) { return static_cast<double>(f.lost); }, count},
      {"repeated", [](const FlowResult& f) { return unless_zero(f.retransmitted); }, count},
      {"IN", [](const FlowResult& f) { return f.in_share; }, human::percent},
      {"RTT", [](const FlowResult& f) { return seconds_of(f.rtt); }, human::duration},
      {"loss events", [](const FlowResult& f) { return f.loss_event_rate; }, small},
      {"to target", [](const FlowResult& f) { return f.time_to_target; }, human::duration},
      {"RoS", [](const FlowResult& f) { return f.respect; }, human::percent},
  };
  return all;
}

std::string cell(const Column& c, const FlowResult& f) {
  const auto v = c.value(f);
  return v ? c.show(*v) : "";
}

// "least / mean / greatest" of the flows that have the value.
std::string cell(const Column& c, Flows flows) {
  double least = 0, greatest = 0, sum = 0;
  std::size_t n = 0;
  for (const auto& f : flows) {
    const auto v = c.value(f);
    if (!v) continue;
    least = n == 0 ? *v : std::min(least, *v);
    greatest = n == 0 ? *v : std::max(greatest, *v);
    sum += *v;
    ++n;
  }
  if (n == 0) return "";
  if (least == greatest) return c.show(least);
  return fmt::format("{} / {} / {}", c.show(least), c.show(sum / static_cast<double>(n)), c.show(greatest));
}

// Columns that have a value in at least one of the flows.
std::vector<const Column*> used_columns(Flows flows) {
  std::vector<const Column*> used;
  for (const auto& c : columns()) {
    if (std::any_of(flows.begin(), flows.end(), [&](const auto& f) { return c.value(f).has_value(); }))
      used.push_back(&c);
  }
  return used;
}

std::string state_of(const FlowResult& f) {
  return f.failure.empty() || f.failure == "none" ? f.state : f.failure;
}

std::string table(Flows flows) {
  const auto used = used_columns(flows);
  TextTable t;
  for (const char* title : {"flow", "protocol", "peer"}) t.column(title, TextTable::Align::left);
  for (const auto* c : used) t.column(c->title, TextTable::Align::right);
  t.column("state", TextTable::Align::left);
  for_each_line(flows, [&](Flows line) {
    if (line.size() > kRowsPerLine) {
      std::vector<std::string> cells{fmt::format("{} x {}", line_of(line[0]), line.size()),
                                     line[0].identity.protocol, line[0].identity.peer};
      for (const auto* c : used) cells.push_back(cell(*c, line));
      const bool alike = std::all_of(line.begin(), line.end(),
                                     [&](const auto& f) { return state_of(f) == state_of(line[0]); });
      cells.push_back(alike ? state_of(line[0]) : "");
      t.row(std::move(cells));
      return;
    }
    for (const auto& f : line) {
      std::vector<std::string> cells{f.identity.name, f.identity.protocol, f.identity.peer};
      for (const auto* c : used) cells.push_back(cell(*c, f));
      cells.push_back(state_of(f));
      t.row(std::move(cells));
    }
  });
  return t.text();
}

std::string missed(const FlowResult& f) {
  const std::string promised = rate_of(*target(f));
  if (!f.arrival_known)
    return fmt::format("MISSED {}: unknown of {} (no report from the receiver)\n", f.identity.name, promised);
  const double share = f.delivered.bytes_per_second() / f.identity.target.bytes_per_second();
  return fmt::format("MISSED {}: {} of {} ({})\n", f.identity.name, rate_of(*bits(f, f.delivered)), promised,
                     human::percent(share));
}

// The missed targets of one line of YAML: each, or the worst where there are many.
std::string missed(Flows line, double tolerance) {
  std::vector<const FlowResult*> all;
  for (const auto& f : line) {
    if (!f.kept(tolerance)) all.push_back(&f);
  }
  if (all.empty()) return "";
  std::string text;
  if (all.size() <= kRowsPerLine) {
    for (const auto* f : all) text += missed(*f);
    return text;
  }
  const auto* worst = *std::min_element(
      all.begin(), all.end(), [](const auto* a, const auto* b) { return a->delivered < b->delivered; });
  return fmt::format("MISSED by {} of {} flows, worst:\n", all.size(), line.size()) + missed(*worst);
}

std::string verdict(const Report& r) {
  std::string text;
  for_each_line(r.flows, [&](Flows line) { text += missed(line, r.tolerance); });
  const auto promised =
      std::count_if(r.flows.begin(), r.flows.end(), [](const auto& f) { return f.identity.target > Rate{}; });
  const auto broken =
      std::count_if(r.flows.begin(), r.flows.end(), [&](const auto& f) { return !f.kept(r.tolerance); });
  if (promised == 0) return "";
  return text + fmt::format("{} of {} targets met (tolerance {})\n", promised - broken, promised,
                            human::percent(r.tolerance));
}

std::string refusals_of(const Report& r) {
  TextTable t;
  t.column("packets", TextTable::Align::right);
  t.column("refused", TextTable::Align::left);
  t.column("", TextTable::Align::left);
  bool any = false;
  for (std::size_t i = 0; i < kRefusals; ++i) {
    if (r.refusals[i] == 0) continue;
    any = true;
    t.row({fmt::format("{}", r.refusals[i]), std::string(kRefusalInfo[i].name),
           std::string(kRefusalInfo[i].help)});
  }
  return any ? "\n" + t.text() : "";
}

}  // namespace

std::string Report::text() const {
  std::string text;
  if (!flows.empty()) text += table(flows);
  if (!accepted.empty()) text += fmt::format("{}accepted\n{}", flows.empty() ? "" : "\n", table(accepted));
  if (flows.empty() && accepted.empty()) text += "no flows\n";
  text += refusals_of(*this);
  const std::string judgement = verdict(*this);
  return judgement.empty() ? text : text + "\n" + judgement;
}

}  // namespace surety::endpoints
