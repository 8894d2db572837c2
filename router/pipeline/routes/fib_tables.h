// SPDX-License-Identifier: BSD-3-Clause
// A table of rte_fib with its memory. Without a route the result is 0, which costs no memory
// (table_memory.h).
//
// Made for `routes`, with `groups` of 256 entries for prefixes longer than the first level. Throws
// std::runtime_error with the cause without memory. `name`: at most 20 characters, unique in the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "router/pipeline/routes/table_memory.h"

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
