// SPDX-License-Identifier: BSD-3-Clause
// The filters of a configuration, and where what each entry decides is counted.
//
// Immutable, part of a Snapshot. A filter is built once, however many interfaces have it, and not again by a
// reload that leaves it as it is. Counters are of a filter, not of its interfaces; each worker has an array
// of them, of which this is the order. After a reload what an entry has counted is found by the names of
// filter and entry and what it does.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "config/config.h"
#include "router/classify/filter.h"

namespace surety {

class Filters {
 public:
  // `before`: of the configuration that this one replaces. Throws as Filter does.
  explicit Filters(const config::Config& config, const Filters* before = nullptr);

  std::size_t size() const { return filters_.size(); }
  // By index into Config::filters.
  const Filter& operator[](std::size_t i) const { return *filters_[i]; }
  // What stands at Config::filters[i] decides about each of up to Filter::kMostAtOnce packets. Counts, and
  // returns which packets may not pass, a bit each. `counts`: of the worker.
  std::uint64_t judge(std::size_t i, std::span<const FilteredPacket> packets,
                      std::span<std::uint64_t> counts) const;

  // The order of counters: those of a filter, in theirs, begin here.
  std::size_t first_counter(std::size_t i) const { return firsts_[i]; }
  std::size_t counters() const { return firsts_.back(); }
  // What was counted by the order of `before`, by this one; counters that are new are left alone.
  void carry_over(std::span<const std::uint64_t> before, std::span<std::uint64_t> now) const;

 private:
  void follow(std::size_t i, const Filters& before, std::size_t k);

  // Counters that were one behind the other, and are.
  struct Run {
    std::size_t from, to, count;
  };
  std::vector<std::shared_ptr<const Filter>> filters_;
  std::vector<std::size_t> firsts_;  // by filter, and one for the end
  std::vector<Run> runs_;
};

}  // namespace surety
