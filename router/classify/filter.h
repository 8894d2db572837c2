// SPDX-License-Identifier: BSD-3-Clause
// An access list made ready: which of its entries decides about a packet, by rte_acl; first match wins, and
// what no entry matches is denied.
//
// Fragments are judged one by one (RFC 1858, RFC 3128), by what each of them shows:
//  - The first one has the ports in it, and an entry looks at those: parse() takes none of TCP or UDP
//  without.
//  - The others have no ports. An entry that permits by ports matches them if everything else does, and one
//    that denies by ports does not. It is the first one that is judged for all: without it nothing is put
//    together of the others (RFC 1858 3.2.1), and none of them can write over the ports that it has shown,
//    since parse() takes no TCP at offset 8 and ports end before.
//  - Of some it cannot be seen what they are: of IPv6, behind an extension header in the fragmented part,
//  which
//    others of the datagram could write over; of DCCP and SCTP, a first one that ends before the ports. Who
//    may deny them by protocol or ports denies them, and who permits by protocol or ports does not.
//    For entries that name it, their protocol is 44 (fragments).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/classify/acl.h"
#include "router/wire/headers.h"

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

  // Which entry decides about each of up to kMostAtOnce packets; config().entries.size(): none does.
  void match(std::span<const FilteredPacket> packets, std::span<std::uint32_t> entries) const;
  struct Verdict {
    std::uint32_t counter : 31;  // of this filter's
    std::uint32_t permit : 1;
  };
  Verdict verdict(std::uint32_t entry) const { return verdicts_[entry]; }

  // An entry's, by its name or its number from 1, or that of the end, `default`. Entries of one name that do
  // the same share it.
  struct Counter {
    std::string name;
    bool permit;
    friend bool operator==(const Counter&, const Counter&) = default;
  };
  const std::vector<Counter>& counters() const { return counters_; }

  // It looks at more than a flow key has: what one packet of a flow may do, another may not.
  bool each_packet() const { return each_packet_; }
  const config::Filter& config() const { return config_; }

 private:
  Acl build(bool v6) const;
  void name_counters();
  void match_family(std::span<const FilteredPacket> packets, bool v6, std::span<std::uint32_t> entries) const;

  const config::Filter config_;
  std::vector<Verdict> verdicts_;  // by entry; the last is of the end
  std::vector<Counter> counters_;
  Acl v4_, v6_;
  bool each_packet_ = false;
};

}  // namespace surety
