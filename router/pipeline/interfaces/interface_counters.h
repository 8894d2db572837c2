// SPDX-License-Identifier: BSD-3-Clause
// A worker's counters of each interface with tags: one writer, read by others meanwhile.
//
// There is room for the maximum number of interfaces; unused counters cost address space only.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

struct InterfaceCount {
  std::uint64_t rx_packets = 0, rx_bytes = 0;  // frames, tags and all, without FCS
  std::uint64_t tx_packets = 0, tx_bytes = 0;
  InterfaceCount& operator+=(const InterfaceCount& o) {
    rx_packets += o.rx_packets;
    rx_bytes += o.rx_bytes;
    tx_packets += o.tx_packets;
    tx_bytes += o.tx_bytes;
    return *this;
  }
};

class InterfaceCounters {
 public:
  // Prefetches a counter before it is used: with many interfaces none is in a cache.
  void expect_received(InterfaceIndex i) const { __builtin_prefetch(&rx_.get()[i], 1); }
  void expect_sent(InterfaceIndex i) const { __builtin_prefetch(&tx_.get()[i], 1); }
  void received(InterfaceIndex i, std::uint32_t bytes) { rx_.get()[i].add(bytes); }
  void sent(InterfaceIndex i, std::uint32_t bytes) { tx_.get()[i].add(bytes); }
  // Thread-safe.
  InterfaceCount operator[](InterfaceIndex i) const {
    Row &rx = rx_.get()[i], &tx = tx_.get()[i];
    return {load(rx.packets), load(rx.bytes), load(tx.packets), load(tx.bytes)};
  }
  // Clears the counters for another interface at this place. Thread-safe while the interface has no packets.
  void forget(InterfaceIndex i) {
    for (Row* r : {&rx_.get()[i], &tx_.get()[i]})
      for (std::uint64_t* n : {&r->packets, &r->bytes})
        std::atomic_ref(*n).store(0, std::memory_order_relaxed);
  }

 private:
  // Counters of one direction, since no packet needs both: four rows to a cache line.
  struct Row {
    std::uint64_t packets, bytes;
    void add(std::uint32_t more) {
      InterfaceCounters::add(packets, 1);
      InterfaceCounters::add(bytes, more);
    }
  };
  struct Free {
    void operator()(Row* p) const { std::free(p); }
  };
  using Rows = std::unique_ptr<Row, Free>;
  static Rows make() {
    Rows rows(static_cast<Row*>(std::calloc(kMostInterfaces, sizeof(Row))));
    if (!rows) throw std::bad_alloc();
    return rows;
  }
  static std::uint64_t load(std::uint64_t& n) { return std::atomic_ref(n).load(std::memory_order_relaxed); }
  static void add(std::uint64_t& n, std::uint64_t more) {
    std::atomic_ref(n).store(load(n) + more, std::memory_order_relaxed);
  }
  Rows rx_ = make(), tx_ = make();
};

}  // namespace surety
