// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/live/live_spaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "router/process/fd.h"
#include "tests/lab/live/live_process.h"

namespace surety::lab {

LiveSpaces::LiveSpaces(const LiveLayout& layout, std::string directory)
    : names_{layout.wire_space, layout.host_space}, directory_(std::move(directory)) {
  names_.insert(names_.end(), layout.router_spaces.begin(), layout.router_spaces.end());
  try {
    batch(make_commands(layout));
    for (const auto& name : names_) {
      // Nobody talks unless it is part of the scenario.
      run_command({"ip", "netns", "exec", name, "sysctl", "-q", "net.ipv6.conf.all.disable_ipv6=1",
                   "net.ipv6.conf.default.disable_ipv6=1"},
                  directory_);
      batch(up_commands(layout, name), name);
    }
  } catch (...) {
    remove();
    throw;
  }
}

LiveSpaces::~LiveSpaces() {
  remove();
}

void LiveSpaces::batch(const std::string& commands, const std::string& space) {
  const std::string file = directory_ + "/ip.batch";
  std::ofstream(file, std::ios::trunc) << commands;
  if (space.empty())
    run_command({"ip", "-batch", file}, directory_);
  else
    run_command({"ip", "-n", space, "-batch", file}, directory_);
}

void LiveSpaces::remove() {
  for (const auto& name : names_) {
    try {
      run_command({"ip", "netns", "del", name}, directory_);
    } catch (const LiveError&) {  // not made yet; the others are to go all the same
    }
  }
}

void enter_space(const std::string& name) {
  const Fd there(open(("/run/netns/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!there || setns(there.get(), CLONE_NEWNET) != 0)
    throw LiveError(fmt::format("cannot enter the network namespace {}: {}", name, std::strerror(errno)));
}

}  // namespace surety::lab
