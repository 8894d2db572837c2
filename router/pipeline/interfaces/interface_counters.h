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

#include "conditioners/counter_table.h"
#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

// clang-format off
#define SURETY_INTERFACE_COUNTERS(X)                                                                           \
  X(rx_packets, "surety_interface_rx_packets_total", "Frames received with the tags of an interface.", "RX")   \
  X(rx_bytes,   "surety_interface_rx_bytes_total",                                                             \
                "Bytes of frames received with the tags of an interface, including tags, without FCS.", "RX BYTES") \
  X(tx_packets, "surety_interface_tx_packets_total", "Frames transmitted with the tags of an interface.", "TX") \
  X(tx_bytes,   "surety_interface_tx_bytes_total",                                                             \
                "Bytes of frames transmitted with the tags of an interface, including tags, without FCS.", "TX BYTES")
// clang-format on
struct InterfaceCount {
  SURETY_COUNTERS(InterfaceCount, SURETY_INTERFACE_COUNTERS)
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
