// SPDX-License-Identifier: BSD-3-Clause
// The rules of the configuration, first match wins, by rte_acl; consulted when a flow is created, not for
// each packet.
//
// Rules of subscribers known by addresses are behind all others, and found by the source alone, without
// rte_acl: one more subscriber among thousands costs milliseconds.
//
// A rule with a port or an interface applies there; others apply to all with `trust: customer`. A rule that
// constrains ports matches no fragment and no protocol without ports. Needs the EAL (acl.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "router/pipeline/classify/acl.h"
#include "router/pipeline/interfaces/interfaces.h"
#include "router/pipeline/interfaces/prefix_map.h"
#include "router/pipeline/wire/headers.h"

namespace surety {

class Classifier {
 public:
  // Throws std::runtime_error when rte_acl cannot build the rules (memory). At most kMaxPorts ports and 65535
  // rules. `before`: the classifier of the previous configuration; contracts of a rule in both, with the same
  // match, `per` and prefix lengths, keep their keys, at any position. A key of a removed rule is never used
  // for another. `interfaces`: numbering of the packets' interfaces; nullptr: of this configuration alone.
  explicit Classifier(const config::Config& config, const Classifier* before = nullptr,
                      std::shared_ptr<const Interfaces> interfaces = nullptr);

  // Index of the first rule that matches a packet received on `port`. `packet` is as parse() made it.
  std::optional<std::uint16_t> match(const ParsedPacket& packet, std::uint8_t port) const;
  // match() for up to kMostAtOnce packets of one port, at a fraction of the cost: rules[i] is kNoRule if none
  // matches.
  static constexpr std::size_t kMostAtOnce = Acl::kMostAtOnce;
  static constexpr std::uint16_t kNoRule = 0xffff;
  void match(std::span<const ParsedPacket* const> packets, std::uint8_t port,
             std::span<std::uint16_t> rules) const;

  // True if some rule matches the DSCP, which must then be part of the flow key (ParseContext::match_dscp),
  // or if one did before a reload: changing keys would let packets overtake others that are held under the
  // previous key.
  bool uses_dscp() const { return uses_dscp_; }
  // True if some rule may match a packet of that port.
  bool classifies(std::uint8_t port) const { return classifies_[port]; }

  // The key of the contract of a packet of this rule, which must not be `per: flow`. Class `shared`, the
  // rule's id in the low bits of `rest`; without an address in the key, IPv4 and IPv6 share the contract. Of
  // the packet's tags it has those of the interface or the rule, with `per: vlan` always the outer one: never
  // a tag that the sender may choose.
  FlowKey contract_key(std::uint16_t rule, const ParsedPacket& packet) const;
  // The key of the excess contract of the rule for an interface, shared by packets without room for a
  // contract of their own (`contracts:`), also with `per: flow`. It has the interface's port and tags, and an
  // address that no other contract's key has.
  FlowKey excess_key(std::uint16_t rule, const ParsedPacket& packet) const;
  static bool is_excess(const FlowKey& key) {
    return !key.v6 && key.rest >> 61 == static_cast<std::uint64_t>(FlowKey::Class::shared) &&
           key.address[0] == ~std::uint64_t{0};
  }
  // Identifies the rule among all rules since the start.
  std::uint32_t id(std::uint16_t rule) const { return contracts_[rule].id; }

 private:
  void match_family(std::span<const ParsedPacket* const> packets, bool v6, std::uint8_t port,
                    std::span<std::uint16_t> rules) const;

  struct Contract {
    config::Rule::Per per;
    std::uint8_t prefix_v4, prefix_v6;
    bool names_inner;  // the rule names an inner tag
    std::uint32_t id;
  };
  void give_ids(const config::Config& config, const Classifier* before);
  void find_classified(const config::Config& config);
  void list(const config::Config& config);
  void build(const config::Config& config, const Classifier* before);
  std::uint16_t rule_of_host(const ParsedPacket& packet) const;

  // A rule in the tables.
  struct Listed {
    std::uint32_t number;
    config::Match match;   // without its interface
    InterfaceIndex named;  // the rule's interface; kNoInterface: none
    friend bool operator==(const Listed&, const Listed&) = default;
  };
  std::vector<Listed> listed_;
  std::shared_ptr<const Acl> v4_,
      v6_;  // shared with the previous classifier if the rules listed are the same
  std::unordered_map<InterfaceIndex, PrefixMap> hosts_;  // rules of subscribers, by link
  std::vector<Contract> contracts_;                      // indexed by rule
  std::vector<std::string> identities_;                  // indexed by rule: identity across reloads
  std::uint32_t next_id_ = 0;
  std::shared_ptr<const Interfaces> interfaces_;
  std::vector<std::uint8_t> classifies_;  // indexed by port
  bool uses_dscp_ = false;
};

}  // namespace surety
