// SPDX-License-Identifier: BSD-3-Clause
#include "router/operate/machine/setup.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "router/daemon/ports/eal.h"
#include "router/operate/cli/commands.h"
#include "router/process/this_process.h"

namespace surety {

namespace {

struct SetupOptions {
  machine::SetupOptions options;
  std::string root = "/", state;
  bool yes = false, dry_run = false, undo = false, boot = false;
};

std::uint64_t planned_memory(const config::Config& c) {
  const std::size_t workers = c.workers.empty() ? default_workers(usable_cores()).size() : c.workers.size();
  return eal_memory_bytes(c, workers, 2 << 20);
}

int set_up_as_asked(const SetupOptions& asked) try {
  machine::Setup setup{machine::Host(asked.root)};
  setup.options = asked.options;
  setup.yes = asked.yes;
  setup.dry_run = asked.dry_run;
  setup.terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  setup.who = author();
  if (const char* ssh = std::getenv("SSH_CONNECTION")) setup.ssh = ssh;
  setup.state = asked.state;
  setup.memory = planned_memory;
  if (asked.boot) return machine::boot(setup, std::cout, std::cerr);
  if (asked.undo) return machine::undo_setup(setup, std::cout);
  return machine::set_up(setup, std::cin, std::cout);
} catch (const std::exception& e) {
  std::cerr << "surety setup: " << e.what() << '\n';
  return 1;
}

}  // namespace

void add_setup(CLI::App& app, Action& action) {
  const auto asked = std::make_shared<SetupOptions>();
  auto* setup = app.add_subcommand(
      "setup", "Give NICs, memory and cores of this machine to the router, or take them back");
  machine::SetupOptions& options = asked->options;
  setup->add_flag("--yes,-y", asked->yes, "do not ask for confirmation");
  setup->add_flag("--dry-run", asked->dry_run, "print what would be done; change nothing");
  setup->add_option("--ports", options.ports, "NAME,NAME or PCI addresses; default: all unused NICs")
      ->delimiter(',');
  setup
      ->add_option("--driver", options.driver,
                   "vfio-pci: only the router uses the NIC; af_xdp: the kernel keeps it; auto: vfio-pci if "
                   "an IOMMU permits it")
      ->check(CLI::IsMember({"auto", "vfio-pci", "af_xdp"}));
  setup->add_option("--hugepages", options.hugepages,
                    "number of hugepages of 2 MB; default: as many as the configuration needs");
  setup->add_option(
      "--isolate", options.isolate,
      "CORES such as 2,3, or none; default: one for each port, on machines with at least four cores");
  setup->add_option("--name", options.name, "name of the router; its file is /etc/surety/NAME.yaml")
      ->capture_default_str();
  setup->add_flag("--keep-configuration", options.keep_configuration, "write no configuration");
  auto* undo = setup->add_flag("--undo", asked->undo, "undo all changes of setup");
  setup
      ->add_flag("--boot", asked->boot,
                 "set hugepages and drivers from /etc/surety/machine.yaml, as surety-boot.service does")
      ->excludes(undo);
  setup->add_option("--root", asked->root,
                    "DIRECTORY with the files of a machine to set up instead; no programs are run");
  setup->add_option("--state", asked->state, "directory of the original settings")
      ->envname("SURETY_STATE")
      ->default_val("/var/lib/surety");
  setup->callback([&action, asked] { action = [asked] { return set_up_as_asked(*asked); }; });
}

}  // namespace surety
