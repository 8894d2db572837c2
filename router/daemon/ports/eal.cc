// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/eal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/capability.h>
#include <linux/mman.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>

#include "router/daemon/ports/memory_plan.h"
#include "router/daemon/ports/packet_pool.h"
#include "router/daemon/ports/port_device.h"
#include "router/daemon/ports/work_plan.h"
#include "router/pipeline/routes/fib.h"
#include "router/process/this_process.h"

namespace surety {

namespace {

constexpr std::uint64_t kMega = 1 << 20;
constexpr std::uint64_t kHugepage = 2 * kMega, kPage = 4096;
constexpr std::uint64_t kOfRing = 16;  // bytes of the pool's ring for each buffer: a power of two of pointers

// `which`: free_hugepages, nr_hugepages.
std::uint64_t hugepages(const std::string& which) {
  std::ifstream f("/sys/kernel/mm/hugepages/hugepages-2048kB/" + which);
  std::uint64_t n = 0;
  f >> n;
  return f ? n : 0;
}

// Free hugepages may be reserved by others, or exceed a limit of this process's group: only an allocation
// shows it, and DPDK's own messages would be unhelpful.
bool can_have_hugepages(std::uint64_t pages) {
  constexpr int kOfTwoMegabytes = 21 << MAP_HUGE_SHIFT;
  const std::size_t bytes = pages * kHugepage;
  void* const got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | kOfTwoMegabytes, -1, 0);
  if (got == MAP_FAILED) return false;
  ::munmap(got, bytes);
  return true;
}

// The control thread's lcore is 0, the workers' are 1 and on.
std::string lcores(const std::vector<unsigned>& workers, std::vector<unsigned> others) {
  if (others.size() > workers.size())
    for (const unsigned core : workers) std::erase(others, core);
  std::string s = fmt::format("0@({})", fmt::join(others, ","));
  for (std::size_t w = 0; w < workers.size(); ++w) s += fmt::format(",{}@{}", w + 1, workers[w]);
  return s;
}

bool needs_privilege(const config::Config& c) {
  using Kind = config::Device::Kind;
  return any_device(c, [](const config::Device& d) {
    return d.kind == Kind::af_xdp || d.kind == Kind::af_packet || d.kind == Kind::tap || d.kind == Kind::pci;
  });
}

// Filters of this configuration and of the next one at the same time; acl.h has the size of an entry.
std::uint64_t filter_bytes(const config::Config& c) {
  constexpr std::uint64_t kPerEntry = 2048;
  std::uint64_t entries = 0;
  for (const auto& f : c.filters) entries += f.entries.size();
  return 2 * entries * kPerEntry;
}

std::uint64_t memory_of(const config::Config& c, std::uint64_t page) {
  return std::max<std::uint64_t>(eal_memory_bytes(c, count_workers(c), page), c.dpdk.memory_mb * kMega);
}

}  // namespace

std::vector<unsigned> default_workers(const std::vector<unsigned>& cores) {
  const std::size_t first = cores.size() > 1 ? 1 : 0;
  const std::span<const unsigned> rest = std::span(cores).subspan(first);
  const std::span<const unsigned> chosen = rest.first(std::min(rest.size(), kMaxWorkers));
  return {chosen.begin(), chosen.end()};
}

std::string file_prefix(const std::string& router_name) {
  return "surety-" + router_name;
}

std::uint64_t eal_memory_bytes(const config::Config& c, std::size_t workers, std::uint64_t page) {
  const bool hugepages = page > kPage;
  const std::uint64_t buffer = buffer_bytes(c);
  // In hugepages no buffer crosses a page, unless it is larger than one; in small pages buffers are
  // contiguous.
  const std::uint64_t spread = buffer < page ? page / (page / buffer) : (buffer + page - 1) / page * page;
  const std::uint64_t share = hugepages && !paged_buffers(c) ? spread : buffer;
  const std::uint64_t fib = c.dpdk.max_routes > 0 ? Fib::memory_bytes(c.dpdk.max_routes, hugepages) : 0;
  const std::uint64_t buffers = (plan_pool(c, workers, hugepages).most + page / buffer) * (share + kOfRing);
  return fib + buffers + fabric_bytes(workers, c.ports.size()) + filter_bytes(c) + 64 * kMega;
}

std::vector<unsigned> worker_cores(const config::Config& c) {
  const auto cores = usable_cores();
  if (c.workers.empty()) return default_workers(cores);
  for (const unsigned core : c.workers)
    if (std::find(cores.begin(), cores.end(), core) == cores.end())
      throw std::runtime_error(fmt::format("workers: core {} cannot be used here; this process may use {}",
                                           core, fmt::join(cores, ", ")));
  return c.workers;
}

std::size_t count_workers(const config::Config& c) {
  return c.workers.empty() ? default_workers(usable_cores()).size() : c.workers.size();
}

bool choose_hugepages(const config::Config& c, std::string& note) {
  if (c.dpdk.hugepages == config::Dpdk::Hugepages::off) return false;
  const std::uint64_t needed = (memory_of(c, kHugepage) + kHugepage - 1) / kHugepage;
  const std::uint64_t free = hugepages("free_hugepages"), all = hugepages("nr_hugepages");
  if (free >= needed && can_have_hugepages(needed)) return true;
  const std::string there =
      free < needed
          ? fmt::format("{} hugepages of 2 MB are free, {} are needed", free, needed)
          : fmt::format(
                "{} hugepages of 2 MB are free, but this process cannot get the {} that are needed: "
                "other processes have reserved them, or a limit of its cgroup (hugetlb) is lower",
                free, needed);
  // Others keep theirs.
  const std::string mend =
      fmt::format("`echo {} > /proc/sys/vm/nr_hugepages`", all - std::min(free, all) + needed + 64);
  if (c.dpdk.hugepages == config::Dpdk::Hugepages::on)
    throw std::runtime_error(
        fmt::format("{}; {} reserves them, `dpdk: {{hugepages: off}}` runs without", there, mend));
  if (has_kind(c, config::Device::Kind::pci))
    throw std::runtime_error(fmt::format("a PCI device needs hugepages: {}; {}", there, mend));
  note = fmt::format("running without hugepages, which is slower: {}; {} helps", there, mend);
  return false;
}

namespace {

// Devices of uio, and of VFIO without an IOMMU, need physical addresses. EAL decides so by the devices that
// it opens.
const char* iova_mode(const config::Config& c) {
  std::string unsafe;
  std::ifstream("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode") >> unsafe;
  const bool uio = any_device(c, [](const config::Device& d) {
    if (d.kind != config::Device::Kind::pci) return false;
    const std::string address =
        d.name.size() < std::string_view("0000:00:00.0").size() ? "0000:" + d.name : d.name;
    std::error_code none;
    const auto driver = std::filesystem::read_symlink("/sys/bus/pci/devices/" + address + "/driver", none);
    return driver.filename().string().find("uio") != std::string::npos;
  });
  return uio || unsafe == "Y" ? "pa" : "va";
}

}  // namespace

std::vector<std::string> device_list(const config::Config& c, bool taken) {
  if (!has_kind(c, config::Device::Kind::pci)) return {"--no-pci"};
  // EAL refuses a list of blocked devices beside one of allowed devices.
  if (std::ranges::any_of(c.dpdk.extra,
                          [](const auto& a) { return a.starts_with("-b") || a.starts_with("--block"); }))
    return {};
  std::vector<std::string> list{"--allow", "0000:00:00.0"};
  for (const config::Port& port : c.ports)
    if (port.device.kind == config::Device::Kind::pci && !taken)
      list.insert(list.end(), {"--allow", port.device.name});
  return list;
}

EalPlan plan_eal(const config::Config& c, bool devices_taken) {
  if (needs_privilege(c) && geteuid() != 0)
    throw std::runtime_error(
        "these ports need root (CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF); run `sudo surety run ...`");
  const auto cores = usable_cores();
  EalPlan plan;
  plan.worker_cores = worker_cores(c);
  plan.hugepages = choose_hugepages(c, plan.note);
  plan.arguments = {"surety",
                    "--lcores",
                    lcores(plan.worker_cores, cores),
                    "--file-prefix",
                    file_prefix(c.router.name),
                    "--log-level",
                    "4",
                    "--force-max-simd-bitwidth",
                    "512",              // FIB lookups in AVX-512 where the CPU has it
                    "--no-telemetry"};  // router/operate/observe/telemetry_server.h is ours
  if (plan.hugepages) {
    plan.arguments.emplace_back("--in-memory");
  } else {
    for (const char* a : {"--no-huge", "--no-shconf", "-m"}) plan.arguments.emplace_back(a);
    plan.arguments.push_back(std::to_string((memory_of(c, kPage) + kMega - 1) / kMega));
  }
  // Without a DMA device no physical addresses are needed, nor the privilege to read them.
  if (!has_kind(c, config::Device::Kind::pci))
    for (const char* a : {"--iova-mode", "va"}) plan.arguments.emplace_back(a);
  else if (devices_taken)
    for (const char* a : {"--iova-mode", iova_mode(c)}) plan.arguments.emplace_back(a);
  // The first entry of a device counts: an operator's may have parameters.
  plan.arguments.insert(plan.arguments.end(), c.dpdk.extra.begin(), c.dpdk.extra.end());
  std::ranges::copy(device_list(c, devices_taken), std::back_inserter(plan.arguments));
  return plan;
}

void start_eal(const EalPlan& plan) {
  static std::vector<std::string> kept;  // EAL keeps pointers into its arguments
  kept = plan.arguments;
  std::vector<char*> argv;
  argv.reserve(kept.size() + 1);
  for (auto& a : kept) argv.push_back(a.data());
  argv.push_back(nullptr);
  if (rte_eal_init(static_cast<int>(kept.size()), argv.data()) < 0)
    throw std::runtime_error(fmt::format("DPDK does not start: {}; its arguments were `{}`",
                                         rte_strerror(rte_errno), fmt::join(plan.arguments, " ")));
}

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
