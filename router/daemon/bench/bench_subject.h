// SPDX-License-Identifier: BSD-3-Clause
// A path of `surety bench`, warmed up, that moves a burst per call; and the two loops that all are compared
// with.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "router/daemon/bench/bench_paths.h"
#include "router/daemon/bench/bench_router.h"
#include "router/pipeline/snapshot.h"

namespace surety {

class Worker;
struct WorkerUpdate;

// A reference loop: feed and transmit alone. Returns packets moved in one turn.
std::size_t feed_turn(const BenchBed& bed);
// A reference loop: the work of DPDK's l3fwd: longest prefix match, TTL, MAC addresses.
std::size_t anchor_turn(const BenchBed& bed, bool v6);

class BenchSubject {
 public:
  struct Traffic {
    std::uint32_t flows = 1000;
    bool v6 = false;
  };
  // `bed` and `feed` must outlive this object.
  BenchSubject(BenchBed& bed, BenchFeed& feed, const std::string& path, Traffic traffic, bool measure_stages);
  ~BenchSubject();
  BenchSubject(const BenchSubject&) = delete;
  BenchSubject& operator=(const BenchSubject&) = delete;

  // Moves a burst; returns its number of packets.
  std::size_t turn() const { return turn_(); }
  // Cycles per packet over `packets` received packets.
  double cycles_per_packet(std::uint64_t packets) const;
  // Has the next turn adopt another configuration, in which all flows have another service. For paths with
  // services.
  void reload();
  // Connects the bed's port to this object's feed.
  void attach() const { bed_.use(&feed_); }
  BenchFeed& feed() const { return feed_; }

  StageCounters stages() const;
  // A row counts only if all of its packets took the whole path, and bad input was bad:
  // throws std::runtime_error with the reason if not.
  void must_be_clean() const;

 private:
  void make_worker(const std::string& path, Traffic traffic, bool measure_stages);
  std::size_t turn_worker();
  void must_have_been_bad() const;

  BenchBed& bed_;
  BenchFeed& feed_;
  const std::string path_;
  std::unique_ptr<Snapshot> before_, snapshot_;   // before_: until the worker has adopted the other
  std::shared_ptr<const Forwarding> forwarding_;  // routes by interfaces
  std::unique_ptr<WorkerUpdate> update_;
  std::unique_ptr<Worker> worker_;
  const BadInput* const bad_;  // nullptr: an ordinary path
  Time now_{};                 // clock of bad input
  std::function<std::size_t()> turn_;
};

}  // namespace surety
