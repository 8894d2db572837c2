// SPDX-License-Identifier: BSD-3-Clause
// `surety doctor`: what is wrong with this machine for a router, and the command that mends it.
//
// A check is a function (checks.h) from what was found out (Patient) to findings. It reads the machine
// through Host alone, so that each is tested against a tree in which its condition is broken. Nothing is
// changed but by `--fix`, which runs the commands of those findings that say they are safe: none takes an
// address, a link or a program away from anybody, or outlasts the next boot, but modes of files.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/parse.h"
#include "router/machine/machine_file.h"
#include "router/machine/nics.h"

namespace surety::machine {

enum class Verdict : std::uint8_t { ok, warning, error };

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string says;   // one sentence
  std::string mend;   // for a shell; empty: no command does
  bool safe = false;  // `--fix` runs it
};
using Findings = std::vector<Finding>;

Finding ok(std::string says);
Finding warning(std::string says, std::string mend = {});
Finding error(std::string says, std::string mend = {});
Finding safe(Finding finding);  // the same, mended by `--fix`

// Of the router that has the configuration's name, if it runs.
struct Running {
  nlohmann::ordered_json router, routes;  // rows of these tables, as `surety show --json` has them
  std::string pid;                        // empty: not known
};

struct Patient {
  explicit Patient(Host machine) : host(std::move(machine)) {}

  Host host;
  std::string name = "surety", file;          // of the router; its configuration
  std::optional<config::ParseResult> parsed;  // none: there is no such file
  MachineFile machine;
  std::vector<Nic> nics;
  std::string nics_fault;         // why they are not known
  std::vector<unsigned> workers;  // cores
  std::uint64_t memory = 0;       // that DPDK takes, in bytes
  std::optional<Running> running;
  fs::path state = "/var/lib/surety";
  std::string version, dpdk;
  // Where a BPF program is; empty: nowhere.
  std::function<std::string(const std::string& file)> program;

  // Null: none, or with errors.
  const config::Config* config() const { return parsed && parsed->ok() ? &*parsed->config : nullptr; }
  std::vector<const config::Port*> ports_with(std::initializer_list<config::Device::Kind> kinds) const;
  const Nic* nic(const std::string& interface) const;
  std::string unit() const { return unit_of(name); }
};

struct Check {
  std::string_view name;
  Findings (*run)(const Patient& patient);  // none: it is not about such a machine
};

struct Diagnosis {
  std::string check;
  Finding finding;
};
std::vector<Diagnosis> examine(const Patient& patient);

// {"checks": [{"check", "verdict": "ok" | "warning" | "error", "says", "mend", "safe"}], "warnings",
// "errors"}
nlohmann::ordered_json json_of(const std::vector<Diagnosis>& all);
std::string text_of(const std::vector<Diagnosis>& all);
bool has_errors(const std::vector<Diagnosis>& all);

// Runs what is safe, each command once, and says what came of it.
void fix(const Host& host, const std::vector<Diagnosis>& all, std::ostream& out);

}  // namespace surety::machine
