// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/cli/commands.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <set>
#include <stdexcept>

#include "conditioners/drop_reason.h"
#include "router/operate/observe/telemetry_client.h"

namespace surety {
namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::milliseconds kPatience{200};
constexpr std::array kFields{
    "source=", "destination=", "protocol=", "source_port=", "destination_port=", "dscp="};

// A user is waiting for completions, and a table may have a million rows.
void end_in_time() {
  std::signal(SIGALRM, [](int) { _exit(0); });
  const itimerval limit{{}, {0, std::chrono::microseconds(kPatience).count()}};
  setitimer(ITIMER_REAL, &limit, nullptr);
}

Json rows(const std::string& table, const Unknown& unknown) {
  const auto name = unknown.given.find("--name");
  const auto router = name == unknown.given.end() ? std::nullopt : std::optional(name->second);
  return TelemetryClient(runtime_directories(), kPatience).table(table_name(table), router);
}

void add_column(std::set<std::string>& to, const Json& rows, const std::string& column) {
  for (const Json& row : rows) {
    const auto cell = row.find(column);
    if (cell == row.end() || cell->is_structured() || cell->is_number_float()) continue;
    to.insert(cell->is_string() ? cell->get<std::string>() : cell->dump());
  }
  to.erase("");
}

Words column(const Unknown& unknown, std::initializer_list<std::pair<const char*, const char*>> from) {
  std::set<std::string> values;
  for (const auto& [table, name] : from) add_column(values, rows(table, unknown), name);
  return {values.begin(), values.end()};
}

// `port=`, and behind it the ports; for --sort `port`.
Words keys(const Unknown& unknown, const std::string& table, bool conditions) {
  const auto equals = conditions ? unknown.word.find('=') : std::string::npos;
  std::set<std::string> words;
  const Json all = rows(table, unknown);
  if (equals != std::string::npos) {
    const std::string key = unknown.word.substr(0, equals + 1);
    std::set<std::string> values;
    add_column(values, all, key.substr(0, key.find_first_of("!=")));
    for (const auto& value : values) words.insert(key + value);
  } else if (!all.empty()) {
    for (const auto& [name, cell] : all.front().items())
      if (!cell.is_structured()) words.insert(name + (conditions ? "=" : ""));
  }
  return {words.begin(), words.end()};
}

Words fields() {
  return {kFields.begin(), kFields.end()};
}

Words tables() {
  Words words(kTables.begin(), kTables.end());
  words.insert(words.end(), kOwnTables.begin(), kOwnTables.end());
  return words;
}

Words reasons() {
  Words words;
  for (const auto& reason : kDropReasonInfo) words.emplace_back(reason.name);
  return words;
}

Words places(const Unknown& unknown) {
  return column(unknown, {{"ports", "name"}, {"interfaces", "name"}});
}

Words customers(const Unknown& unknown) {
  return column(unknown, {{"interfaces", "customer"}, {"contracts", "customer"}});
}

Words captured(const Unknown& unknown) {
  auto words = column(
      unknown,
      {{"ports", "name"}, {"interfaces", "name"}, {"interfaces", "customer"}, {"contracts", "customer"}});
  words.push_back("drops");
  return words;
}

Words packet(const Unknown& unknown) {
  auto words = fields();
  words.insert(words.end(), {"vlan=", "length="});
  if (!unknown.before.empty()) return words;
  const auto where = places(unknown);
  words.insert(words.end(), where.begin(), where.end());
  return words;
}

std::optional<Words> ask(const Unknown& unknown) {
  const std::string& name = unknown.name;
  if (name == "--name" || name == "name") return TelemetryClient(runtime_directories(), kPatience).running();
  if (name == "--customer") return customers(unknown);
  if (name == "--reason") return reasons();
  if (name == "--filter") return fields();
  if (unknown.command.starts_with("subscribers ") && (name == "names" || name == "words"))
    return column(unknown, {{"interfaces", "customer"}});
  if (unknown.command == "show" && name == "what") return tables();
  if (unknown.command == "show" && (name == "where" || name == "--sort") && !unknown.before.empty())
    return keys(unknown, unknown.before.front(), name == "where");
  if (unknown.command == "capture" && name == "what") return captured(unknown);
  if (unknown.command == "explain" && name == "packet") return packet(unknown);
  return std::nullopt;
}

}  // namespace

std::optional<Words> values_now(const Unknown& unknown) try {
  end_in_time();
  return ask(unknown);
} catch (const std::runtime_error&) {
  return Words{};  // no such router: the command itself reports it
}

}  // namespace surety
