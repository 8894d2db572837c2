// SPDX-License-Identifier: BSD-3-Clause
#include "router/daemon/ports/umem_rings.h"

#include <fcntl.h>
#include <linux/if_xdp.h>
#include <rte_mbuf.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

namespace surety {

namespace {

constexpr std::uint32_t kLargest = 1 << 14;  // entries of a ring
constexpr std::uint64_t kAddress =
    (std::uint64_t{1} << 48) - 1;  // the upper bits are an offset within the buffer

std::uint32_t load(std::uint32_t* index) {
  return std::atomic_ref(*index).load(std::memory_order_acquire);
}

template <class T>
bool ask(int fd, int what, T& answer) {
  socklen_t size = sizeof(answer);
  return ::getsockopt(fd, SOL_XDP, what, &answer, &size) == 0;
}

}  // namespace

// The size is the largest that the kernel permits to map.
UmemRings::Ring UmemRings::map(int fd, std::uint64_t at, const void* offsets, std::size_t descriptor) {
  const auto& offset = *static_cast<const xdp_ring_offset*>(offsets);
  for (std::uint32_t size = kLargest; size > 1; size /= 2) {
    const std::size_t bytes = offset.desc + size * descriptor;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(at));
    if (memory == MAP_FAILED) continue;
    auto* const base = static_cast<std::uint8_t*>(memory);
    return {memory,
            bytes,
            offset.desc,
            reinterpret_cast<std::uint32_t*>(base + offset.producer),
            reinterpret_cast<std::uint32_t*>(base + offset.consumer),
            size};
  }
  return {};
}

UmemRings::UmemRings(std::span<const int> sockets, rte_mempool& pool) : pool_(pool) {
  for (const int fd : sockets) {
    xdp_mmap_offsets offsets{};
    xdp_options options{};
    if (!ask(fd, XDP_MMAP_OFFSETS, offsets) || !ask(fd, XDP_OPTIONS, options)) continue;
    Socket s{.of_driver = fd,
             .fd = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)),
             .copies = (options.flags & XDP_OPTIONS_ZEROCOPY) == 0,
             .fill = {},
             .completion = {},
             .received = {}};
    s.fill = map(fd, XDP_UMEM_PGOFF_FILL_RING, &offsets.fr, sizeof(std::uint64_t));
    s.completion = map(fd, XDP_UMEM_PGOFF_COMPLETION_RING, &offsets.cr, sizeof(std::uint64_t));
    s.received = map(fd, XDP_PGOFF_RX_RING, &offsets.rx, sizeof(xdp_desc));
    sockets_.push_back(std::move(s));
  }
}

UmemRings::~UmemRings() {
  for (const Socket& s : sockets_)
    for (const Ring* ring : {&s.fill, &s.completion, &s.received})
      if (ring->memory != nullptr) ::munmap(ring->memory, ring->bytes);
}

// Addresses as in net_af_xdp: from the first buffer's head on.
void UmemRings::free_buffer(std::uint64_t address) const {
  auto* const first = static_cast<std::uint8_t*>(STAILQ_FIRST(&pool_.mem_list)->addr);
  const std::size_t whole = rte_mempool_calc_obj_size(pool_.elt_size, pool_.flags, nullptr);
  const std::uint64_t buffer = (address & kAddress) / whole * whole;
  if (buffer >= whole * pool_.populated_size) return;
  rte_pktmbuf_free(reinterpret_cast<rte_mbuf*>(first + buffer + pool_.header_size));
}

// The driver forgets them, too; or another socket has that number now.
void UmemRings::close_sockets() {
  for (Socket& s : sockets_) {
    struct stat own {
    }, its{};
    if (::fstat(s.fd.get(), &own) == 0 && ::fstat(s.of_driver, &its) == 0 && own.st_ino == its.st_ino &&
        own.st_dev == its.st_dev)
      ::close(s.of_driver);
    s.fd = Fd();
  }
}

std::size_t UmemRings::give_back() {
  std::size_t given = 0;
  for (const Socket& s : sockets_) {
    const auto each = [&](const Ring& ring, std::uint32_t begin, std::uint32_t end, auto&& address) {
      if (ring.memory == nullptr || end - begin > ring.size) return;
      for (; begin != end; ++begin, ++given)
        free_buffer(address(static_cast<const std::uint8_t*>(ring.memory) + ring.descriptors,
                            begin & (ring.size - 1)));
    };
    const auto of_address = [](const std::uint8_t* all, std::uint32_t at) {
      return reinterpret_cast<const std::uint64_t*>(all)[at];
    };
    const auto of_packet = [](const std::uint8_t* all, std::uint32_t at) {
      return std::uint64_t{reinterpret_cast<const xdp_desc*>(all)[at].addr};
    };
    xdp_statistics lost{};
    if (s.copies && s.received.memory != nullptr && s.fill.memory != nullptr &&
        ask(s.fd.get(), XDP_STATISTICS, lost)) {
      const auto kept = static_cast<std::uint32_t>(lost.rx_dropped + lost.rx_ring_full);
      each(s.fill, load(s.received.producer) + kept, load(s.fill.producer), of_address);
    }
    if (s.received.memory != nullptr)
      each(s.received, load(s.received.consumer), load(s.received.producer), of_packet);
    if (s.completion.memory != nullptr)
      each(s.completion, load(s.completion.consumer), load(s.completion.producer), of_address);
  }
  close_sockets();
  return given;
}

}  // namespace surety
