// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/simulation/lab_dpdk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "router/process/this_process.h"
#include "tests/lab/simulation/packet_note.h"
#include "tests/lab/simulation/packet_stack.h"

// What EAL asks first about the CPU's clock. Where the CPU does not say it then sleeps for a tenth of a
// second beside that clock, longer than many a run takes; and nothing here reads it. (Of the archives, as
// surety-lab is linked, the program's own comes first; the shared EAL keeps to its own.)
extern "C" std::uint64_t get_tsc_freq_arch() {
  return 1'000'000'000;
}

namespace surety::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMega = 1 << 20, kPage = 4096;
constexpr std::uint32_t kFirstPortion = 4096;
constexpr int kMapped = 4 << 20;
constexpr std::uint64_t kOther = 256 * kMega;  // classifiers' rules, pools' own rings, the rounding of pages

std::uint16_t data_room(std::uint16_t longest_packet) {
  return static_cast<std::uint16_t>(RTE_ALIGN(RTE_PKTMBUF_HEADROOM + RTE_ETHER_HDR_LEN + longest_packet, 64));
}

// No buffer crosses a page, unless it is larger than one.
std::uint64_t pool_bytes(std::uint16_t longest_packet, std::uint32_t packets) {
  const std::uint64_t buffer =
      RTE_ALIGN(sizeof(rte_mempool_objhdr) + sizeof(rte_mbuf) + kNoteBytes + data_room(longest_packet), 64) +
      64;
  const std::uint64_t share =
      buffer < kPage ? kPage / (kPage / buffer) : (buffer + kPage - 1) / kPage * kPage;
  return packets * share;
}

// EAL makes a directory whatever it is told, in a place that all users share by default and that belongs to
// the first of them. It gets one of its own, which nothing is put into and which is gone afterwards.
class RuntimeDirectory {
 public:
  RuntimeDirectory() {
    const fs::path place = fs::temp_directory_path();
    path_ = (place / "surety-lab-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr)
      throw DpdkError(
          fmt::format("cannot create a directory in {}; set TMPDIR to another place", place.string()));
    if (const char* before = getenv(kVariable)) before_ = before;
    setenv(kVariable, path_.c_str(), 1);
  }
  ~RuntimeDirectory() {
    if (before_)
      setenv(kVariable, before_->c_str(), 1);
    else
      unsetenv(kVariable);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  RuntimeDirectory(const RuntimeDirectory&) = delete;
  RuntimeDirectory& operator=(const RuntimeDirectory&) = delete;

 private:
  static constexpr const char* kVariable = "RUNTIME_DIRECTORY";
  std::string path_;
  std::optional<std::string> before_;
};

}  // namespace

unsigned default_threads() {
  return std::clamp(static_cast<unsigned>(usable_cores().size()), 1u, kMaxThreads);
}

void start_dpdk(unsigned pools, std::uint16_t longest_packet, std::uint32_t packets) {
  static bool started = false;
  if (started) return;
  // A router's largest tables are hardly used: fresh pages of zeroes cost nothing, to clear what the run
  // before has left costs 20 MB a run. (By itself malloc() keeps what is as large as something that it has
  // freed.)
  mallopt(M_MMAP_THRESHOLD, kMapped);
  if (pools == 0) pools = default_threads();
  const std::uint64_t bytes = pools * pool_bytes(longest_packet, packets) + kOther;
  static std::vector<std::string> kept;  // EAL keeps pointers into its arguments
  // One thread of EAL's that may use all cores: it pins none, and threads that it makes later inherit that.
  kept = {"surety-lab",
          "--no-huge",
          "--no-pci",
          "--no-shconf",
          "--no-telemetry",
          "--log-level=error",
          "-m",
          std::to_string((bytes + kMega - 1) / kMega),
          "--lcores",
          fmt::format("0@({})", fmt::join(usable_cores(), ","))};
  std::vector<char*> argv;
  for (auto& a : kept) argv.push_back(a.data());
  argv.push_back(nullptr);
  const RuntimeDirectory directory;
  if (rte_eal_init(static_cast<int>(kept.size()), argv.data()) < 0)
    throw DpdkError(fmt::format("DPDK does not start: {}; its arguments were `{}`", rte_strerror(rte_errno),
                                fmt::join(kept, " ")));
  started = true;
}

PacketPool::PacketPool(std::uint32_t packets, std::uint16_t longest_packet)
    : limit_(packets), longest_(longest_packet) {
  if (rte_lcore_id() == LCORE_ID_ANY) {
    if (rte_thread_register() != 0)
      throw DpdkError(fmt::format("DPDK takes no more threads: {}", rte_strerror(rte_errno)));
    registered_ = true;
  }
  register_packet_stack();
  if (grow()) return;
  const int reason = rte_errno;
  if (registered_) rte_thread_unregister();
  throw DpdkError(fmt::format("no memory for packet buffers: {}", rte_strerror(reason)));
}

PacketPool::~PacketPool() {
  for (rte_mempool* p : portions_) rte_mempool_free(p);
  if (registered_) rte_thread_unregister();
}

// Twice as many as there are: most runs need a few thousand, and each costs its share of a page.
bool PacketPool::grow() {
  static std::atomic<unsigned> number{0};
  const std::uint32_t n = std::min(std::max(kFirstPortion, made_), limit_ - made_);
  if (n == 0) return false;
  rte_mempool* const p =
      rte_pktmbuf_pool_create_by_ops(fmt::format("lab{}", number.fetch_add(1)).c_str(), n, 0, kNoteBytes,
                                     data_room(longest_), SOCKET_ID_ANY, kPacketStackOps);
  if (p == nullptr) return false;
  observe_drops(p, observer_);
  portions_.push_back(p);
  made_ += n;
  return true;
}

bool PacketPool::take(std::span<rte_mbuf*> out) {
  const auto n = static_cast<unsigned>(out.size());
  for (rte_mempool* p : portions_)
    if (rte_pktmbuf_alloc_bulk(p, out.data(), n) == 0) return true;
  return grow() && rte_pktmbuf_alloc_bulk(portions_.back(), out.data(), n) == 0;
}

void PacketPool::observe(DropObserver* observer) {
  observer_ = observer;
  for (rte_mempool* p : portions_) observe_drops(p, observer);
}

std::uint32_t PacketPool::in_use() const {
  std::uint32_t n = made_;
  for (const rte_mempool* p : portions_) n -= rte_mempool_avail_count(p);
  return n;
}

}  // namespace surety::lab
