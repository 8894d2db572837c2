// SPDX-License-Identifier: BSD-3-Clause
// An access list compiled for rte_acl: finds the entry that decides about a packet; first match wins, and
// packets without a match are denied.
//
// Fragments are evaluated one by one (RFC 1858, RFC 3128), by their own content:
//  - The first fragment has the ports, and entries match them: parse() accepts none of TCP or UDP without
//    ports.
//  - Other fragments have no ports. An entry that permits by ports matches them if everything else does, and
//    one that denies by ports does not. The first fragment decides for all: without it the others are not
//    reassembled (RFC 1858 3.2.1), and none of them can overwrite its ports, since parse() accepts no TCP at
//    offset 8 and ports end before.
//  - The content of some fragments is not readable: IPv6 behind an extension header in the fragmented part,
//    which other fragments could overwrite; DCCP and SCTP, if the first fragment ends before the ports. An
//    entry that denies by protocol or ports denies them, and one that permits by protocol or ports does not
//    match. For entries with that protocol number, their protocol is 44 (fragments).
//
// Filters has all access lists of a configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/pipeline/classify/acl.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

// A packet as parse() made it, and the frame that it read.
struct FilteredPacket {
  const ParsedPacket* header;
  const std::uint8_t* frame;
};

class Filter {
 public:
  static constexpr std::size_t kMostAtOnce = Acl::kMostAtOnce;

  // Throws std::runtime_error when rte_acl cannot build it (memory).
  explicit Filter(config::Filter filter);

  // Finds the entry that decides about each of up to kMostAtOnce packets; config().entries.size(): none.
  void match(std::span<const FilteredPacket> packets, std::span<std::uint32_t> entries) const;
  struct Verdict {
    std::uint32_t counter : 31;  // index among this filter's counters
    std::uint32_t permit : 1;
  };
  Verdict verdict(std::uint32_t entry) const { return verdicts_[entry]; }

  // The counter of an entry, by its name or its number from 1, or of the end, `default`. Entries with the
  // same name and action share a counter.
  struct Counter {
    std::string name;
    bool permit;
    friend bool operator==(const Counter&, const Counter&) = default;
  };
  const std::vector<Counter>& counters() const { return counters_; }

  // True if it matches more fields than a flow key has: packets of one flow may then have different results.
  bool each_packet() const { return each_packet_; }
  const config::Filter& config() const { return config_; }

 private:
  Acl build(bool v6) const;
  void name_counters();
  void match_family(std::span<const FilteredPacket> packets, bool v6, std::span<std::uint32_t> entries) const;

  const config::Filter config_;
  std::vector<Verdict> verdicts_;  // indexed by entry; the last is the default
  std::vector<Counter> counters_;
  Acl v4_, v6_;
  bool each_packet_ = false;
};

// The filters of a configuration, and the order of their counters.
//
// Immutable, part of a Snapshot. A filter is built once for all its interfaces, and not again by a reload
// that does not change it. Counters belong to a filter, not to its interfaces; each worker has an array of
// them in this order. After a reload counts are carried over by the names of filter and entry and the action.
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
