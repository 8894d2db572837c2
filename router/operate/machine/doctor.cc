// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace surety::machine {

namespace {

std::string_view name(Verdict v) {
  return v == Verdict::ok ? "ok" : v == Verdict::warning ? "warning" : "error";
}

std::size_t count(const std::vector<Diagnosis>& all, Verdict v) {
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [v](const Diagnosis& d) { return d.finding.verdict == v; }));
}

}  // namespace

Finding ok(std::string says) {
  return {Verdict::ok, std::move(says), {}};
}
Finding warning(std::string says, std::string mend) {
  return {Verdict::warning, std::move(says), std::move(mend)};
}
Finding error(std::string says, std::string mend) {
  return {Verdict::error, std::move(says), std::move(mend)};
}
Finding safe(Finding finding) {
  finding.safe = true;
  return finding;
}
Findings or_ok(Findings all, std::string says, bool applies) {
  if (all.empty() && applies) all.push_back(ok(std::move(says)));
  return all;
}

std::vector<const config::Port*> HostFacts::ports_with(
    std::initializer_list<config::Device::Kind> kinds) const {
  std::vector<const config::Port*> found;
  if (const auto* c = config())
    for (const config::Port& port : c->ports)
      if (port.exists() && std::ranges::count(kinds, port.device.kind) > 0) found.push_back(&port);
  return found;
}

const Nic* HostFacts::nic(const std::string& interface) const {
  const auto found = std::ranges::find(nics, interface, &Nic::name);
  return found == nics.end() || interface.empty() ? nullptr : &*found;
}

std::vector<Diagnosis> examine(const HostFacts& facts) {
  std::vector<Diagnosis> all;
  for (const auto& checks : {checks_of_configuration(), checks_of_devices(), checks_of_memory(),
                             checks_of_cores(), checks_of_kernel(), checks_of_running()})
    for (const Check& check : checks)
      for (Finding& finding : check.run(facts)) all.push_back({std::string(check.name), std::move(finding)});
  return all;
}

nlohmann::ordered_json json_of(const std::vector<Diagnosis>& all) {
  auto checks = nlohmann::ordered_json::array();
  for (const auto& [check, f] : all)
    checks.push_back({{"check", check},
                      {"verdict", name(f.verdict)},
                      {"says", f.says},
                      {"mend", f.mend},
                      {"safe", f.safe}});
  return {
      {"checks", checks}, {"warnings", count(all, Verdict::warning)}, {"errors", count(all, Verdict::error)}};
}

std::string text_of(const std::vector<Diagnosis>& all) {
  std::string text;
  for (const auto& [check, f] : all) {
    text += fmt::format("{:<8} {:<14} {}\n", name(f.verdict), check, f.says);
    if (!f.mend.empty()) text += fmt::format("{:24}{}{}\n", "", f.mend, f.safe ? "   # --fix does" : "");
  }
  return text + fmt::format("{} ok, {} warnings, {} errors\n", count(all, Verdict::ok),
                            count(all, Verdict::warning), count(all, Verdict::error));
}

bool has_errors(const std::vector<Diagnosis>& all) {
  return count(all, Verdict::error) > 0;
}

void fix(const Host& host, const std::vector<Diagnosis>& all, std::ostream& out) {
  std::set<std::string> done;
  for (const auto& [check, f] : all) {
    if (!f.safe || f.mend.empty() || !done.insert(f.mend).second) continue;
    const Outcome outcome = host.run({"sh", "-c", f.mend});
    out << fmt::format("{}: `{}`{}\n", check, f.mend, outcome.ok() ? "" : " failed: " + outcome.output);
  }
}

}  // namespace surety::machine
