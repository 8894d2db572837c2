// SPDX-License-Identifier: BSD-3-Clause
// How much of a common room each customer has: dynamic thresholds (Choudhury and Hahne 1998).
//
// A customer may have kOfCustomer times what is free, a port kOfPort times: one alone gets eight ninths of
// all, and however many want more than there is, some of it stays free for who has less.
#pragma once

#include <vector>

#include "conditioners/customer.h"

namespace surety {

class FairShare {
 public:
  static constexpr std::uint64_t kOfCustomer = 8, kOfPort = 16;

  explicit FairShare(std::size_t ports) : ports_(ports), customers_(ports * kParts) {}

  // Whether everybody may have one more: nobody needs to be asked for.
  static bool plenty(std::uint64_t free, std::uint64_t capacity) {
    return free * (kOfCustomer + 1) > capacity;
  }
  // Whether it may have one more, with so much free.
  bool room(Customer c, std::uint64_t free) const {
    return customers_[c] < kOfCustomer * free && ports_[port_of(c)] < kOfPort * free;
  }
  void add(Customer c) { ++customers_[c], ++ports_[port_of(c)]; }
  void remove(Customer c) { --customers_[c], --ports_[port_of(c)]; }
  std::uint32_t of(Customer c) const { return customers_[c]; }

 private:
  std::vector<std::uint32_t> ports_, customers_;
};

}  // namespace surety
