// SPDX-License-Identifier: BSD-3-Clause
// Matches of the configuration as a table of rte_acl: what rules and filters have in common.
//
// Needs the EAL: rte_acl keeps its tables in DPDK's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "router/wire/headers.h"

struct rte_acl_ctx;

namespace surety {

struct AclRule;

// What a table looks at, everything in network order. rte_acl wants a byte first and then groups of four.
struct AclInput {
  // What is known of the ports: there are none, as of ICMP; these; another packet has them; they are here,
  // but cannot be seen.
  enum Ports : std::uint8_t { none, known, elsewhere, hidden };

  std::uint8_t protocol;
  std::uint8_t unused[3];
  std::uint8_t port, customer, ports, dscp;
  std::uint16_t vlan, inner_vlan;
  std::uint16_t interface, zero;  // whose addresses it has (InterfaceRecord::link)
  std::uint16_t source_port, destination_port;
  std::uint32_t source[4], destination[4];  // IPv4: the first of each
};

// Of a packet as parse() made it: ports are `known` where the flow key has them, else `none`. `port`,
// `customer` and `interface` are the caller's.
AclInput acl_input(const ParsedPacket& packet);

// A line of a table: a Match, and what it asks besides.
struct AclEntry {
  const config::Match* match;
  std::uint32_t number;                    // what is found
  std::optional<std::uint8_t> customer{};  // AclInput::customer
  std::optional<AclInput::Ports> ports{};
  std::optional<std::uint16_t> interface {};    // AclInput::interface; not as the Match names it
  bool any_port = false, any_protocol = false;  // whatever the Match says of them
};

// A Match that says anything of ports.
bool constrains_ports(const config::Match& m);

// Entries of one address family. Of those that constrain a few combinations of fields, as access lists do,
// one table of rte_acl has 10,000: made in 0.3 to 3 s, of 5 to 14 MB, asked for 150 cycles a packet. Of those
// that constrain one field or another, as it comes, it takes a minute or has none at all: they are in several
// tables, asked one after the other.
class Acl {
 public:
  static constexpr std::size_t kMostAtOnce = 64;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Acl() = default;  // without entries
  // The first one that matches is found. Those of the other family are left out. Throws std::runtime_error
  // where rte_acl cannot build it (memory); `what` is of the message.
  Acl(std::span<const AclEntry> entries, bool v6, const char* what);

  bool empty() const { return tables_.empty(); }
  // How many are asked, one after the other.
  std::size_t tables() const { return tables_.size(); }
  // The number of the first entry that matches, of up to kMostAtOnce packets of this family; kNone: none.
  void match(std::span<const AclInput> inputs, std::span<std::uint32_t> numbers) const;

 private:
  struct Free {
    void operator()(rte_acl_ctx* context) const;
  };
  using Context = std::unique_ptr<rte_acl_ctx, Free>;
  void add(const AclRule* rules, std::size_t n, bool v6, const char* what);

  std::vector<Context> tables_;
};

}  // namespace surety
