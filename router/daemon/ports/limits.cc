// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/limits.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "router/daemon/ports/buffer_plan.h"
#include "router/daemon/ports/packet_pool.h"

namespace surety {

namespace {

// Memory that the plan does not contain: mappings of libraries, stacks of threads.
constexpr std::uint64_t kMapped = 200'000'000;

std::optional<std::uint64_t> of(decltype(RLIMIT_AS) which) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return limit.rlim_cur;
}

bool may_lock_all() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> has{};
  return syscall(SYS_capget, &header, has.data()) == 0 && (has[0].effective >> CAP_IPC_LOCK & 1) != 0;
}

std::optional<std::uint64_t> number_in(const std::string& file) {
  std::ifstream f(file);
  std::uint64_t n = 0;
  if (!(f >> n) || n > std::uint64_t{1} << 60) return {};  // "max", or as good as that
  return n;
}

// The least of the group's and of those that it is in.
std::optional<std::uint64_t> least_in(const std::string& mount, std::string group, const char* file) {
  std::optional<std::uint64_t> least;
  while (true) {
    if (const auto n = number_in(mount + group + "/" + file)) least = std::min(*n, least.value_or(*n));
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

std::optional<std::uint64_t> of_group(const std::string& root) {
  const std::string all = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  std::optional<std::uint64_t> least;
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    std::optional<std::uint64_t> n;
    if (controllers.empty()) n = least_in(all, group, "memory.max");
    if (controllers == "memory") n = least_in(all + "/memory", group, "memory.limit_in_bytes");
    if (n) least = std::min(*n, least.value_or(*n));
  }
  return least;
}

// net_af_xdp has the kernel lock the whole pool, once for each queue.
std::uint64_t locked_bytes(const config::Config& c, std::size_t workers, bool hugepages) {
  std::uint64_t queues = 0;
  for (const auto& p : c.ports)
    if (p.device.kind == config::Device::Kind::af_xdp) queues += p.rx_queues.value_or(1);
  return queues * plan_pool(c, workers, hugepages).start * kPagedBuffer;
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{} MB", (bytes + 999'999) / 1'000'000);
}

}  // namespace

Limits limits_here(const std::string& root) {
  return {of(RLIMIT_AS), may_lock_all() ? std::nullopt : of(RLIMIT_MEMLOCK), of_group(root)};
}

std::string check_limits(const config::Config& config, std::size_t workers, const MemoryPlan& plan,
                         bool hugepages, const Limits& limits) {
  const std::uint64_t locked = locked_bytes(config, workers, hugepages), mapped = plan.most() + kMapped;
  if (limits.locked && locked > *limits.locked)
    throw std::runtime_error(fmt::format(
        "af_xdp ports lock {} of packet buffers, but this process may lock only {} (RLIMIT_MEMLOCK): set "
        "`LimitMEMLOCK=infinity` in its systemd unit, or add the capability CAP_IPC_LOCK",
        megabytes(locked), megabytes(*limits.locked)));
  if (limits.address_space && mapped > *limits.address_space)
    throw std::runtime_error(fmt::format(
        "its tables need {} of address space, but this process may have only {} (RLIMIT_AS): remove "
        "`LimitAS=` from its systemd unit, or lower `dpdk: {{max_routes: ...}}`; `surety check` lists the "
        "parts",
        megabytes(mapped), megabytes(*limits.address_space)));
  if (!hugepages && limits.resident && plan.start() > *limits.resident)
    throw std::runtime_error(fmt::format(
        "the router needs {} of memory to start, but may have only {} (memory.max of its cgroup): raise "
        "`MemoryMax=` in its systemd unit; `surety check` lists the parts",
        megabytes(plan.start()), megabytes(*limits.resident)));
  if (!hugepages && limits.resident && plan.most() > *limits.resident)
    return fmt::format(
        "with full tables the router needs {} of memory, but may have only {} (memory.max of its cgroup), "
        "and the kernel then kills it: raise `MemoryMax=` in its systemd unit, or lower `dpdk: {{max_routes: "
        "...}}`",
        megabytes(plan.most()), megabytes(*limits.resident));
  return {};
}

}  // namespace surety
