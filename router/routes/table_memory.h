// SPDX-License-Identifier: BSD-3-Clause
// Where a large table of DPDK's lies: without hugepages, in memory of its own, of which a page is there only
// once something but zeroes has been written to it.
//
// EAL's memory without hugepages is a file, in which to read a page is to have it, for good. Here, to read
// one that nothing was written to takes no memory, and what the table had goes with it.
#pragma once

#include <cstddef>
#include <string>

namespace surety {

class TableMemory {
 public:
  // For `bytes` of objects. `name`: at most 31 characters, unique in the process. With hugepages it is
  // EAL's. Throws std::runtime_error where there is none, or 31 of them are there.
  TableMemory(const std::string& name, std::size_t bytes);
  ~TableMemory();
  TableMemory(const TableMemory&) = delete;
  TableMemory& operator=(const TableMemory&) = delete;

  // What the functions of DPDK that allocate want as the NUMA node.
  int socket() const { return socket_; }
  // Gives pages back that hold zeroes: DPDK writes to all of a table when it makes it.
  void release_zeroes();

 private:
  const std::string name_;
  std::byte* mapped_ = nullptr;  // null: EAL's
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0, mapped_bytes_ = 0;
  int socket_;
};

}  // namespace surety
