// SPDX-License-Identifier: BSD-3-Clause
// Parts of shared resources for each customer: places in a room (CustomerQuota), events per second
// (CustomerLimiter).
#pragma once

#include <vector>

#include "conditioners/packet.h"
#include "conditioners/token_bucket.h"

namespace surety {

// Part of a shared room that each customer may take: dynamic thresholds (Choudhury and Hahne 1998), and which
// customers have to make room for others.
//
// A customer may have kOfCustomer times what is free, a port kOfPort times: one customer alone gets eight
// ninths of the room. These limits depend on the order: customers that come first may fill a port's part, and
// later ones find none. The fair part of a port is the mean of the ports that hold something, the fair part
// of a customer the mean of the customers of its port that do. A holder that has more than its fair part
// yields() to a newcomer that has less than it, so that in the end all that want room have the same. An owner
// of a room that cannot take places back uses room() alone.
class CustomerQuota {
 public:
  static constexpr std::uint64_t kOfCustomer = 8, kOfPort = 16;

  explicit CustomerQuota(std::size_t ports) : ports_(ports), customers_(ports * kParts) {}

  // True if each customer may have one more, so that room() need not be called.
  static bool above_reserve(std::uint64_t free, std::uint64_t capacity) {
    return free * (kOfCustomer + 1) > capacity;
  }
  // The part of a room of this size that a customer alone gets.
  static constexpr std::uint32_t most_of_one(std::uint64_t capacity) {
    return static_cast<std::uint32_t>((kOfCustomer * capacity + kOfCustomer) / (kOfCustomer + 1));
  }
  // True if the customer may have one more, with so much free.
  bool room(Customer c, std::uint64_t free) const {
    return customers_[c] < kOfCustomer * free && held(port_of(c)) < kOfPort * free;
  }
  void add(Customer c) {
    Port& p = ports_[port_of(c)];
    if (customers_[c]++ == 0) ++p.customers;
    if (p.held++ == 0) ++holding_;
    ++total_;
  }
  void remove(Customer c) {
    Port& p = ports_[port_of(c)];
    if (--customers_[c] == 0) --p.customers;
    if (--p.held == 0) --holding_;
    --total_;
  }
  std::uint32_t of(Customer c) const { return customers_[c]; }
  std::uint32_t held(std::uint8_t port) const { return ports_[port].held; }

  // True if a customer has less than its fair part, or its port does.
  bool within(Customer c) const {
    const std::uint64_t held = this->held(port_of(c));
    return customers_[c] * customers_with(c) < held || held * ports_with(port_of(c)) < total_;
  }
  // True if a holder has more than its fair part, and more than the newcomer would have then: on one port the
  // part of the customer counts, between ports the part of the port.
  bool yields(Customer holder, Customer newcomer) const {
    const std::uint8_t from = port_of(holder), to = port_of(newcomer);
    const std::uint64_t has = customers_[holder];
    if (from == to) return has > customers_[newcomer] + 1 && has * customers_with(newcomer) > held(from);
    return held(from) > held(to) + 1 && held(from) * ports_with(to) > total_ &&
           has * ports_[from].customers >= held(from);
  }

 private:
  struct Port {
    std::uint32_t held = 0, customers = 0;  // the latter: that hold something
  };
  // Customers that share a port, ports that share the room, the newcomer among them.
  std::uint64_t customers_with(Customer c) const {
    return std::uint64_t{ports_[port_of(c)].customers} + (customers_[c] == 0);
  }
  std::uint64_t ports_with(std::uint8_t port) const { return std::uint64_t{holding_} + (held(port) == 0); }

  std::vector<Port> ports_;
  std::vector<std::uint32_t> customers_;
  std::uint64_t total_ = 0;
  std::uint32_t holding_ = 0;  // ports that hold something
};

// A limit of events per second for all customers together, in which no customer uses up the share of another.
//
// Three levels of token buckets: all, each port, each customer of a port. While the bucket of all is more
// than half full, every customer may; in its lower half only one within its port's share, and in the lower
// half of a port's bucket only one within its own. So one alone may use the whole rate, and a customer within
// an eighth of its port's share, which is the rate over the number of ports, is not refused because of
// others: neither of its port, as long as no more than eight of them want so much, nor of other ports.
class CustomerLimiter {
 public:
  static constexpr std::uint32_t kOfPort = 8, kLeastAtOnce = 4;

  // `at_once`: burst of a single customer; as much again is kept for customers within their share. `ports` >
  // 0; customers are of ports below that.
  CustomerLimiter(std::uint32_t per_second, std::uint32_t at_once, std::size_t ports, Time now);

  // Sets the number of ports that share the rate, at least 1.
  void share_among(std::size_t ports);

  // Sets another rate; the buckets keep their tokens, as far as they can hold them.
  void adjust(std::uint32_t per_second, std::uint32_t at_once);

  bool permit(Customer customer, Time now);
  // The result of permit(), which takes nothing.
  bool would_permit(Customer customer, Time now) const;
  // True if a customer without a share of its own could have `events` at once.
  bool above_reserve(std::uint32_t events, Time now) const {
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
