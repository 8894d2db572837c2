// SPDX-License-Identifier: BSD-3-Clause
// The packet buffers that DPDK's net_af_xdp forgets when it closes a device: those that the kernel had to
// receive into, received ones that nobody read, and sent ones that nobody took back.
//
// The rings that the kernel shares (AF_XDP) still say which. In the fill ring the kernel publishes how far it
// has come only now and then; but of what it took, each has become one received packet, but for those it had
// to drop, which it keeps. Where the driver of the NIC takes buffers itself (zero-copy), that does not hold,
// and they are lost.
#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <span>
#include <vector>

#include "router/process/fd.h"

namespace surety {

class UmemRings {
 public:
  // Of the AF_XDP sockets of a device, while they are open, with the pool that it was given.
  UmemRings(std::span<const int> sockets, rte_mempool& pool);
  ~UmemRings();
  UmemRings(const UmemRings&) = delete;
  UmemRings& operator=(const UmemRings&) = delete;

  // Nothing is received any more: gives them back, and the sockets go. Returns how many.
  std::size_t give_back();

 private:
  struct Ring {
    void* memory = nullptr;
    std::size_t bytes = 0, descriptors = 0;  // where they begin
    std::uint32_t *producer = nullptr, *consumer = nullptr;
    std::uint32_t size = 0;
  };
  struct Socket {
    int of_driver;
    Fd fd;  // our own for the same
    bool copies;
    Ring fill, completion, received;
  };
  static Ring map(int fd, std::uint64_t at, const void* offsets, std::size_t descriptor);
  void close_sockets();
  void free_buffer(std::uint64_t address) const;

  rte_mempool& pool_;
  std::vector<Socket> sockets_;
};

}  // namespace surety
