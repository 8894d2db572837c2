// SPDX-License-Identifier: BSD-3-Clause
// `surety doctor`: finds problems of this machine for a router, and the commands that fix them.
//
// A check is a function from collected facts (HostFacts) to findings. It reads the machine through
// Host only, so that each is tested against a tree in which its condition fails. Only `--fix` changes
// anything: it runs the commands of findings marked as safe. None of these removes an address, a link or a
// program, or outlasts the next boot, except file modes.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/parse.h"
#include "router/operate/machine/nics.h"
#include "router/operate/machine/resources.h"

namespace surety::machine {

enum class Verdict : std::uint8_t { ok, warning, error };

struct Finding {
  Verdict verdict = Verdict::ok;
  std::string says;   // one sentence
  std::string mend;   // a shell command; empty: there is none
  bool safe = false;  // `--fix` runs it
};
using Findings = std::vector<Finding>;

Finding ok(std::string says);
Finding warning(std::string says, std::string mend = {});
Finding error(std::string says, std::string mend = {});
Finding safe(Finding finding);  // marks a finding as fixed by `--fix`
// The findings, or ok() if there are none and the check applies.
Findings or_ok(Findings all, std::string says, bool applies = true);

// The running router with the configuration's name.
struct Running {
  nlohmann::ordered_json router, routes;  // rows of these tables, as in `surety show --json`
  std::string pid;                        // empty: not known
  nlohmann::ordered_json ports = nlohmann::ordered_json::array();
};

struct HostFacts {
  explicit HostFacts(Host machine) : host(std::move(machine)) {}

  Host host;
  std::string name = "surety", file;          // router's name; path of its configuration
  std::optional<config::ParseResult> parsed;  // nullopt: there is no such file
  MachineFile machine;
  std::vector<Nic> nics;
  std::string nics_fault;         // why they are not known
  std::vector<unsigned> workers;  // cores
  std::uint64_t memory = 0;       // bytes that DPDK takes
  std::optional<Running> running;
  fs::path state = "/var/lib/surety";
  std::string version, dpdk;
  // Path of a BPF program; empty: not found.
  std::function<std::string(const std::string& file)> program;

  // nullptr: none, or with errors.
  const config::Config* config() const { return parsed && parsed->ok() ? &*parsed->config : nullptr; }
  std::vector<const config::Port*> ports_with(std::initializer_list<config::Device::Kind> kinds) const;
  const Nic* nic(const std::string& interface) const;
  std::string unit() const { return unit_of(name); }
};

struct Check {
  std::string_view name;
  Findings (*run)(const HostFacts& facts);  // empty: does not apply to this machine
};

// The checks of doctor, by subject; each array is in the file of its name.
std::span<const Check> checks_of_configuration();
std::span<const Check> checks_of_devices();
std::span<const Check> checks_of_memory();
std::span<const Check> checks_of_cores();
std::span<const Check> checks_of_kernel();
std::span<const Check> checks_of_running();

struct Diagnosis {
  std::string check;
  Finding finding;
};
std::vector<Diagnosis> examine(const HostFacts& facts);

// {"checks": [{"check", "verdict": "ok" | "warning" | "error", "says", "mend", "safe"}], "warnings",
// "errors"}
nlohmann::ordered_json json_of(const std::vector<Diagnosis>& all);
std::string text_of(const std::vector<Diagnosis>& all);
bool has_errors(const std::vector<Diagnosis>& all);

// Runs the safe commands, each once, and prints the results.
void fix(const Host& host, const std::vector<Diagnosis>& all, std::ostream& out);

}  // namespace surety::machine
