// SPDX-License-Identifier: BSD-3-Clause
// Frames that a host itself sends, until there is room for them: few, and the newest are dropped first.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace surety {

// Room for one packet or frame. `data`: start, `capacity`: bytes that may be written; the writer sets
// `length`.
struct Slot {
  std::uint8_t* data = nullptr;
  std::uint32_t capacity = 0;
  std::uint32_t length = 0;
  std::uint16_t interface = 0;  // egress interface of a frame, if its writer has several
};
using Room = std::span<Slot>;

class Outbox {
 public:
  static constexpr std::uint32_t kFrames = 32;

  // Frames of up to `most` bytes.
  explicit Outbox(std::uint32_t most) : most_(most) {}

  // Room for the next frame, which its maker fills and then commits; null data: full.
  Slot next() {
    if (size_ == kFrames) return {};
    if (bytes_.empty()) bytes_.resize(std::size_t{kFrames} * most_);  // most outboxes stay unused
    return {&bytes_[std::size_t{(first_ + size_) % kFrames} * most_], most_, 0};
  }
  void commit(std::uint32_t length, std::uint16_t interface = 0) {
    const std::uint32_t at = (first_ + size_++) % kFrames;
    lengths_[at] = length;
    interfaces_[at] = interface;
  }

  bool empty() const { return size_ == 0; }

  // Moves frames into `room`; returns how many. A frame that is larger than its slot is lost.
  std::size_t write(Room room) {
    std::size_t n = 0;
    for (; n < room.size() && size_ > 0; first_ = (first_ + 1) % kFrames, --size_) {
      if (lengths_[first_] > room[n].capacity) continue;
      std::memcpy(room[n].data, &bytes_[std::size_t{first_} * most_], lengths_[first_]);
      room[n].interface = interfaces_[first_];
      room[n++].length = lengths_[first_];
    }
    return n;
  }

 private:
  std::uint32_t most_, first_ = 0, size_ = 0;
  std::array<std::uint32_t, kFrames> lengths_{};
  std::array<std::uint16_t, kFrames> interfaces_{};
  std::vector<std::uint8_t> bytes_;
};

}  // namespace surety
