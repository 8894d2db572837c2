// SPDX-License-Identifier: BSD-3-Clause
// Matches of the configuration as a table of rte_acl, common to rules and filters.
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
#include "router/pipeline/wire/headers.h"

struct rte_acl_ctx;

namespace surety {

struct AclRule;

// The input of a table, everything in network order. rte_acl requires a byte first and then groups of four.
struct AclInput {
  // Knowledge of the packet's ports: the protocol has none, as ICMP; known; in another packet; in this
  // packet, but not readable.
  enum Ports : std::uint8_t { none, known, elsewhere, hidden };

  std::uint8_t protocol;
  std::uint8_t unused[3];
  std::uint8_t port, customer, ports, dscp;
  std::uint16_t vlan, inner_vlan;
  std::uint16_t interface, zero;  // interface whose addresses it has (InterfaceRecord::link)
  std::uint16_t source_port, destination_port;
  std::uint32_t source[4], destination[4];  // IPv4: the first of each
};

// The input of a packet as parse() made it: ports are `known` if the flow key has them, else `none`. The
// caller sets `port`, `customer` and `interface`.
AclInput acl_input(const ParsedPacket& packet);

// An entry of a table: a Match, and further conditions. The table has a line for each pair of a source and a
// destination of the Match.
struct AclEntry {
  const config::Match* match;
  std::uint32_t number;                    // result of a match
  std::optional<std::uint8_t> customer{};  // AclInput::customer
  std::optional<AclInput::Ports> ports{};
  std::optional<std::uint16_t> interface {};    // AclInput::interface; not the Match's numbering
  bool any_port = false, any_protocol = false;  // true: the Match's fields are ignored
};

// True for a Match with conditions on ports.
bool constrains_ports(const config::Match& m);

// Entries of one address family. If entries constrain a few combinations of fields, as access lists do, one
// table of rte_acl holds 10,000: built in 0.3 to 3 s, with 5 to 14 MB, at 150 cycles per packet. If they
// constrain arbitrary fields, building takes a minute or fails: such entries are divided over several tables,
// searched one after the other.
class Acl {
 public:
  static constexpr std::size_t kMostAtOnce = 64;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Acl() = default;  // without entries
  // The first matching entry is found. Entries of the other family are left out. Throws std::runtime_error if
  // rte_acl cannot build the table (memory); `what` is used in the message.
  Acl(std::span<const AclEntry> entries, bool v6, const char* what);

  bool empty() const { return tables_.empty(); }
  // The number of tables searched, one after the other.
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
