// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/doctor.h"

#include <fmt/format.h>
#include <rte_version.h>
#include <sys/socket.h>

#include <iostream>

#include "router/daemon/ports/eal.h"
#include "router/operate/cli/commands.h"
#include "router/operate/observe/telemetry_client.h"
#include "router/process/this_process.h"
#include "router/process/version.h"

namespace surety {

namespace {

struct DoctorOptions {
  std::string file, name = "surety", root = "/", state;
  bool json = false, fix = false;
};

// nullopt: it is not running, or does not answer.
std::optional<machine::Running> running(const std::string& name) try {
  const TelemetryClient client;
  machine::Running now{client.table("router", name), client.table("routes", name), {}};
  now.ports = client.table("ports", name);
  const auto talk = client.begin("router", "0", name);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(talk.socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
    now.pid = std::to_string(peer.pid);
  return now;
} catch (const std::exception&) {
  return {};
}

void look_at_nics(machine::HostFacts& facts) try {
  facts.machine = machine::read_machine_file(facts.host);
  const char* const ssh = std::getenv("SSH_CONNECTION");
  facts.nics = machine::find_nics(facts.host, ssh ? std::optional<std::string>(ssh) : std::nullopt);
} catch (const std::exception& e) {
  facts.nics_fault = e.what();
}

void look_at_configuration(machine::HostFacts& facts) {
  if (facts.host.exists(facts.file)) facts.parsed = config::parse_file(facts.host.at(facts.file));
  const auto* const c = facts.config();
  if (!c) return;
  facts.name = c->router.name;
  const auto online = facts.host.line("/sys/devices/system/cpu/online").value_or("0");
  const auto cores = facts.host.is_this_machine() ? usable_cores() : machine::cores_of(online);
  facts.workers = c->workers.empty() ? default_workers(cores) : c->workers;
  facts.memory = eal_memory_bytes(*c, facts.workers.size(), 2 << 20);
}

machine::HostFacts patient_of(const machine::Host& machine, const DoctorOptions& asked) {
  machine::HostFacts facts{machine};
  facts.name = asked.name;
  facts.file = asked.file.empty() ? fmt::format("/etc/surety/{}.yaml", asked.name) : asked.file;
  facts.state = asked.state;
  facts.version = kVersion;
  facts.dpdk = rte_version();
  const auto host = facts.host;
  facts.program = [host](const std::string& file) {
    const std::string installed = "/usr/lib/surety/bpf/" + file;
    return host.is_this_machine()   ? bpf_object_path(file)
           : host.exists(installed) ? installed
                                    : std::string();
  };
  look_at_nics(facts);
  look_at_configuration(facts);
  if (host.is_this_machine()) facts.running = running(facts.name);
  return facts;
}

int examine_as_asked(const DoctorOptions& asked) try {
  const auto host = machine::Host::enter(asked.root);
  auto all = machine::examine(patient_of(host, asked));
  if (asked.fix) {
    machine::fix(host, all, asked.json ? std::cerr : std::cout);
    all = machine::examine(patient_of(host, asked));
  }
  std::cout << (asked.json ? machine::json_of(all).dump(1, ' ', false, Json::error_handler_t::replace) + "\n"
                           : machine::text_of(all));
  return machine::has_errors(all) ? 1 : 0;
} catch (const std::exception& e) {
  std::cerr << "surety doctor: " << e.what() << '\n';
  return 2;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  const auto asked = std::make_shared<DoctorOptions>();
  auto* doctor = app.add_subcommand(
      "doctor",
      "Check this machine: what is wrong, and the command that fixes it; exit status 1 if there are errors");
  doctor->add_option("file", asked->file, "configuration; default: /etc/surety/NAME.yaml");
  doctor->add_option("--name", asked->name, "the router's name")->capture_default_str();
  doctor->add_flag("--fix", asked->fix,
                   "run the safe commands: they change no links, addresses or programs, and never reboot");
  doctor->add_flag("--json", asked->json, "for programs");
  doctor->add_option("--root", asked->root,
                     "DIRECTORY with the files of a machine to check instead; no programs are run");
  doctor->add_option("--state", asked->state, "directory of generations and reports")
      ->envname("SURETY_STATE")
      ->default_val("/var/lib/surety");
  doctor->callback([&action, asked] { action = [asked] { return examine_as_asked(*asked); }; });
}

}  // namespace surety
