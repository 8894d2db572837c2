// SPDX-License-Identifier: BSD-3-Clause
// What a worker counts of each interface with tags: one writer, read by others as it goes on.
//
// There is room for all interfaces that there can ever be; what is not used costs address space only.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "router/interfaces/interface_record.h"

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
  InterfaceCounters()
      : rows_(static_cast<InterfaceCount*>(std::calloc(kMostInterfaces, sizeof(InterfaceCount)))) {
    if (!rows_) throw std::bad_alloc();
  }

  void received(InterfaceIndex i, std::uint32_t bytes) {
    add(rows_.get()[i].rx_packets, 1);
    add(rows_.get()[i].rx_bytes, bytes);
  }
  void sent(InterfaceIndex i, std::uint32_t bytes) {
    add(rows_.get()[i].tx_packets, 1);
    add(rows_.get()[i].tx_bytes, bytes);
  }
  // From any thread.
  InterfaceCount operator[](InterfaceIndex i) const {
    InterfaceCount& r = rows_.get()[i];
    return {load(r.rx_packets), load(r.rx_bytes), load(r.tx_packets), load(r.tx_bytes)};
  }
  // Another interface has this place. From any thread, while no packet is of it.
  void forget(InterfaceIndex i) {
    InterfaceCount& r = rows_.get()[i];
    for (std::uint64_t* n : {&r.rx_packets, &r.rx_bytes, &r.tx_packets, &r.tx_bytes})
      std::atomic_ref(*n).store(0, std::memory_order_relaxed);
  }

 private:
  struct Free {
    void operator()(InterfaceCount* p) const { std::free(p); }
  };
  static std::uint64_t load(std::uint64_t& n) { return std::atomic_ref(n).load(std::memory_order_relaxed); }
  static void add(std::uint64_t& n, std::uint64_t more) {
    std::atomic_ref(n).store(load(n) + more, std::memory_order_relaxed);
  }
  std::unique_ptr<InterfaceCount, Free> rows_;
};

}  // namespace surety
