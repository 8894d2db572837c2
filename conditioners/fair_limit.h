// SPDX-License-Identifier: BSD-3-Clause
// A limit of events per second for all customers together, in which no customer uses up the share of another.
//
// Three levels of token buckets: all, each port, each customer of a port. While the bucket of all is more
// than half full, every customer may; in its lower half only one within its port's share, and in the lower
// half of a port's bucket only one within its own. So one alone may use the whole rate, and a customer within
// an eighth of its port's share, which is the rate over the number of ports, is not refused because of
// others: neither of its port, as long as no more than eight of them want so much, nor of other ports.
#pragma once

#include <vector>

#include "conditioners/customer.h"
#include "conditioners/token_bucket.h"

namespace surety {

class FairLimit {
 public:
  static constexpr std::uint32_t kOfPort = 8, kLeastAtOnce = 4;

  // `at_once`: burst of a single customer; as much again is kept for customers within their share. `ports` >
  // 0; customers are of ports below that.
  FairLimit(std::uint32_t per_second, std::uint32_t at_once, std::size_t ports, Time now);

  // Sets the number of ports that share the rate, at least 1.
  void share_among(std::size_t ports);

  // Sets another rate; the buckets keep their tokens, as far as they can hold them.
  void adjust(std::uint32_t per_second, std::uint32_t at_once);

  bool permit(Customer customer, Time now);
  // The result of permit(), which takes nothing.
  bool would_permit(Customer customer, Time now) const;
  // True if a customer without a share of its own could have `events` at once.
  bool spare(std::uint32_t events, Time now) const {
    TokenBucket all = all_;
    all.fill(of_all_, now);
    return all.credit() - of_all_.depth() / 2 >= kCreditPerByte * events;
  }

 private:
  // The buckets that an event of a customer concerns, filled up to now.
  struct Buckets {
    TokenBucket all, port, own;
  };
  // The buckets other than `all` that are charged for a permitted event.
  struct Answer {
    bool permitted, within_port, of_own;
  };
  Buckets buckets(Customer customer, Time now) const;
  Answer judge(const Buckets& b) const;

  std::uint32_t per_second_ = 0, at_once_ = 0;
  std::size_t sharing_;                               // ports
  TokenBucketParams of_all_, of_port_, of_customer_;  // an event is a byte
  TokenBucket all_;
  std::vector<TokenBucket> ports_, customers_;
};

}  // namespace surety
