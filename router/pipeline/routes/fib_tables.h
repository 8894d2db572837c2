// SPDX-License-Identifier: BSD-3-Clause
// A table of rte_fib with its memory. Without a route the result is 0, which costs no memory.
//
// Made for `routes`, with `groups` of 256 entries for prefixes longer than the first level. Throws
// std::runtime_error with the cause without memory. `name`: at most 20 characters, unique in the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "conditioners/huge_memory.h"

namespace surety {

// Memory for the table `what`, of which most pages may never be used. Throws std::runtime_error with the
// cause.
HugeMemory table_pages(const std::string& what, std::size_t bytes);

// Memory of a large DPDK table: without hugepages in a mapping of its own, in which a page becomes resident
// only when anything but zeroes is written to it.
//
// EAL's memory without hugepages is a file, in which reading a page allocates it for good. Here reading an
// unwritten page takes no memory, and the memory is freed with the table.
class TableMemory {
 public:
  // Provides memory for `bytes` of objects. `name`: at most 31 characters, unique in the process. With
  // hugepages the memory is EAL's. Throws std::runtime_error without memory, or if 31 of them exist.
  TableMemory(const std::string& name, std::size_t bytes);
  ~TableMemory();
  TableMemory(const TableMemory&) = delete;
  TableMemory& operator=(const TableMemory&) = delete;

  // NUMA node to pass to DPDK's allocating functions.
  int socket() const { return socket_; }
  // Releases pages of zeroes: DPDK writes to the whole table when it creates it.
  void release_zeroes();

 private:
  const std::string name_;
  std::optional<HugeMemory> memory_;  // nullopt: EAL's memory
  int socket_;
};

}  // namespace surety

struct rte_fib;

namespace surety {

class FibTable4 {
 public:
  FibTable4(const std::string& name, std::uint32_t routes, std::uint32_t groups);
  ~FibTable4();
  rte_fib* fib() const { return fib_; }
  // Memory of a table at most, in bytes.
  static std::size_t bytes(std::uint32_t routes, std::uint32_t groups);
  // Resident memory of a table without hugepages and routes, in bytes.
  static std::size_t empty_bytes(std::uint32_t routes);

 private:
  TableMemory memory_;
  rte_fib* fib_;
};

}  // namespace surety
