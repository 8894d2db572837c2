// SPDX-License-Identifier: BSD-3-Clause
// A small random source that its owner seeds, so that a run can be repeated (CONTRIBUTING.md rule 7).
//
// xoshiro128++ of Blackman and Vigna (2019), seeded by splitmix64. Not for cryptography.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace surety {

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) {
    for (auto& word : s_) {
      seed += 0x9e3779b97f4a7c15u;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
    }
  }

  // 32 uniform bits.
  constexpr std::uint32_t next() {
    const std::uint32_t result = std::rotl(s_[0] + s_[3], 7) + s_[0];
    const std::uint32_t t = s_[1] << 9;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = std::rotl(s_[3], 11);
    return result;
  }

  // Uniform in [0, 1).
  constexpr double uniform() { return next() * 0x1p-32; }

 private:
  std::array<std::uint32_t, 4> s_{};
};

}  // namespace surety
