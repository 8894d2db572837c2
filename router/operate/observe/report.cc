// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <ostream>
#include <set>
#include <stdexcept>

#include "router/operate/observe/show.h"
#include "router/process/human.h"

namespace surety {

namespace {

std::string iso(Minute minute) {
  return fmt::format("{:%Y-%m-%dT%H:%MZ}", fmt::gmtime(static_cast<std::time_t>(minute * 60)));
}

struct Sum {
  ContractMinute row;
  Minute from, to;
};

Json report_row(const Sum& sum) {
  const ContractTally& t = sum.row.tally;
  Json row = {{"customer", sum.row.customer},
              {"service", sum.row.service},
              {"contract", sum.row.contract},
              {"from", iso(sum.from)},
              {"to", iso(sum.to + 1)},
              {"committed_bytes_per_second", t.committed_bytes_per_second},
              {"offered_bytes", t.offered_bytes},
              {"delivered_in_bytes", t.delivered_in_bytes},
              {"delivered_out_bytes", t.delivered_out_bytes},
              {"dropped_packets", t.dropped_packets},
              {"lost_packets", t.lost_packets},
              {"demanding_seconds", t.demanding_seconds},
              {"met_seconds", t.met_seconds},
              {"held_back_seconds", t.held_back_seconds}};
  const bool demanded = t.demanding_seconds > 0;
  const double met =
      demanded ? static_cast<double>(t.met_seconds) / static_cast<double>(t.demanding_seconds) : 0;
  if (demanded) row["met_ratio"] = met;
  if (sum.row.objective) row["objective_ratio"] = *sum.row.objective;
  if (demanded && sum.row.objective) row["kept"] = met >= *sum.row.objective;
  row["direction"] = sum.row.down ? "down" : "up";
  return row;
}

Columns report_columns() {
  const auto verdict = [](const Json& row) {
    const Json* const kept = member(row, "kept");
    return std::string(kept == nullptr ? "-" : kept->get<bool>() ? "conforms" : "BELOW OBJECTIVE");
  };
  return {text("CUSTOMER", "customer"),
          text("SERVICE", "service"),
          text("CONTRACT", "contract"),
          text("FROM", "from"),
          text("TO", "to"),
          number("COMMITTED", "committed_bytes_per_second", human::rate),
          number("OFFERED", "offered_bytes", human::bytes),
          number("IN", "delivered_in_bytes", human::bytes),
          number("OUT", "delivered_out_bytes", human::bytes),
          count("DROPPED", "dropped_packets"),
          count("LOST", "lost_packets"),
          count("SECONDS", "demanding_seconds"),
          count("HELD BACK", "held_back_seconds"),
          number("CONFORMANCE", "met_ratio", human::conformance),
          number("OBJECTIVE", "objective_ratio", human::percent),
          {"VERDICT", TextTable::Align::left, verdict},
          text("DIRECTION", "direction")};
}

// RFC 4180.
std::string quoted(const Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  for (std::size_t i = 0; (i = text.find('"', i)) != text.npos; i += 2) text.insert(i, 1, '"');
  return '"' + text + '"';
}

void write_csv(const Json& rows, std::ostream& out) {
  constexpr std::array kColumns{"customer",
                                "service",
                                "contract",
                                "from",
                                "to",
                                "committed_bytes_per_second",
                                "offered_bytes",
                                "delivered_in_bytes",
                                "delivered_out_bytes",
                                "dropped_packets",
                                "lost_packets",
                                "demanding_seconds",
                                "met_seconds",
                                "met_ratio",
                                "objective_ratio",
                                "kept",
                                "held_back_seconds",
                                "direction"};
  out << fmt::format("{}\r\n", fmt::join(kColumns, ","));
  for (const Json& row : rows) {
    std::string line;
    for (const char* column : kColumns) {
      if (!line.empty() || column != kColumns.front()) line += ',';
      if (row.contains(column)) line += quoted(row[column]);
    }
    out << line << "\r\n";
  }
}

std::filesystem::path directory_of(const ReportRequest& request) {
  const std::filesystem::path all = request.directory.empty() ? state_directory() : request.directory;
  if (request.router) return all / *request.router;
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(all, none))
    if (entry.is_directory()) names.insert(entry.path().filename());
  if (names.size() == 1) return all / *names.begin();
  throw std::runtime_error(
      names.empty() ? fmt::format("no router has kept records in {}", all.string())
                    : fmt::format("several routers have kept records: choose one of {} with --name",
                                  fmt::join(names, ", ")));
}

}  // namespace

std::filesystem::path state_directory() {
  for (const char* const name : {"SURETY_STATE", "STATE_DIRECTORY"})
    if (const char* const given = std::getenv(name); given != nullptr && *given != '\0') return given;
  return "/var/lib/surety";
}

std::filesystem::path report_directory(const config::Config& config) {
  const auto& given = config.metrics.report;
  if (given && given->empty()) return {};
  return (given ? std::filesystem::path(*given) : state_directory()) / config.router.name;
}

Json report_rows(const std::filesystem::path& directory, const ReportRequest& request, std::size_t& ahead) {
  std::map<std::tuple<std::string, std::string, std::string, Minute>, Sum> sums;
  ReportReader().read(directory, request.since, [&](Minute minute, const ContractMinute& row) {
    if (request.customer && row.customer != *request.customer) return;
    if (minute > request.until) {
      ++ahead;
      return;
    }
    const Minute hour = request.hours ? minute / 60 : 0;
    const auto [found, made] =
        sums.try_emplace({row.customer, row.service, row.contract, hour}, Sum{row, minute, minute});
    if (made) return;
    Sum& sum = found->second;
    sum.row.tally += row.tally;
    sum.row.objective = row.objective;
    sum.from = std::min(sum.from, minute);
    sum.to = std::max(sum.to, minute);
  });
  Json rows = Json::array();
  for (const auto& [key, sum] : sums) rows.push_back(report_row(sum));
  return rows;
}

int report(const ReportRequest& request, std::ostream& out, std::ostream& err) {
  try {
    const auto directory = directory_of(request);
    std::size_t ahead = 0;
    const Json rows = report_rows(directory, request, ahead);
    if (ahead > 0)
      err << fmt::format("surety report: omitted {} rows of {} that are later than now: a clock was ahead\n",
                         ahead, directory.string());
    if (request.format == ReportRequest::Format::csv)
      write_csv(rows, out);
    else if (request.format == ReportRequest::Format::json)
      out << rows.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    else
      out << render(report_columns(), std::vector<Json>(rows.begin(), rows.end()));
    return 0;
  } catch (const std::runtime_error& e) {
    err << "surety report: " << e.what() << '\n';
    return 1;
  }
}

}  // namespace surety
