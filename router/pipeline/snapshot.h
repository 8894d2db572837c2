// SPDX-License-Identifier: BSD-3-Clause
// A configuration compiled for the data plane: names are indices, rules a classifier, services small records.
//
// Immutable once built (CONTRIBUTING.md rule 8): a reload builds another one from the one before and
// publishes it. Flows and held packets refer to services and domains by index, so an index means the same in
// both snapshots: common entries keep their index, new ones are appended, and removed ones stay, `retired`,
// for the flows and packets that refer to them.
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
#include "router/pipeline/burst.h"
#include "router/pipeline/classify/classifier.h"
#include "router/pipeline/classify/filter.h"
#include "router/pipeline/classify/host_filters.h"
#include "router/pipeline/flows/meter.h"
#include "router/pipeline/interfaces/interfaces.h"
#include "router/pipeline/port_tree.h"

namespace surety {

// A service's treatment of packets, in the form that the condition stage uses.
struct ServiceProgram {
  enum class Kind : std::uint8_t { none, csa, meter };
  Kind kind = Kind::none;
  std::uint8_t mark_in = kKeepDscp, mark_out = kKeepDscp, mark_red = kKeepDscp;
  // DSCPs of arrivals that a colour-aware meter takes for OUT and red; kKeepDscp: for none.
  std::uint8_t came_out = kKeepDscp, came_red = kKeepDscp;
  bool drop_red = false;
  EnhancedTokenBucketParams csa;  // kind csa
  std::optional<Meter> meter;     // kind meter
  std::string name, conditioner;
  Rate committed;
  Bytes bucket{0};                  // capacity, filled at the committed rate
  std::optional<double> objective;  // config::Service::objective
  bool retired = false;             // not in the configuration

  // Colour with which a packet comes to the meter. A packet with none of the DSCPs is uncoloured, and metered
  // as in colour-blind mode, which treats every packet as green (RFC 2697 section 3).
  Color color_of(std::uint8_t traffic_class) const {
    const int dscp = traffic_class >> 2;
    return dscp == came_red ? Color::red : dscp == came_out ? Color::yellow : Color::green;
  }
};

// One alpha: the flows of services with the same CsaParams that leave by one class of one port
// (conditioners/README.md). With `max: auto` the domain stays the same for any committed rates.
struct CsaDomain {
  // "port/class", with "/service" behind it where a class has several domains;
  // unique among those that are not retired.
  std::string name;
  PortIndex port = 0;
  std::size_t class_index = 0;
  CsaParams params;
  bool retired = false;  // no service of the configuration has it
  bool moved = false;    // class removed: follows the queue of the class that has its packets
};
inline constexpr std::uint16_t kNoDomain = 0xffff;
// Domains that reloads may add: this many, or four times the number at the start if that is more.
inline constexpr std::size_t kSpareDomains = 64;
// The most retired services that are kept.
inline constexpr std::size_t kMostRetired = 4096;

// A port's queues, and the changes from those of the previous snapshot.
struct PortQueues : config::QueueSet {
  bool plain = true;         // the port has no `queues`, nor interfaces that have
  std::uint16_t layout = 0;  // changes whenever classes move, and with the DSCPs that are red
  ClassMoves moves;
  // The plans of the queues below the port, now and in the previous snapshot; nullptr: it has its own queues
  // only.
  std::shared_ptr<const PortTree> tree, tree_before;
};

struct Snapshot {
  explicit Snapshot(config::Config c);
  // A reload. There must be as many places for ports as in `before`, with the same port at each, or none in
  // one of the two, and rules may match the DSCP only if some did at the start (config/reload.h). A service
  // of the same name and kind keeps its place, also one that had been retired; a class of the same name is
  // the same one. Throws std::runtime_error where services or domains are more than there is room for.
  Snapshot(config::Config c, const Snapshot& before);

  config::Config config;
  std::shared_ptr<const Interfaces> interfaces;
  Classifier classifier;
  Filters filters;
  HostFilters host_filters;
  TagAdmission tags;
  // The services of the first configuration, then two built-in ones for packets that no rule matches:
  // "unclassified" from customer ports (best effort), "trusted" from core ports (the DSCP stays as it is);
  // then those of reloads.
  std::vector<ServiceProgram> services;
  std::vector<std::uint16_t> service_of;  // index into `services` of each service of the configuration
  std::vector<PortQueues> queues;         // one per port; ports without `queues` have one tail-drop class
  std::size_t ports = 0;  // all ports, also those that only domains refer to, have lower numbers
  std::vector<CsaDomain> domains;
  std::size_t domain_capacity = 0;  // domains.size() never exceeds it, after any reload
  std::vector<std::uint16_t>
      domain_of;  // [service * ports + port]; kNoDomain for other conditioners, or ports

  // The service of a rule of the configuration.
  std::uint16_t service_of_rule(std::size_t rule) const { return service_of[config.rules[rule].service]; }
  std::uint16_t unmatched(InterfaceIndex interface) const {
    return static_cast<std::uint16_t>(own_services_ + ((*interfaces)[interface].customer() ? 0 : 1));
  }
  // The service "unclassified": best effort, without guarantee or state.
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

  std::uint16_t own_services_ = 0;  // index of "unclassified"; "trusted" follows
};

}  // namespace surety
