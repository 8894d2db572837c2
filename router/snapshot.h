// SPDX-License-Identifier: BSD-3-Clause
// A configuration made ready for the data plane: names are indices,
// rules a classifier, services small records.
//
// Immutable once built (CONTRIBUTING.md rule 8): a reload builds another one from the one before and
// publishes it. Flows and packets that wait refer to services and domains by index, so an index means the
// same in both: what is in both keeps its place, what is new stands behind, and what is gone stays,
// `retired`, for those that still have it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "aqm/class_moves.h"
#include "conditioners/csa_controller.h"
#include "conditioners/enhanced_token_bucket.h"
#include "config/config.h"
#include "router/classify/classifier.h"
#include "router/classify/filters.h"
#include "router/contracts/meter.h"
#include "router/interfaces/interfaces.h"
#include "router/interfaces/tag_admission.h"
#include "router/port_tree.h"
#include "router/vector.h"

namespace surety {

// What a service does to a packet, in the form the condition stage wants.
struct ServiceProgram {
  enum class Kind : std::uint8_t { none, csa, meter };
  Kind kind = Kind::none;
  std::uint8_t mark_in = kKeepDscp, mark_out = kKeepDscp, mark_red = kKeepDscp;
  bool drop_red = false;
  EnhancedTokenBucketParams csa;  // kind csa
  std::optional<Meter> meter;     // kind meter
  std::string name, conditioner;
  Rate committed;
  Bytes bucket{0};                  // that the committed rate fills
  std::optional<double> objective;  // config::Service::objective
  bool retired = false;             // no more in the configuration
};

// One alpha: the flows of services with the same CsaParams that leave by one class of one port
// (conditioners/README.md). With `max: auto` it stays the same one whatever is sold.
struct CsaDomain {
  // "port/class", with "/service" behind it where a class has several domains;
  // unique among those that are not retired.
  std::string name;
  PortIndex port = 0;
  std::size_t class_index = 0;
  CsaParams params;
  bool retired = false;  // no service of the configuration has it
  bool moved = false;    // its class is gone: it follows an heir's queue
};
inline constexpr std::uint16_t kNoDomain = 0xffff;
// How many domains reloads may add to those of the start: this many, or four times as many as those.
inline constexpr std::size_t kSpareDomains = 64;
// How many services that are no more in the configuration are kept.
inline constexpr std::size_t kMostRetired = 4096;

// What a port's queues are, and what has become of those of the snapshot before.
struct PortQueues : config::QueueSet {
  bool plain = true;         // the port has no `queues`, nor interfaces that have
  std::uint16_t layout = 0;  // another one whenever classes move
  ClassMoves moves;
  // What lies below the port, and what of the snapshot before; null: it has its own queues only.
  std::shared_ptr<const PortTree> tree, tree_before;
};

struct Snapshot {
  explicit Snapshot(config::Config c);
  // A reload. There must be as many places for ports as in `before`, with the same port at each, or none in
  // one of the two (config/port_places.h), and rules may match the DSCP only if some did at the start
  // (config/reload.h). A service of the same name and kind keeps its
  // place, also one that had been retired; a class of the same name is the same one. Throws
  // std::runtime_error where services or domains are more than there is room for.
  Snapshot(config::Config c, const Snapshot& before);

  config::Config config;
  std::shared_ptr<const Interfaces> interfaces;
  Classifier classifier;
  Filters filters;
  TagAdmission tags;
  // Those of the first configuration, then two of our own for what no rule matches: "unclassified" from
  // customer ports (best effort), "trusted" from core ports (the DSCP stays as it is); then those of reloads.
  std::vector<ServiceProgram> services;
  std::vector<std::uint16_t> service_of;  // where a service of the configuration stands among them
  std::vector<PortQueues> queues;         // one per port; ports without `queues` have one tail-drop class
  std::size_t ports = 0;                  // all that there are, or that domains are of, have numbers below
  std::vector<CsaDomain> domains;
  std::size_t domain_capacity = 0;  // domains.size() never exceeds it, after any reload
  std::vector<std::uint16_t>
      domain_of;  // [service * ports + port]; kNoDomain for other conditioners, or ports

  // What a rule of the configuration gives.
  std::uint16_t service_of_rule(std::size_t rule) const { return service_of[config.rules[rule].service]; }
  std::uint16_t unmatched(InterfaceIndex interface) const {
    return static_cast<std::uint16_t>(own_services_ + ((*interfaces)[interface].customer() ? 0 : 1));
  }
  // The service "unclassified": best effort, nothing promised and nothing kept.
  std::uint16_t best_effort() const { return own_services_; }
  // The domains of a service's flows, by egress port.
  const std::uint16_t* domains_of(std::uint16_t service) const { return domain_of.data() + service * ports; }
  std::uint16_t domain(PortIndex port, std::uint16_t service) const { return domains_of(service)[port]; }

 private:
  Snapshot(config::Config c, const Snapshot* before);
  void place_services(const Snapshot* before);
  std::uint16_t place(ServiceProgram program);
  void find_queues(const Snapshot* before);
  void take_domains(const Snapshot& before);
  void move_domains(PortIndex port);
  void find_domains(PortIndex port);
  std::uint16_t take_domain(const CsaDomain& domain);
  std::uint16_t place_domain(const CsaDomain& domain);

  std::uint16_t own_services_ = 0;  // "unclassified" stands there, "trusted" behind it
};

}  // namespace surety
