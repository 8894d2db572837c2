// SPDX-License-Identifier: BSD-3-Clause
// Recovers the packet buffers that DPDK's net_af_xdp leaks when it closes a device: receive buffers in the
// kernel, received frames not yet read, and sent frames not yet reclaimed.
//
// The rings shared with the kernel (AF_XDP) still have them. In the fill ring the kernel updates its index
// only now and then; but each buffer it took has become one received packet, except after drops, when it
// keeps the buffer. If the NIC's driver takes buffers itself (zero-copy), this does not hold, and they are
// lost.
#pragma once

#include <rte_mempool.h>

#include <cstdint>
#include <span>
#include <vector>

#include "router/process/fd.h"

namespace surety {

class UmemRings {
 public:
  // `sockets`: a device's open AF_XDP sockets; `pool`: the device's pool.
  UmemRings(std::span<const int> sockets, rte_mempool& pool);
  ~UmemRings();
  UmemRings(const UmemRings&) = delete;
  UmemRings& operator=(const UmemRings&) = delete;

  // Called when reception has ended: returns the buffers to the pool, and closes the sockets. Returns their
  // number.
  std::size_t give_back();

 private:
  struct Ring {
    void* memory = nullptr;
    std::size_t bytes = 0, descriptors = 0;  // offset of the descriptors
    std::uint32_t *producer = nullptr, *consumer = nullptr;
    std::uint32_t size = 0;
  };
  struct Socket {
    int of_driver;
    Fd fd;  // duplicate of the driver's descriptor
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
