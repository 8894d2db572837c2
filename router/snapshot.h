// A configuration made ready for the data plane: names are indices, rules a classifier, services small
// records.
//
// Immutable once built (DESIGN.md rule 8): a reload builds another one and publishes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conditioners/csa_controller.h"
#include "conditioners/enhanced_token_bucket.h"
#include "config/config.h"
#include "router/classifier.h"
#include "router/meter.h"
#include "router/vector.h"

namespace surety {

// What a service does to a packet, in the form the condition stage wants.
struct ServiceProgram {
  enum class Kind : std::uint8_t { none, csa, token_bucket, police, meter };
  Kind kind = Kind::none;
  std::uint8_t mark_in = kKeepDscp, mark_out = kKeepDscp, mark_red = kKeepDscp;
  bool drop_red = false;
  EnhancedTokenBucketParams csa;  // kind csa
  TokenBucketParams bucket;       // kinds token_bucket, police
  std::optional<Meter> meter;     // kind meter
  std::string name, conditioner;
  Rate committed;
};

// One alpha: the flows of services with the same CsaParams that leave by one class of one port (PAPERS.md,
// CSA).
struct CsaDomain {
  std::string name;  // "port/class", with "/service" behind it where a class has several domains
  PortIndex port = 0;
  std::size_t class_index = 0;
  CsaParams params;
};
inline constexpr std::uint16_t kNoDomain = 0xffff;

struct Snapshot {
  explicit Snapshot(config::Config c);

  config::Config config;
  Classifier classifier;
  // Those of the configuration, then two of our own for what no rule matches: "unclassified" from customer
  // ports (best effort), "trusted" from core ports (the DSCP stays as it is).
  std::vector<ServiceProgram> services;
  std::vector<config::QueueSet> queues;  // one per port; ports without `queues` have one tail-drop class
  std::vector<CsaDomain> domains;
  std::vector<std::uint16_t> domain_of;  // [service * ports + port]; kNoDomain for other conditioners

  std::uint16_t unmatched(PortIndex port) const {
    const bool customer = config.ports[port].trust == config::Port::Trust::customer;
    return static_cast<std::uint16_t>(services.size() - (customer ? 2 : 1));
  }
  // The service "unclassified": best effort, nothing promised and nothing kept.
  std::uint16_t best_effort() const { return static_cast<std::uint16_t>(services.size() - 2); }
  // By egress port, of a service's flows.
  const std::uint16_t* domains_of(std::uint16_t service) const {
    return domain_of.data() + service * config.ports.size();
  }
  std::uint16_t domain(PortIndex port, std::uint16_t service) const { return domains_of(service)[port]; }

 private:
  void find_domains(PortIndex port);
};

}  // namespace surety
