// SPDX-License-Identifier: BSD-3-Clause
#include "router/process/metric_family.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace surety::metrics {
namespace {

constexpr const char* name_of(MetricType type) {
  return type == MetricType::Counter ? "counter" : type == MetricType::Gauge ? "gauge" : "histogram";
}

void append(std::string& out, std::uint64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

// As short as it can be read back.
void append(std::string& out, double value) {
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(out), "{}", value);
  else
    out += std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

}  // namespace

void Labels::push_back(const Label& label) {
  if (!text_.empty()) text_ += ',';
  text_.append(label.name).append("=\"");
  for (std::string_view rest = label.value;;) {
    const std::size_t special = rest.find_first_of("\\\"\n");
    text_.append(rest.substr(0, special));
    if (special == rest.npos) break;
    text_ += '\\';
    text_ += rest[special] == '\n' ? 'n' : rest[special];
    rest.remove_prefix(special + 1);
  }
  text_ += '"';
}

void Family::begin(std::string_view suffix, std::string_view labels) {
  family_.series.append(family_.name).append(suffix);
  if (!labels.empty()) family_.series.append("{").append(labels).append("}");
  family_.series += ' ';
}

void Family::add(const Labels& labels, double value) {
  begin("", labels.text());
  append(family_.series, value);
  family_.series += '\n';
}

void Family::add(const Labels& labels, std::uint64_t value) {
  begin("", labels.text());
  append(family_.series, value);
  family_.series += '\n';
}

void Family::add(const Labels& labels, const Histogram& histogram) {
  const auto line = [&](std::string_view suffix, std::string_view all, auto value) {
    begin(suffix, all);
    append(family_.series, value);
    family_.series += '\n';
  };
  const std::string before = labels.text().empty() ? "" : labels.text() + ',';
  for (const auto& [bound, cumulative] : histogram.buckets)
    line("_bucket", fmt::format("{}le=\"{}\"", before, bound), cumulative);
  line("_bucket", before + "le=\"+Inf\"", histogram.count);
  line("_sum", labels.text(), histogram.sum);
  line("_count", labels.text(), histogram.count);
}

std::string text_of(const Families& families) {
  std::size_t size = 0;
  for (const MetricFamily& f : families) size += 64 + 2 * f.name.size() + f.help.size() + f.series.size();
  std::string text;
  text.reserve(size);
  for (const MetricFamily& f : families)
    text.append("# HELP ")
        .append(f.name)
        .append(" ")
        .append(f.help)
        .append("\n# TYPE ")
        .append(f.name)
        .append(" ")
        .append(name_of(f.type))
        .append("\n")
        .append(f.series);
  return text;
}

}  // namespace surety::metrics
