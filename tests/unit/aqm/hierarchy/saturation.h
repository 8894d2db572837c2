// SPDX-License-Identifier: BSD-3-Clause
// Queues that always hold packets: what leaves one of them is replaced. Counts the bytes that left.
#pragma once

#include <array>
#include <vector>

#include "tests/unit/aqm/hierarchy/tree.h"

namespace surety {

class Saturation {
 public:
  static constexpr std::uint32_t kClasses = 2;

  Saturation(Tree& tree, std::uint32_t interfaces) : t_(tree), bytes_(interfaces * kClasses) {}

  void begin(std::uint32_t interface, std::uint8_t class_index) {
    for (std::uint32_t k = 0; k < depth; ++k) put(interface * kClasses + class_index);
  }
  // Lengths of data packets in turns; of class 0 where there are two, `strict`.
  std::vector<std::uint16_t> lengths{1500};
  std::uint16_t strict = 0;
  std::uint32_t depth = 8;  // packets of each queue

  // Asks every `turn` while something leaves, and when something may else.
  void run(Duration duration, Duration turn = Duration(1)) {
    const Time end = t_.now + duration;
    std::array<Packet, 64> out;
    for (; t_.now < end;) {
      t_.shaper.advance(t_.now);
      for (std::size_t taken = out.size(); taken == out.size();) {
        taken = t_.h.dequeue(t_.now, t_.shaper, out);
        for (std::size_t i = 0; i < taken; ++i) {
          bytes_[out[i].flow] += out[i].length;
          last_ = t_.now;
          last_length_ = out[i].length;
          if (refill_) put(out[i].flow);
        }
      }
      const Time next =
          t_.h.depth() == 0 ? end : std::max(t_.h.next_event(t_.now), t_.shaper.next_event(t_.now));
      t_.now = std::min(end, std::max(t_.now + turn, next));
    }
  }
  std::uint64_t bytes(std::uint32_t interface, std::uint32_t class_index) const {
    return bytes_[interface * kClasses + class_index];
  }
  std::uint64_t bytes(std::uint32_t interface) const { return bytes(interface, 0) + bytes(interface, 1); }
  std::uint64_t all() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t b : bytes_) sum += b;
    return sum;
  }
  Time last() const { return last_; }  // when a packet left, of which length
  std::uint16_t last_length() const { return last_length_; }
  void forget() { std::fill(bytes_.begin(), bytes_.end(), 0); }
  void stop() { refill_ = false; }

 private:
  void put(FlowId flow) {
    const bool small = strict > 0 && flow % kClasses == 0;
    const std::uint16_t length = small ? strict : lengths[count_++ % lengths.size()];
    t_.h.enqueue({{.handle = nullptr, .flow = flow, .length = length, .precedence = {}},
                  flow / kClasses,
                  static_cast<std::uint8_t>(flow % kClasses),
                  false},
                 t_.now);
  }

  Tree& t_;
  std::vector<std::uint64_t> bytes_;
  std::size_t count_ = 0;
  Time last_{};
  std::uint16_t last_length_ = 0;
  bool refill_ = true;
};

}  // namespace surety
