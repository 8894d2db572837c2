// SPDX-License-Identifier: BSD-3-Clause
#include "router/machine/setup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <istream>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "router/machine/binding.h"
#include "router/machine/hugepages.h"
#include "router/machine/journal.h"
#include "router/process/fd.h"

namespace surety::machine {

namespace {

constexpr const char* kJournal = "setup.json";

// The lock of `surety apply`, of this machine and of the router whose configuration is written: who has it
// stands in it.
Fd lock(const fs::path& directory) {
  const fs::path path = directory / "lock";
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file)
    throw std::runtime_error(
        fmt::format("cannot write {}: {}; run it as root", path.string(), std::strerror(errno)));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 512> holder{};
    const ssize_t n = ::pread(file.get(), holder.data(), holder.size(), 0);
    const std::string_view who =
        n > 0 ? std::string_view(holder.data(), static_cast<std::size_t>(n)) : "somebody";
    throw std::runtime_error(
        fmt::format("{} is changing this at the moment: try again when that is done", who));
  }
  const std::string us = fmt::format("surety setup (process {})", ::getpid());
  if (::ftruncate(file.get(), 0) == 0 && ::pwrite(file.get(), us.data(), us.size(), 0) < 0) {
  }  // a disk that is full takes no name, and the lock holds all the same
  return file;
}

std::vector<Fd> locks(const Setup& setup) {
  const fs::path state = setup.host.at(setup.state), router = state / setup.wishes.name;
  std::error_code error;
  fs::create_directories(state, error);
  std::vector<Fd> held;
  held.push_back(lock(state));
  if (fs::is_directory(router, error)) held.push_back(lock(router));
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
  Wishes wishes = setup.wishes;
  if (!setup.yes && !setup.dry_run && wishes.ports.empty()) {
    std::vector<std::string> free;
    for (const Nic& nic : chosen_nics(nics, wishes)) free.push_back(nic.name.empty() ? nic.pci : nic.name);
    wishes.ports =
        words_of(asked(in, out, fmt::format("Which shall be the router's? [{}] ", fmt::join(free, ", "))));
  }
  return chosen_nics(nics, wishes);
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
    out << fmt::format("Isolated cores: give the kernel `{}` on its command line, and reboot\n",
                       kernel_words(cores));
    return;
  }
  if (host.read(kGrubFile) == grub_text(cores)) return;
  journal.on_undo({"update-grub"}, kGrubFile);
  journal.replace(kGrubFile, grub_text(cores));
  const Outcome done = host.run({"update-grub"});
  out << (done.ok() ? fmt::format("Cores {} are isolated as of the next boot: reboot when it suits\n",
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
      "Done; `surety setup --undo` takes it back. Next: `surety check {}`, `surety doctor`, `systemctl "
      "restart {}`\n",
      plan.configuration_file, unit_of(fs::path(plan.configuration_file).stem()));
  return status;
}

}  // namespace

int set_up(const Setup& setup, std::istream& in, std::ostream& out) {
  const auto nics = find_nics(setup.host, setup.ssh);
  out << nic_table(nics) << '\n';
  if (!setup.yes && !setup.dry_run && !setup.terminal) {
    out << "Nothing was changed: nobody can be asked here. `surety setup --yes` takes what is free, `--yes "
           "--ports "
           "NAME,NAME` what you name, and `--dry-run` says what would be done.\n";
    return 1;
  }
  const auto chosen = choose(setup, nics, in, out);
  if (chosen.empty()) {
    out << "Nothing was changed: no NIC is free. `--ports NAME,NAME` takes some that are used, but never the "
           "way to "
           "this machine.\n";
    return 1;
  }
  const Plan plan = make_plan(setup.host, chosen, setup.wishes, setup.memory);
  for (const auto& step : plan.steps(setup.host)) out << "  - " << step << '\n';
  for (const auto& note : plan.notes) out << "  note: " << note << '\n';
  if (setup.dry_run) return 0;
  if (!setup.yes) {
    const std::string answer = asked(in, out, "Do this? [y/N] ");
    if (answer != "y" && answer != "yes") {
      out << "Nothing was changed.\n";
      return 1;
    }
  }
  const auto locked = locks(setup);
  return make(setup, plan, out);
}

int undo_setup(const Setup& setup, std::ostream& out) {
  const auto locked = locks(setup);
  Journal journal(setup.host, setup.state / kJournal);
  if (journal.empty()) {
    out << "There is nothing to undo.\n";
    return 0;
  }
  const auto undone = journal.undo();
  for (const auto& said : undone.says) out << said << '\n';
  for (const auto& said : undone.left) out << said << '\n';
  if (!undone.left.empty()) {
    out << "Not all is undone: once that is mended or done by hand, `surety setup --undo` does the rest.\n";
    return 1;
  }
  out << "Undone. Cores that were isolated are so until the next boot.\n";
  return 0;
}

}  // namespace surety::machine
