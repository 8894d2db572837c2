// SPDX-License-Identifier: BSD-3-Clause
// The interfaces of a configuration: ports, and interfaces with tags (`interfaces:`).
//
// Immutable, part of a Snapshot. Next hops, counters and queued packets refer to interfaces by index, so an
// index stays the same in a reload, and places of removed interfaces stay empty for one more reload. Ports
// have the lowest indices, their own numbers (config/reload.h).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "router/pipeline/interfaces/interface_record.h"

namespace surety {

// The VLAN tags that a port accepts: those that one of its rules names. A rule that names the outer tag
// accepts frames with this tag alone; `per: vlan` without tags accepts frames with any one tag.
//
// A second tag that no rule names is refused: the sender chooses it freely, so it must not lead to a
// contract. Frames with tags that no rule names would otherwise use the contract of the port's untagged
// customer.
class TagAdmission {
 public:
  explicit TagAdmission(const config::Config& config);

  // `vlan` is not 0; `inner` is 0 for one tag.
  bool admits(std::uint8_t port, std::uint16_t vlan, std::uint16_t inner) const {
    const Port& p = ports_[port];
    return inner == 0 ? p.single[vlan] : p.pairs.contains(pair(vlan, inner));
  }

 private:
  struct Port {
    std::bitset<4096> single;       // outer tags of frames with one tag
    std::set<std::uint32_t> pairs;  // tags of frames with two tags
  };
  static std::uint32_t pair(std::uint16_t vlan, std::uint16_t inner) {
    return std::uint32_t{vlan} << 12 | inner;
  }

  std::vector<Port> ports_;
};

// Maps the tags of a frame to its interface, for one port: two loads at most, and memory by the tags in use.
class TagTable {
 public:
  // `inner`: 0 for an interface of one tag. `protocol`: the outer tag's. Called with the inner tags of an
  // outer one in ascending order.
  void add(std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner, InterfaceIndex interface);

  // kNoInterface: none has these tags, or its outer one is of another protocol.
  InterfaceIndex find(std::uint16_t protocol, std::uint16_t outer, std::uint16_t inner) const {
    const Outer& o = outer_[outer];
    if (inner == 0) return protocol == o.one_protocol ? o.one : kNoInterface;
    const std::size_t at = inner - std::size_t{o.first};  // lower values wrap around
    return at < o.count && protocol == o.two_protocol ? inner_[o.begin + at] : kNoInterface;
  }
  // True if some interface has these tags, with any protocol.
  bool has(std::uint16_t outer, std::uint16_t inner) const {
    const Outer& o = outer_[outer];
    return find(inner == 0 ? o.one_protocol : o.two_protocol, outer, inner) != kNoInterface;
  }
  std::size_t bytes() const { return sizeof(*this) + inner_.capacity() * sizeof(InterfaceIndex); }

 private:
  struct Outer {
    std::uint32_t begin = 0;             // start of its inner tags in inner_
    std::uint16_t first = 0, count = 0;  // inner tags, from the lowest to the highest
    InterfaceIndex one = kNoInterface;   // with this tag alone
    std::uint16_t one_protocol = 0, two_protocol = 0;
  };
  std::array<Outer, 4096> outer_{};
  std::vector<InterfaceIndex> inner_;
};

// The tags of an interface in common notation: `107`, `200.8`; of a template `200.*`.
std::string to_string(const InterfaceRecord& r);

class Interfaces {
 public:
  // `before`: the interfaces of the previous configuration. Throws std::runtime_error if there are more than
  // kMostInterfaces, previous ones included.
  explicit Interfaces(const config::Config& config, const Interfaces* before = nullptr);

  // Finds an interface by the tags of a frame: the outer VLAN ID is not 0, the inner one is 0 for one tag.
  // kNoInterface: none.
  InterfaceIndex find(std::uint8_t port, std::uint16_t protocol, std::uint16_t outer,
                      std::uint16_t inner) const {
    const TagTable* table = tables_[port].get();
    return table == nullptr ? kNoInterface : table->find(protocol, outer, inner);
  }
  // True if an interface has these tags, with any protocol.
  bool has(std::uint8_t port, std::uint16_t outer, std::uint16_t inner) const {
    return tables_[port] != nullptr && tables_[port]->has(outer, inner);
  }
  const InterfaceRecord& operator[](InterfaceIndex i) const { return records_[i]; }
  const InterfaceRecord* data() const { return records_.data(); }
  std::size_t size() const { return records_.size(); }  // all indices are below

  bool any_on(std::uint8_t port) const { return tables_[port] != nullptr; }
  // A port and all interfaces on it: the least MTU; true if one of them checks sources, has a filter for
  // received or for sent packets, or may get an IPv4 address by DHCP.
  std::uint16_t least_mtu(std::uint8_t port) const { return summaries_[port].least_mtu; }
  bool checks_sources(std::uint8_t port) const { return summaries_[port].checks_sources; }
  bool filters_in(std::uint8_t port) const { return summaries_[port].filters_in; }
  bool filters_out(std::uint8_t port) const { return summaries_[port].filters_out; }
  bool leased(std::uint8_t port) const { return summaries_[port].leased; }
  // True if frames that leave by the port may have notes of their interface (mbuf_notes.h).
  bool notes_on(std::uint8_t port) const { return any_on(port) || summaries_[port].addressed; }
  std::size_t ports() const { return tables_.size(); }
  // The interface of Config::interfaces[d]; a template's members follow it.
  InterfaceIndex of_definition(std::size_t d) const { return blocks_[d].first; }
  std::size_t definitions() const { return blocks_.size(); }
  std::string name(InterfaceIndex i) const;  // a member's is NAME.TAG
  bool exists(InterfaceIndex i) const { return i < records_.size() && records_[i].live; }
  // The customer of its contracts (`customer:`).
  const std::string& customer(InterfaceIndex i) const;
  // The addresses that it is known by; empty: it has a link of its own.
  const std::vector<Prefix>& prefixes(InterfaceIndex i) const;
  std::size_t bytes() const;

 private:
  // The indices of a definition.
  struct Block {
    std::string name;
    std::string customer;
    std::vector<Prefix> prefixes;
    std::optional<std::size_t> within{};  // definition of the template that has its place
    std::size_t port;
    std::uint16_t first_inner;
    InterfaceIndex first = 0;
    std::size_t count = 0;
  };
  static Block block_of(const config::Interface& i);
  void place_ports(const config::Config& config);
  void place(const config::Config& config, const Interfaces* before);
  static InterfaceIndex find_room(std::size_t count, const std::vector<bool>& taken, std::size_t from);
  void fill(const config::Config& config, const Block& block, std::size_t definition);
  void build_tables();

  struct Summary {
    std::uint16_t least_mtu = 0xffff;
    bool checks_sources = false, filters_in = false, filters_out = false, leased = false, addressed = false;
  };
  void summarize();

  std::vector<InterfaceRecord> records_;
  std::vector<Summary> summaries_;  // indexed by port
  std::vector<Block> blocks_;       // indexed by definition
  std::vector<Block> retired_;      // in the previous configuration, and not in this one
  std::vector<std::string> ports_;
  std::vector<std::shared_ptr<const TagTable>> tables_;  // indexed by port; nullptr: it has no interfaces
};

}  // namespace surety
