// SPDX-License-Identifier: BSD-3-Clause
// Rates of backlogged weighted classes, some with caps: max-min fair shares by weight (water filling).
#pragma once

#include <optional>
#include <ostream>
#include <vector>

#include "conditioners/units.h"

namespace surety {

struct CappedClass {
  std::uint32_t weight;
  std::optional<Rate> cap;
  Rate gets;
};
struct CappedCase {
  Rate port;
  std::vector<CappedClass> classes;
  friend std::ostream& operator<<(std::ostream& os, const CappedCase& c) {
    for (const CappedClass& k : c.classes) {
      os << k.weight;
      if (k.cap) os << " at most " << k.cap->bits_per_second();
      os << "; ";
    }
    return os;
  }
};

inline Rate kbits(std::uint64_t n) {
  return Rate::bits_per_second(1000 * n);
}

inline const std::vector<CappedCase> kCappedCases{
    {kbits(100'000), {{1, kbits(30'000), kbits(30'000)}}},                            // alone
    {kbits(100'000), {{10, kbits(50'000), kbits(10'000)}, {90, {}, kbits(90'000)}}},  // cap above the share
    {kbits(100'000), {{10, kbits(5'000), kbits(5'000)}, {90, {}, kbits(95'000)}}},    // cap below the share
    {kbits(100'000), {{90, kbits(20'000), kbits(20'000)}, {10, {}, kbits(80'000)}}},
    {kbits(100'000), {{1, kbits(60'000), kbits(50'000)}, {1, {}, kbits(50'000)}}},
    {kbits(100'000), {{100, kbits(60'000), kbits(60'000)}, {1, {}, kbits(40'000)}}},
    {kbits(100'000), {{1, kbits(30'000), kbits(30'000)}, {1, kbits(20'000), kbits(20'000)}}},
    {kbits(100'000), {{1, kbits(60'000), kbits(40'000)}, {9, kbits(60'000), kbits(60'000)}}},
    {kbits(100'000), {{1, kbits(60'000), kbits(50'000)}, {1, kbits(60'000), kbits(50'000)}}},
    {kbits(100'000), {{45, kbits(20'000), kbits(20'000)}, {45, {}, kbits(65'455)}, {10, {}, kbits(14'545)}}},
    // Quanta of 1.5 MB: 30 times what the cap sends in the round of the others.
    {kbits(100'000), {{1000, kbits(20'000), kbits(20'000)}, {1000, {}, kbits(79'920)}, {1, {}, kbits(80)}}},
    {kbits(100'000), {{1, kbits(100), kbits(100)}, {1, {}, kbits(99'900)}}},
    {kbits(100'000), {{1, kbits(200'000), kbits(50'000)}, {1, {}, kbits(50'000)}}},  // cap above the port
};

}  // namespace surety
