// SPDX-License-Identifier: BSD-3-Clause
// One end of a ring of descriptors in shared memory.
//
// The client advances `head`, the server `tail`, in either direction of traffic; both count modulo 2^16. The
// own index is kept in private memory and only written to the ring; the peer's is checked against the ring's
// size. A descriptor is read once, as a whole.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace surety::memif {

inline constexpr std::uint32_t kCookie = 0x3E31F20;
inline constexpr unsigned kMostLog2RingSize = 14;

struct Descriptor {
  static constexpr std::uint16_t kNext = 1;  // flag: the frame continues in the next descriptor
  std::uint16_t flags = 0, region = 0;
  std::uint32_t length = 0;  // bytes used in the buffer; while it is offered, its size
  std::uint32_t offset = 0;  // in the region
  std::uint32_t metadata = 0;
};
static_assert(sizeof(Descriptor) == 16);

class Ring {
 public:
  static constexpr std::uint32_t kDescriptors = 128;  // bytes before them
  static constexpr std::uint32_t kAlignment = 16;
  static constexpr std::uint32_t bytes(unsigned log2_size) {
    return kDescriptors + (std::uint32_t{sizeof(Descriptor)} << log2_size);
  }

  Ring() = default;  // no ring
  // `at`: address of bytes(log2_size) bytes, aligned; `client`: this end is the client.
  Ring(std::uint8_t* at, unsigned log2_size, bool client)
      : at_(at), size_(1u << log2_size), client_(client) {}

  explicit operator bool() const { return at_ != nullptr; }
  std::uint32_t size() const { return size_; }
  // A client that offers all its buffers is ahead of the server by a whole ring.
  std::uint16_t lead() const { return client_ ? static_cast<std::uint16_t>(size_) : std::uint16_t{0}; }

  std::uint32_t cookie() const { return word<std::uint32_t>(0).load(std::memory_order_relaxed); }
  void set_cookie() const { word<std::uint32_t>(0).store(kCookie, std::memory_order_relaxed); }

  std::uint16_t peer() const {
    return word<std::uint16_t>(client_ ? kTail : kHead).load(std::memory_order_acquire);
  }
  void publish(std::uint16_t own) const {
    word<std::uint16_t>(client_ ? kHead : kTail).store(own, std::memory_order_release);
  }

  // True if the receiver has enabled interrupts: its eventfd must be written.
  bool interrupts() const {
    return (word<std::uint16_t>(kFlags).load(std::memory_order_relaxed) & kMasked) == 0;
  }
  void set_interrupts(bool on) const {
    word<std::uint16_t>(kFlags).store(on ? std::uint16_t{0} : kMasked, std::memory_order_relaxed);
  }

  Descriptor read(std::uint16_t index) const {
    const std::uint32_t at = place(index);
    return std::bit_cast<Descriptor>(Halves{word<std::uint64_t>(at).load(std::memory_order_relaxed),
                                            word<std::uint64_t>(at + 8).load(std::memory_order_relaxed)});
  }
  void write(std::uint16_t index, const Descriptor& d) const {
    const auto halves = std::bit_cast<Halves>(d);
    word<std::uint64_t>(place(index)).store(halves.first, std::memory_order_relaxed);
    word<std::uint64_t>(place(index) + 8).store(halves.second, std::memory_order_relaxed);
  }

 private:
  struct Halves {
    std::uint64_t first, second;
  };
  static constexpr std::uint32_t kFlags = 4, kHead = 6, kTail = 64;
  static constexpr std::uint16_t kMasked = 1;

  template <class T>
  std::atomic_ref<T> word(std::uint32_t at) const {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(at_ + at));
  }
  std::uint32_t place(std::uint16_t index) const {
    return kDescriptors + (index & (size_ - 1)) * std::uint32_t{sizeof(Descriptor)};
  }

  std::uint8_t* at_ = nullptr;
  std::uint32_t size_ = 0;
  bool client_ = false;
};

}  // namespace surety::memif
