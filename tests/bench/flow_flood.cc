// SPDX-License-Identifier: BSD-3-Clause
// What a flood of new flows costs the classify stage, and the longest time that anything of it takes.
//
//   flow_flood [flows, 4194304 unless said] [ipv4|ipv6] [huge|small]
//
// One row per kind of work, all on one table of so many flows: TSC cycles per packet (or record) of the
// median vector, and of single calls the 99.99 % quantile and the maximum in microseconds. `nothing` is the
// same loop around no work: what the machine itself takes away (a hypervisor, another process). Time is
// virtual: a packet every 100 ns. `small`: without huge pages.
#include <rte_cycles.h>
#include <rte_eal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "conditioners/rng.h"
#include "config/parse.h"
#include "router/pipeline/classify_stage.h"

namespace surety {
namespace {

struct Options {
  std::uint32_t flows = 1u << 22;
  bool v6 = false;
};

constexpr const char* kEdge =
    "version: 1\n"
    "ports: {lan0: {addresses: [10.1.0.254/16], source_check: off}}\n"
    "services: {assured: {conditioner: token-bucket, rate: 1 Mbit/s, bucket: 10 kB, mark: {in: AF11, out: "
    "AF12}}}\n"
    "classify: [{match: {port: lan0}, service: assured, per: flow}]\n";

config::Config edge(std::uint32_t capacity) {
  auto parsed = config::parse(kEdge, "bench.yaml");
  if (!parsed.ok()) std::abort();
  parsed.config->flow_table.capacity = capacity;
  return std::move(*parsed.config);
}

// Calls of one kind of work, in an order that is the same in every repetition. What a call takes is the least
// of its repetitions: what the machine takes away meets another call each time.
class Row {
 public:
  explicit Row(const char* name, std::size_t unit) : name_(name), unit_(unit) {}
  void begin() { next_ = 0; }
  template <class F>
  void time(F&& work) {
    const std::uint64_t start = rte_rdtsc();
    work();
    const auto cycles = static_cast<std::uint32_t>(std::min<std::uint64_t>(rte_rdtsc() - start, ~0u));
    if (next_ == calls_.size()) calls_.push_back(cycles);
    calls_[next_] = std::min(calls_[next_], cycles);
    ++next_;
  }
  const char* name() const { return name_; }
  void print() {
    std::ranges::sort(calls_);
    const double us = 1e6 / static_cast<double>(rte_get_tsc_hz());
    std::printf("| %-36s | %8zu | %7.1f | %7.1f | %7.1f |\n", name_, calls_.size(),
                calls_[calls_.size() / 2] / static_cast<double>(unit_),
                calls_[calls_.size() - 1 - calls_.size() / 10'000] * us, calls_.back() * us);
  }

 private:
  const char* name_;
  const std::size_t unit_;
  std::vector<std::uint32_t> calls_;
  std::size_t next_ = 0;
};

class Table {
 public:
  Row& operator()(const char* name, std::size_t unit = kBurst) {
    for (auto& r : rows_)
      if (std::strcmp(r.name(), name) == 0) return r.begin(), r;
    return rows_.emplace_back(name, unit);
  }
  void print() {
    std::printf("| what | calls | cycles each | 99.99 %% us | max us |\n|---|---|---|---|---|\n");
    for (auto& r : rows_) r.print();
  }

 private:
  std::deque<Row> rows_;
};

class Flood {
 public:
  Flood(const Options& o, Table& table)
      : options_(o),
        table_(table),
        snapshot_(edge(o.flows)),
        counters_(snapshot_.config.ports.size()),
        services_(snapshot_.services.size()) {}

  void run() {
    make();
    nothing();
    create("new flows, the table takes them", options_.flows / kBurst / 2, 0);
    create("the other half of the table", options_.flows / kBurst / 2, options_.flows / 2);
    known("known flows, at random");
    one_flow();
    strangers("a flood, the table full");
    age();
    half_known();
    embryonic();
    limited();
  }

 private:
  // A flow's packet; flows from `flows` on are strangers.
  ParsedPacket packet(std::uint32_t flow) const {
    ParsedPacket p;
    p.length = 64;
    p.protocol = 17;
    p.v6 = p.key.v6 = options_.v6;
    p.key.rest = std::uint64_t{2} << 61 | std::uint64_t{flow & 0xffff} << 16 | 0x5000;
    p.key.address[0] = 0x0a000001 | std::uint64_t{flow} << 32;
    if (options_.v6) p.key.address = {0xb80d0120, flow, 0xb80d0120, 1};
    return p;
  }
  std::uint32_t any(std::uint32_t of) {
    return static_cast<std::uint32_t>(std::uint64_t{rng_.next()} * of >> 32);
  }
  template <class F>
  void fill(F&& flow) {
    v_.size = kBurst;
    for (auto& h : v_.header) h = packet(flow());
    now_ += Duration(100 * kBurst);
  }
  void classify(Row& row) {
    row.time([&] { stage_->run(v_, 0, now_); });
  }

  void make() {
    const std::uint64_t start = rte_rdtsc();
    snapshot_.config.flow_table.creation_rate = 0;
    stage_ = std::make_unique<ClassifyStage>(snapshot_, counters_, services_, sources_, filters_, disposal_,
                                             1, now_);
    const double ms = static_cast<double>(rte_rdtsc() - start) * 1e3 / static_cast<double>(rte_get_tsc_hz());
    std::printf("table of %u flows: made in %.1f ms, %.1f bytes a flow\n", options_.flows, ms,
                static_cast<double>(stage_->flows().memory_bytes()) / options_.flows);
  }
  void nothing() {
    Row& row = table_("nothing", 1);
    for (std::uint32_t n = options_.flows; n > 0; --n) row.time([] {});
  }
  void create(const char* name, std::uint32_t vectors, std::uint32_t first) {
    Row& row = table_(name);
    for (; vectors > 0; --vectors) {
      fill([&] { return first++; });
      classify(row);
    }
  }
  void known(const char* name) {
    Row& row = table_(name);
    for (std::uint32_t n = options_.flows / 16; n > 0; --n) {
      fill([&] { return any(options_.flows); });
      classify(row);
    }
  }
  void one_flow() {
    Row& row = table_("vectors of one flow");
    for (std::uint32_t n = 0; n < 100'000; ++n) {
      fill([&] { return n % 16; });
      classify(row);
    }
  }
  void strangers(const char* name) {
    Row& row = table_(name);
    for (std::uint32_t n = 0; n < 200'000; ++n) {
      fill([&] { return options_.flows + any(1u << 31); });
      classify(row);
    }
  }
  // Each flow has had two packets or more by now, most of them.
  void age() {
    Row& idle = table_("a slice of the sweep, nobody idle", FlowTable::kRemovals);
    FlowTable& flows = stage_->flows();
    const auto slice = [&](Row& row) {
      row.time([&] { flows.age(now_, FlowTable::kRemovals, [](FlowId) {}); });
    };
    for (std::uint32_t n = 0; n < options_.flows / FlowTable::kRemovals; ++n) slice(idle);
    now_ += std::chrono::seconds(40);
    Row& all = table_("a slice of the sweep, all idle", FlowTable::kRemovals);
    while (flows.size() > options_.flows / 2) slice(all);
    now_ -= std::chrono::seconds(40);
  }
  // Half of the packets new, half of flows that are in: those whose records the sweep has left.
  void half_known() {
    Row& row = table_("half of a vector new");
    std::uint32_t stranger = options_.flows;
    // The flows are all of one customer, who gets no more than a part of the table
    // (conditioners/customer_limits.h).
    for (std::size_t before = 0; stage_->flows().size() > before;) {
      before = stage_->flows().size();
      bool fresh = false;
      fill([&] { return (fresh = !fresh) ? stranger++ : any(options_.flows); });
      classify(row);
    }
  }
  void embryonic() {
    now_ += std::chrono::milliseconds(2500);
    Row& row = table_("a batch of embryonic flows that go", FlowTable::kRemovals);
    FlowTable& flows = stage_->flows();
    for (std::uint32_t before = ~0u; flows.size() != before;) {
      before = flows.size();
      row.time([&] { flows.age_embryonic(now_, [](FlowId) {}); });
    }
  }
  void limited() {
    Row& row = table_("at the creation rate's limit");
    snapshot_.config.flow_table.creation_rate = 1;
    stage_.reset();
    stage_ = std::make_unique<ClassifyStage>(snapshot_, counters_, services_, sources_, filters_, disposal_,
                                             1, now_);
    std::uint32_t next = 0;
    for (std::size_t before = 0; next == 0 || stage_->flows().size() > before;) {
      before = stage_->flows().size();
      fill([&] { return next++; });
      stage_->run(v_, 0, now_);
    }
    now_ += std::chrono::milliseconds(2500);
    for (int i = 0; i < 1000; ++i) stage_->flows().age_embryonic(now_, [](FlowId) {});
    for (std::uint32_t n = 0; n < 200'000; ++n) {
      fill([&] { return options_.flows + any(1u << 31); });
      classify(row);
    }
  }

  const Options options_;
  Table& table_;
  Snapshot snapshot_;
  std::vector<PortCounters> counters_;
  std::vector<ServiceCounters> services_;
  Fib fib_{"flood", 1024};
  NextHopTable next_hops_{1024};
  SourceCheck sources_{snapshot_, fib_, next_hops_};
  PacketDisposal disposal_{counters_, {KernelPeer::none}, nullptr};
  FilterStage filters_{snapshot_, next_hops_, disposal_};
  std::unique_ptr<ClassifyStage> stage_;
  Burst v_;
  Rng rng_{1};
  Time now_{std::chrono::seconds(1)};
};

bool start_eal() {
  std::array<std::string, 6> words{"bench",     "--no-pci",    "--no-telemetry",
                                   "--no-huge", "--no-shconf", "-m256"};
  std::array<char*, 6> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  return rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) >= 0;
}

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  surety::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "ipv6")
      options.v6 = true;
    else if (word == "small")
      prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    else if (word != "ipv4" && word != "huge")
      options.flows = static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
  }
  if (options.flows < 1024) return std::fputs("at least 1024 flows\n", stderr), 1;
  if (!surety::start_eal()) return std::fputs("DPDK does not start\n", stderr), 1;
  surety::Table table;
  for (int repetition = 0; repetition < 3; ++repetition) surety::Flood(options, table).run();
  table.print();
}
