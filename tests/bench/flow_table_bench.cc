// SPDX-License-Identifier: BSD-3-Clause
// Flow lookup in vectors of 64, hits only, with what follows a hit: the record is written and its bytes are
// counted.
//
// FlowTable against rte_hash (bulk lookup of a 16-byte key, then the same record in an array beside it,
// prefetched) in the same run. `elephant`: all 64 packets of one flow. Keys are made in registers from random
// flow numbers, for both alike; `feed` is that part alone. TSC cycles per packet are in the column `cycles`:
// compare within a run only, on an idle machine. Huge pages for rte_hash where the machine has reserved some,
// else none; FlowTable asks for transparent ones either way: the label says which.
#include <benchmark/benchmark.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "conditioners/rng.h"
#include "router/pipeline/flows/flow_table.h"

namespace surety {
namespace {

constexpr Duration kIdle = std::chrono::seconds(30);
bool huge_pages = false;

FlowKey key_of(std::uint32_t flow, bool v6) {
  FlowKey k;
  k.rest = std::uint64_t{2} << 61 | (flow & 0xffff) << 16 | 0x5000;
  k.address[0] = 0x0a000001 | std::uint64_t{flow} << 32;
  if (v6) k.address = {0xb80d0120, flow, 0xb80d0120, 1};
  k.v6 = v6;
  return k;
}

// 64 random flows of `flows` and their keys.
class Feed {
 public:
  Feed(std::uint32_t flows, bool v6) : flows_(flows), v6_(v6) {}
  void fill() {
    for (auto& k : keys)
      k = key_of(static_cast<std::uint32_t>((std::uint64_t{rng_.next()} * flows_) >> 32), v6_);
  }
  // The keys as a parser leaves them.
  void pack() {
    for (std::size_t i = 0; i < kBurst; ++i) packets[i].key = keys[i], packets[i].v6 = v6_;
  }
  std::array<FlowKey, kBurst> keys;
  std::array<ParsedPacket, kBurst> packets;

 private:
  Rng rng_{1};
  const std::uint32_t flows_;
  const bool v6_;
};

// Runs `work` on a vector per iteration and reports TSC cycles per packet: the median vector's, which does
// not mind being interrupted now and then.
template <class F>
void measure(benchmark::State& state, F&& work) {
  std::vector<std::uint64_t> vectors(1 << 16);  // by cycles
  std::uint64_t last = rte_rdtsc();
  for (auto _ : state) {
    work();
    const std::uint64_t now = rte_rdtsc();
    ++vectors[std::min<std::uint64_t>(now - last, vectors.size() - 1)];
    last = now;
  }
  std::int64_t left = static_cast<std::int64_t>(state.iterations()) / 2;
  std::size_t median = 0;
  while ((left -= static_cast<std::int64_t>(vectors[median])) > 0) ++median;
  state.counters["cycles"] = static_cast<double>(median) / kBurst;
  state.SetItemsProcessed(state.iterations() * std::int64_t{kBurst});
}

void feed(benchmark::State& state) {
  Feed f(static_cast<std::uint32_t>(state.range(0)), false);
  measure(state, [&] {
    f.fill();
    benchmark::DoNotOptimize(f.keys);
    benchmark::ClobberMemory();
  });
}

void flow_table(benchmark::State& state, bool v6, bool elephant = false) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  FlowTable table(flows, kIdle, 1);
  for (std::uint32_t i = 0; i < flows; ++i) {
    const FlowKey k = key_of(i, v6);
    const FlowId id = table.insert(k, table.hash(k), false, Time{}, [](FlowId) {});
    if (id == kNoFlow) std::abort();
    table.touch(table[id], Time{});
  }
  Feed f(flows, v6);
  std::array<std::uint64_t, kBurst> hashes;
  std::array<FlowId, kBurst> ids;
  std::array<std::uint16_t, kBurst> services;
  measure(state, [&] {
    f.fill();
    if (elephant) f.keys.fill(f.keys[0]);
    f.pack();
    table.prefetch_buckets(f.packets, hashes.data());
    table.prefetch_records(f.packets, hashes.data(), ids.data());
    const FlowTable::Tick tick = table.tick(Time{});
    if (table.look_up(f.packets, ids.data(), services.data(), tick).others != 0)
      for (std::size_t i = 0; i < kBurst; ++i)  // another flow has the same tag
        ids[i] = table.verify(ids[i], f.packets[i].key, hashes[i], tick);
    for (const FlowId id : ids) {
      if (id == kNoFlow) std::abort();
      table[id].state.meter[0] += 64;
      table.count(id, Precedence::in, 64);
    }
  });
}
void flow_table_v4(benchmark::State& state) {
  flow_table(state, false);
}
void flow_table_v6(benchmark::State& state) {
  flow_table(state, true);
}
void flow_table_elephant(benchmark::State& state) {
  flow_table(state, false, true);
}

struct HashKey {
  std::uint64_t rest, address;
};
struct FreeHash {
  void operator()(rte_hash* h) const { rte_hash_free(h); }
};

void rte_hash_v4(benchmark::State& state) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  rte_hash_parameters p{};
  p.name = "bench";
  p.entries = flows + flows / 4;  // rte_hash needs some air
  p.key_len = sizeof(HashKey);
  p.hash_func = rte_hash_crc;
  p.socket_id = SOCKET_ID_ANY;
  const std::unique_ptr<rte_hash, FreeHash> hash(rte_hash_create(&p));
  if (!hash) return state.SkipWithError("rte_hash: out of memory");
  std::vector<FlowRecord> records(p.entries + 64);
  for (std::uint32_t i = 0; i < flows; ++i) {
    const FlowKey k = key_of(i, false);
    const HashKey h{k.rest, k.address[0]};
    if (rte_hash_add_key(hash.get(), &h) < 0) return state.SkipWithError("rte_hash: full");
  }
  Feed f(flows, false);
  std::array<HashKey, kBurst> keys;
  std::array<const void*, kBurst> pointers;
  std::array<std::int32_t, kBurst> positions;
  for (std::size_t i = 0; i < kBurst; ++i) pointers[i] = &keys[i];
  state.SetLabel(huge_pages ? "huge pages" : "4 kB pages");
  measure(state, [&] {
    f.fill();
    for (std::size_t i = 0; i < kBurst; ++i) keys[i] = {f.keys[i].rest, f.keys[i].address[0]};
    rte_hash_lookup_bulk(hash.get(), pointers.data(), kBurst, positions.data());
    for (const std::int32_t i : positions) {
      if (i < 0) std::abort();
      __builtin_prefetch(&records[static_cast<std::size_t>(i)]);
    }
    for (const std::int32_t i : positions) {
      FlowRecord& r = records[static_cast<std::size_t>(i)];
      r.last_seen = 0;
      r.state.meter[0] += 64;
      r.in_bytes = static_cast<std::uint16_t>(r.in_bytes + 64);
    }
  });
}

// What a flow costs that comes and goes: insert and remove at three quarters of the capacity.
void flow_table_churn(benchmark::State& state) {
  const auto flows = static_cast<std::uint32_t>(state.range(0));
  FlowTable table(flows, kIdle, 1);
  const auto insert = [&](std::uint32_t i) {
    const FlowKey k = key_of(i, false);
    return table.insert(k, table.hash(k), false, Time{}, [](FlowId) {});
  };
  std::vector<FlowId> ids(flows / 4 * 3);
  std::uint32_t next = 0;
  for (auto& id : ids) id = insert(next++);
  std::size_t oldest = 0;
  measure(state, [&] {
    for (std::size_t i = 0; i < kBurst; ++i) {
      table.remove(ids[oldest]);
      ids[oldest] = insert(next++);
      if (++oldest == ids.size()) oldest = 0;
    }
  });
}

constexpr std::int64_t k1k = 1 << 10, k64k = 1 << 16, k1M = 1 << 20, k4M = 1 << 22;
BENCHMARK(feed)->Arg(k1k);
BENCHMARK(flow_table_v4)->Arg(k1k)->Arg(k64k)->Arg(k1M)->Arg(k4M);
BENCHMARK(rte_hash_v4)->Arg(k1k)->Arg(k64k)->Arg(k1M)->Arg(k4M);
BENCHMARK(flow_table_v6)->Arg(k1k)->Arg(k64k)->Arg(k1M)->Arg(k4M);
BENCHMARK(flow_table_elephant)->Arg(k4M);
BENCHMARK(flow_table_churn)->Arg(k1k)->Arg(k64k)->Arg(k1M)->Arg(k4M);

bool start_eal() {
  std::ifstream file("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
  int free_pages = 0;
  huge_pages = (file >> free_pages) && free_pages >= 256;
  std::vector<std::string> words{"bench", "--no-pci", "--no-telemetry", "-m", "1024"};
  if (huge_pages)
    words.push_back("--in-memory");
  else
    words.insert(words.end(), {"--no-huge", "--no-shconf"});
  std::vector<char*> arguments;
  for (auto& w : words) arguments.push_back(w.data());
  return rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) >= 0;
}

}  // namespace
}  // namespace surety

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (!surety::start_eal()) return std::fputs("DPDK does not start\n", stderr), 1;
  benchmark::RunSpecifiedBenchmarks();
}
