// SPDX-License-Identifier: BSD-3-Clause
#include "router/dpdk/ports/eal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/mman.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>

#include "router/dpdk/ports/packet_pool.h"
#include "router/dpdk/ports/work_plan.h"
#include "router/pending_packets.h"
#include "router/port_tree.h"
#include "router/process/usable_cores.h"
#include "router/routes/fib.h"

namespace surety {

namespace {

constexpr std::uint64_t kMega = 1 << 20;
constexpr std::uint64_t kHugepage = 2 * kMega, kPage = 4096;
constexpr std::uint32_t kPerPort =
    3 * 4096;  // receive and transmit rings, and what AF_XDP keeps in its fill ring

std::uint64_t free_hugepages() {
  std::ifstream f("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
  std::uint64_t n = 0;
  f >> n;
  return f ? n : 0;
}

// Free ones may be reserved by others already, or beyond a limit of this process's group: the kernel says so
// to whoever asks for them, and DPDK would in lines of its own.
bool can_have_hugepages(std::uint64_t pages) {
  constexpr int kOfTwoMegabytes = 21 << MAP_HUGE_SHIFT;
  const std::size_t bytes = pages * kHugepage;
  void* const got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | kOfTwoMegabytes, -1, 0);
  if (got == MAP_FAILED) return false;
  ::munmap(got, bytes);
  return true;
}

std::vector<unsigned> worker_cores(const config::Config& c, const std::vector<unsigned>& cores) {
  if (c.workers.empty()) return default_workers(cores);
  for (const unsigned core : c.workers)
    if (std::find(cores.begin(), cores.end(), core) == cores.end())
      throw std::runtime_error(fmt::format("workers: core {} cannot be used here; this process may use {}",
                                           core, fmt::join(cores, ", ")));
  return c.workers;
}

// What can wait in the rings between workers (fabric.h).
std::uint32_t in_rings(const config::Config& c, std::size_t workers) {
  return static_cast<std::uint32_t>((workers - 1) * c.ports.size() * 2 * kHandoverSize);
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
  return std::any_of(c.ports.begin(), c.ports.end(), [](const config::Port& p) {
    using Kind = config::Device::Kind;
    return p.device.kind == Kind::af_xdp || p.device.kind == Kind::af_packet || p.device.kind == Kind::tap ||
           p.device.kind == Kind::pci;
  });
}

bool has_pci(const config::Config& c) {
  return std::any_of(c.ports.begin(), c.ports.end(),
                     [](const config::Port& p) { return p.device.kind == config::Device::Kind::pci; });
}

// Of the filters of this configuration and of the next one at once: acl.h says what an entry takes.
std::uint64_t filter_bytes(const config::Config& c) {
  constexpr std::uint64_t kPerEntry = 2048;
  std::uint64_t entries = 0;
  for (const auto& f : c.filters) entries += f.entries.size();
  return 2 * entries * kPerEntry;
}

bool choose_hugepages(const config::Config& c, std::uint64_t bytes, std::string& note) {
  if (c.dpdk.hugepages == config::Dpdk::Hugepages::off) return false;
  const std::uint64_t needed = (bytes + kHugepage - 1) / kHugepage, free = free_hugepages();
  if (free >= needed && can_have_hugepages(needed)) return true;
  const std::string there =
      free < needed
          ? fmt::format("{} hugepages of 2 MB are free, {} are needed", free, needed)
          : fmt::format(
                "{} hugepages of 2 MB are free, but this process cannot have the {} that are needed, "
                "since others have reserved them or its limits (hugetlb of its cgroup) forbid it",
                free, needed);
  const std::string mend = fmt::format("`echo {} > /proc/sys/vm/nr_hugepages`", needed + 64);
  if (c.dpdk.hugepages == config::Dpdk::Hugepages::on)
    throw std::runtime_error(
        fmt::format("{}; {} reserves them, `dpdk: {{hugepages: off}}` runs without", there, mend));
  if (has_pci(c)) throw std::runtime_error(fmt::format("a PCI device needs hugepages: {}; {}", there, mend));
  note = fmt::format("running without hugepages, which is slower: {}; {} helps", there, mend);
  return false;
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

namespace {

constexpr std::uint32_t kLeastHeadroom = 16384, kMostHeadroom = 1 << 18;

// Of these drivers some copy frames, and keep no buffers.
std::uint32_t held_by(const config::Device& device) {
  using Kind = config::Device::Kind;
  switch (device.kind) {
    case Kind::af_packet:
    case Kind::memif:
    case Kind::null:
    case Kind::pcap:
      return 256;
    case Kind::af_xdp:  // its fill ring, received ones, sent ones, and sent ones that are to be taken back
      return 4096 + 3 * 2048;
    default:
      return kPerPort;
  }
}

std::uint32_t any_device(const config::Device&) {
  return kPerPort;
}

std::uint32_t needed_buffers(const config::Config& c, std::size_t workers,
                             std::uint32_t (*of_device)(const config::Device&) = any_device) {
  std::uint32_t n = c.flow_table.held_packets + 8192 + in_rings(c, workers);
  for (std::size_t i = 0; i < c.ports.size(); ++i) {
    const config::Port& p = c.ports[i];
    n += of_device(p.device) + static_cast<std::uint32_t>(workers) * PendingPackets::kPerPort;
    if (const std::uint32_t tree = PortTree::packets(c, i); tree > 0) {
      n += tree;
      continue;
    }
    if (!p.queues) {
      n += ActiveQueueParams{}.limit;
      continue;
    }
    for (const auto& q : c.queues[*p.queues].classes) n += q.scheduling.queue.limit;
  }
  return n;
}

}  // namespace

std::uint32_t mbuf_count(const config::Config& c, std::size_t workers) {
  return std::max(needed_buffers(c, workers), c.dpdk.mbufs);
}

std::uint32_t least_buffers(const config::Config& c, std::size_t workers) {
  return needed_buffers(c, workers, held_by);
}

std::uint32_t pool_size(const config::Config& c, std::size_t workers) {
  const std::uint32_t needed = needed_buffers(c, workers);
  return std::max(needed + std::clamp(needed / 4, kLeastHeadroom, kMostHeadroom), c.dpdk.mbufs);
}

std::uint64_t eal_memory_bytes(const config::Config& c, std::size_t workers, std::uint64_t page) {
  std::uint64_t buffer = 2048 + 128 + 128 + 64;
  for (const auto& p : c.ports) buffer = std::max<std::uint64_t>(buffer, p.mtu + 512u);
  // DPDK lets no buffer cross a page, unless it is larger than one.
  std::uint64_t share = buffer < page ? page / (page / buffer) : (buffer + page - 1) / page * page;
  if (paged_buffers(c)) share = kPagedBuffer;
  const std::uint64_t fib = c.dpdk.max_routes > 0 ? Fib::memory_bytes(c.dpdk.max_routes) : 0;
  const std::uint64_t buffers = (pool_size(c, workers) + page / buffer) * share;
  return fib + buffers + fabric_bytes(workers, c.ports.size()) + filter_bytes(c) + 64 * kMega;
}

EalPlan plan_eal(const config::Config& c) {
  if (needs_privilege(c) && geteuid() != 0)
    throw std::runtime_error(
        "these ports need root (CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF); run `sudo surety run ...`");
  const auto cores = usable_cores();
  EalPlan plan;
  plan.worker_cores = worker_cores(c, cores);
  const auto memory = [&](std::uint64_t page) {
    return std::max<std::uint64_t>(eal_memory_bytes(c, plan.worker_cores.size(), page),
                                   c.dpdk.memory_mb * kMega);
  };
  plan.hugepages = choose_hugepages(c, memory(kHugepage), plan.note);
  plan.arguments = {"surety",
                    "--lcores",
                    lcores(plan.worker_cores, cores),
                    "--file-prefix",
                    file_prefix(c.router.name),
                    "--log-level",
                    "4",
                    "--force-max-simd-bitwidth",
                    "512",              // FIB lookups in AVX-512 where the CPU has it
                    "--no-telemetry"};  // router/observe/telemetry_server.h is ours
  if (plan.hugepages) {
    plan.arguments.emplace_back("--in-memory");
  } else {
    for (const char* a : {"--no-huge", "--no-shconf", "-m"}) plan.arguments.emplace_back(a);
    plan.arguments.push_back(std::to_string((memory(kPage) + kMega - 1) / kMega));
  }
  // Without a device that reaches into memory nobody needs its place in the machine's, nor the privilege to
  // look it up.
  if (!has_pci(c))
    for (const char* a : {"--no-pci", "--iova-mode", "va"}) plan.arguments.emplace_back(a);
  plan.arguments.insert(plan.arguments.end(), c.dpdk.extra.begin(), c.dpdk.extra.end());
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

}  // namespace surety
