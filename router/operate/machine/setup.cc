// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "router/operate/machine/journal.h"
#include "router/operate/machine/resources.h"
#include "router/process/change_lock.h"

namespace surety::machine {

namespace {

constexpr const char* kJournal = "setup.json";

// Takes the locks of `surety apply`, for this machine and for the router whose configuration is written.
std::vector<ChangeLock> locks(const Setup& setup, const char* what) {
  const fs::path state = setup.host.at(setup.state), router = state / setup.options.name;
  std::error_code error;
  fs::create_directories(state, error);
  if (::access(state.c_str(), W_OK) != 0)
    throw std::runtime_error(
        fmt::format("cannot write {}: {}; run it as root", state.string(), std::strerror(errno)));
  std::vector<ChangeLock> held;
  held.emplace_back(state, setup.who, what);
  if (fs::is_directory(router, error)) held.emplace_back(router, setup.who, what);
  return held;
}

std::string asked(std::istream& in, std::ostream& out, const std::string& question) {
  out << question << std::flush;
  std::string line;
  std::getline(in, line);
  return line;
}

std::vector<std::string> words_of(std::string text) {
  std::ranges::replace(text, ',', ' ');
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<Nic> choose(const Setup& setup, const std::vector<Nic>& nics, std::istream& in,
                        std::ostream& out) {
  SetupOptions options = setup.options;
  if (!setup.yes && !setup.dry_run && options.ports.empty()) {
    std::vector<std::string> free;
    for (const Nic& nic : chosen_nics(nics, options)) free.push_back(nic.name.empty() ? nic.pci : nic.name);
    options.ports = words_of(
        asked(in, out, fmt::format("Which NICs shall the router use? [{}] ", fmt::join(free, ", "))));
  }
  return chosen_nics(nics, options);
}

void reserve_hugepages(const Plan& plan, Journal& journal, const Host& host, std::ostream& out) {
  for (const auto& [node, pages] : plan.machine.hugepages) {
    if (!host.exists(hugepages_file(node))) continue;
    const long long got = journal.set(hugepages_file(node), pages);
    if (got < pages)
      out << fmt::format(
          "node {}: {} of {} hugepages, since its memory is fragmented: after a reboot there are more\n",
          node, got, pages);
  }
}

void isolate_cores(const Plan& plan, Journal& journal, const Host& host, std::ostream& out) {
  const auto& cores = plan.machine.isolated;
  if (cores.empty()) return;
  if (!host.has("update-grub")) {
    out << fmt::format("Isolated cores: add `{}` to the kernel's command line, and reboot\n",
                       kernel_words(cores));
    return;
  }
  if (host.read(kGrubFile) == grub_text(cores)) return;
  journal.on_undo({"update-grub"}, kGrubFile);
  journal.replace(kGrubFile, grub_text(cores));
  const Outcome done = host.run({"update-grub"});
  out << (done.ok() ? fmt::format("Cores {} are isolated from the next boot on: reboot when convenient\n",
                                  text_of(cores))
                    : fmt::format("`update-grub` failed, cores are not isolated: {}\n", done.output));
}

// driverctl keeps it over a boot; without it `setup --boot` binds again.
std::string bind_for_good(const Host& host, const TakenNic& nic, Journal& journal) {
  if (driver_of(host, nic.pci) == nic.driver) return {};
  if (!host.has("driverctl")) {
    journal.bind(nic.pci);
    return bind_driver(host, nic.pci, nic.driver);
  }
  const auto before = host.line(fs::path("/etc/driverctl.d") / nic.pci);
  const Words undo = before ? Words{"driverctl", "set-override", nic.pci, *before}
                            : Words{"driverctl", "unset-override", nic.pci};
  const Outcome done = journal.run({"driverctl", "set-override", nic.pci, nic.driver}, undo, nic.pci);
  return done.ok() ? std::string() : fmt::format("driverctl does not bind {}: {}", nic.pci, done.output);
}

int make(const Setup& setup, const Plan& plan, std::ostream& out) {
  const Host& host = setup.host;
  Journal journal(host, setup.state / kJournal);
  isolate_cores(plan, journal, host, out);
  reserve_hugepages(plan, journal, host, out);
  journal.replace(kMachineFile, text_of(plan.machine));
  if (plan.configuration) journal.replace(plan.configuration_file, *plan.configuration, 0640);
  int status = 0;
  for (const TakenNic& nic : plan.machine.nics)
    if (!nic.driver.empty())
      if (const std::string failed = bind_for_good(host, nic, journal); !failed.empty()) {
        out << failed << '\n';
        status = 1;
      }
  out << fmt::format(
      "Done; `surety setup --undo` undoes it. Next: `surety check {}`, `surety doctor`, `systemctl "
      "restart {}`\n",
      plan.configuration_file, unit_of(fs::path(plan.configuration_file).stem()));
  return status;
}

}  // namespace

int set_up(const Setup& setup, std::istream& in, std::ostream& out) {
  const bool asks = !setup.yes && !setup.dry_run;
  std::vector<ChangeLock> locked;  // held from the inspection on, so that the plan stays valid
  if (!setup.dry_run && (setup.yes || setup.terminal)) locked = locks(setup, "setup");
  const auto nics = find_nics(setup.host, setup.ssh);
  out << nic_table(nics) << '\n';
  if (asks && !setup.terminal) {
    out << "Nothing was changed: there is no terminal for questions. `surety setup --yes` takes all free "
           "NICs, `--yes --ports NAME,NAME` those that you name, and `--dry-run` shows what would be done.\n";
    return 1;
  }
  const auto chosen = choose(setup, nics, in, out);
  if (chosen.empty()) {
    out << "Nothing was changed: no NIC is free. `--ports NAME,NAME` takes NICs that are used, but never one "
           "by which this machine is reached.\n";
    return 1;
  }
  const Plan plan = make_plan(setup.host, chosen, setup.options, setup.memory);
  for (const auto& step : plan.steps(setup.host)) out << "  - " << step << '\n';
  for (const auto& note : plan.notes) out << "  note: " << note << '\n';
  if (setup.dry_run) return 0;
  if (asks) {
    const std::string answer = asked(in, out, "Do this? [y/N] ");
    if (answer != "y" && answer != "yes") {
      out << "Nothing was changed.\n";
      return 1;
    }
  }
  return make(setup, plan, out);
}

int undo_setup(const Setup& setup, std::ostream& out) {
  const auto locked = locks(setup, "setup --undo");
  Journal journal(setup.host, setup.state / kJournal);
  if (journal.empty()) {
    out << "There is nothing to undo.\n";
    return 0;
  }
  const auto undone = journal.undo();
  for (const auto& said : undone.says) out << said << '\n';
  for (const auto& said : undone.left) out << said << '\n';
  if (!undone.left.empty()) {
    out << "Not everything is undone: repair the above or do it by hand, then `surety setup --undo` does the "
           "rest.\n";
    return 1;
  }
  out << "Undone. Isolated cores stay isolated until the next boot.\n";
  return 0;
}

}  // namespace surety::machine
