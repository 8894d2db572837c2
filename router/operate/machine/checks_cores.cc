// SPDX-License-Identifier: BSD-3-Clause
// The cores that the workers have, and the clock that they go by.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "router/operate/machine/doctor.h"

namespace surety::machine {

namespace {

const fs::path kCpu = "/sys/devices/system/cpu";

fs::path of_core(unsigned core, const char* file) {
  return kCpu / fmt::format("cpu{}", core) / file;
}

std::vector<unsigned> list(const HostFacts& p, const fs::path& file) {
  return cores_of(p.host.line(file).value_or(""));
}

bool has(const std::vector<unsigned>& cores, unsigned core) {
  return std::ranges::count(cores, core) > 0;
}

Findings cores(const HostFacts& p) {
  if (!p.config()) return {};
  const auto online = list(p, kCpu / "online");
  Findings all;
  for (const unsigned core : p.workers)
    if (!has(online, core))
      all.push_back(error(
          fmt::format("worker core {} does not exist; this machine has cores {}", core, text_of(online)),
          fmt::format("surety check {}  # workers: [...]", p.file)));
  return or_ok(std::move(all), fmt::format("the workers have cores {}", text_of(p.workers)));
}

Findings governor(const HostFacts& p) {
  Findings all;
  bool known = false;
  for (const unsigned core : p.workers) {
    const auto file = of_core(core, "cpufreq/scaling_governor");
    const auto now = p.host.line(file);
    known |= now.has_value();
    if (now && *now != "performance")
      all.push_back(safe(warning(
          fmt::format(
              "core {} of a worker has the frequency governor {}: it slows down when there are few packets",
              core, *now),
          "echo performance > " + file.string())));
  }
  return or_ok(std::move(all),
               known ? "the workers' cores keep their frequency" : "this machine's cores have no governor",
               !p.workers.empty());
}

// Checked only with spare cores; with fewer the router shares cores with all programs.
Findings isolation(const HostFacts& p) {
  constexpr std::size_t kFewest = 4;
  if (!p.config()) return {};
  if (list(p, kCpu / "online").size() < kFewest) return {ok("too few cores to isolate some")};
  const auto isolated = list(p, kCpu / "isolated");
  std::vector<unsigned> shared;
  std::ranges::copy_if(p.workers, std::back_inserter(shared), [&](unsigned c) { return !has(isolated, c); });
  if (shared.empty()) return {ok("the workers' cores are isolated")};
  return {warning(
      fmt::format("other programs run on the workers' cores {}, and delay packets", text_of(shared)),
      fmt::format("surety setup --keep-configuration --isolate {}  # then reboot", text_of(p.workers)))};
}

Findings siblings(const HostFacts& p) {
  Findings all;
  const auto isolated = list(p, kCpu / "isolated");
  for (const unsigned core : p.workers)
    for (const unsigned other : list(p, of_core(core, "topology/thread_siblings_list")))
      if (other != core && (has(p.workers, other) ? core < other : !has(isolated, other)))
        all.push_back(warning(
            fmt::format("core {} of a worker shares a physical core with core {}: each gets half of it", core,
                        other),
            "echo off > /sys/devices/system/cpu/smt/control"));
  return all;
}

Findings clock(const HostFacts& p) {
  const std::string info = p.host.read("/proc/cpuinfo").value_or("");
  const fs::path sources = "/sys/devices/system/clocksource/clocksource0";
  const std::string now = p.host.line(sources / "current_clocksource").value_or("unknown");
  const bool tsc =
      p.host.line(sources / "available_clocksource").value_or("").find("tsc") != std::string::npos;
  Findings all;
  for (const char* flag : {"constant_tsc", "nonstop_tsc"})
    if (info.find(flag) == info.npos)
      all.push_back(warning(fmt::format("the processor lacks {}: rates drift as its frequency changes", flag),
                            "cpupower idle-set -D 0"));
  if (now != "tsc")
    all.push_back(
        warning(fmt::format("the kernel's clock is {}: it is slow to read{}", now,
                            tsc ? "" : ", and the kernel does not offer the TSC"),
                tsc ? "echo tsc > " + (sources / "current_clocksource").string() : "dmesg | grep -i tsc"));
  return or_ok(std::move(all), "the clock is the processor's TSC");
}

// Congestion signals are believed for seconds (`max_age`).
Findings time_of_day(const HostFacts& p) {
  if (p.host.clock_synchronised()) return {ok("the time of day is synchronised")};
  const bool signals = p.config() && p.config()->signalling.mode != config::Signalling::Mode::off;
  const std::string mend = p.host.has("timedatectl") && !p.host.list("/usr/lib/systemd/ntp-units.d").empty()
                               ? "timedatectl set-ntp true"
                               : "apt-get install systemd-timesyncd";
  if (signals)
    return {
        error("the time of day is not synchronised: other routers' signals are refused as too old", mend)};
  return {
      warning("the time of day is not synchronised: logs and reports of several routers do not agree", mend)};
}

}  // namespace

std::span<const Check> checks_of_cores() {
  static constexpr std::array kChecks{Check{"cores", cores},         Check{"governor", governor},
                                      Check{"isolation", isolation}, Check{"siblings", siblings},
                                      Check{"clock", clock},         Check{"time", time_of_day}};
  return kChecks;
}

}  // namespace surety::machine
