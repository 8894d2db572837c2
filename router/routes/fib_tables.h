// SPDX-License-Identifier: BSD-3-Clause
// A table of rte_fib with the memory that it lies in. Where it has no route it answers 0, which
// costs no memory (table_memory.h).
//
// Made for `routes`, with `groups` of 256 entries for what is longer than the first level. Throw
// std::runtime_error, naming the cause, without memory. `name`: at most 20 characters, unique in the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "router/routes/table_memory.h"

struct rte_fib;

namespace surety {

class FibTable4 {
 public:
  FibTable4(const std::string& name, std::uint32_t routes, std::uint32_t groups);
  ~FibTable4();
  rte_fib* fib() const { return fib_; }
  // What one takes at most, in bytes.
  static std::size_t bytes(std::uint32_t routes, std::uint32_t groups);
  // What is there of it without hugepages and without a route.
  static std::size_t empty_bytes(std::uint32_t routes);

 private:
  TableMemory memory_;
  rte_fib* fib_;
};

}  // namespace surety
