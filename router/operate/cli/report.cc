// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/observe/report.h"

#include <chrono>
#include <fstream>
#include <iostream>

#include "config/text/quantity.h"
#include "router/daemon/time_of_day.h"
#include "router/operate/cli/commands.h"

namespace surety {

namespace {

struct ReportOptions {
  std::string since = "24h", router, customer, format = "text", directory, file;
  bool hours = false;
};

int write_report(const ReportOptions& asked) {
  ReportRequest request;
  const auto back = config::parse_time(asked.since);
  if (!back.value) {
    std::cerr << "surety report: --since " << asked.since << ": a time like `90m` or `24 h`\n";
    return 1;
  }
  const auto now = std::chrono::floor<std::chrono::minutes>(time_of_day());
  const auto since = now - std::chrono::floor<std::chrono::minutes>(*back.value);
  request.since = since.time_since_epoch().count();
  request.until = now.time_since_epoch().count();
  if (!asked.router.empty()) request.router = asked.router;
  if (!asked.customer.empty()) request.customer = asked.customer;
  request.directory = asked.directory;
  request.hours = asked.hours;
  using Format = ReportRequest::Format;
  request.format = asked.format == "csv" ? Format::csv : asked.format == "json" ? Format::json : Format::text;
  if (asked.file.empty()) return report(request, std::cout, std::cerr);
  std::ofstream out(asked.file);
  const int status = report(request, out, std::cerr);
  if (out.flush()) return status;
  std::cerr << "surety report: cannot write " << asked.file << '\n';
  return 1;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  const auto asked = std::make_shared<ReportOptions>();
  auto* report = app.add_subcommand(
      "report",
      "Report what was delivered to each customer, and the conformance, from the records of a router");
  report->add_option("--since", asked->since, "how far back: 90m, 24h")->capture_default_str();
  report->add_option("--name", asked->router, "the router's name; default: the only one with records");
  report->add_option("--customer", asked->customer, "only of this customer");
  report->add_option("--directory", asked->directory, "directory of the records (`metrics: {report: ...}`)");
  report->add_flag("--hours", asked->hours, "a row for each hour");
  report->add_option("--format", asked->format, "text, csv or json")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
  report->add_option("file", asked->file, "file to write; default: standard output");
  report->callback([&action, asked] { action = [asked] { return write_report(*asked); }; });
}

}  // namespace surety
