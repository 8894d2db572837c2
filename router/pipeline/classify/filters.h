// SPDX-License-Identifier: BSD-3-Clause
// The filters of a configuration, and the order of their counters.
//
// Immutable, part of a Snapshot. A filter is built once for all its interfaces, and not again by a reload
// that does not change it. Counters belong to a filter, not to its interfaces; each worker has an array of
// them in this order. After a reload counts are carried over by the names of filter and entry and the action.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "config/config.h"
#include "router/pipeline/classify/filter.h"

namespace surety {

class Filters {
 public:
  // `before`: the filters of the previous configuration. Throws as Filter does.
  explicit Filters(const config::Config& config, const Filters* before = nullptr);

  std::size_t size() const { return filters_.size(); }
  // Indexed as Config::filters.
  const Filter& operator[](std::size_t i) const { return *filters_[i]; }
  // Evaluates filter `i` for up to Filter::kMostAtOnce packets. Counts, and returns the packets that may not
  // pass, one bit each. `counts`: the worker's.
  std::uint64_t judge(std::size_t i, std::span<const FilteredPacket> packets,
                      std::span<std::uint64_t> counts) const;

  // The index of a filter's first counter.
  std::size_t first_counter(std::size_t i) const { return firsts_[i]; }
  std::size_t counters() const { return firsts_.back(); }
  // Copies counts in the order of `before` into this order; new counters are unchanged.
  void carry_over(std::span<const std::uint64_t> before, std::span<std::uint64_t> now) const;

 private:
  void follow(std::size_t i, const Filters& before, std::size_t k);

  // A run of counters that is contiguous in both orders.
  struct Run {
    std::size_t from, to, count;
  };
  std::vector<std::shared_ptr<const Filter>> filters_;
  std::vector<std::size_t> firsts_;  // indexed by filter, and one for the end
  std::vector<Run> runs_;
};

}  // namespace surety
