// SPDX-License-Identifier: BSD-3-Clause
// The sections of a router's configuration, one function each; each reads its node
// into the draft of the configuration and reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/text/document.h"
#include "config/text/problems.h"
#include "config/text/tree.h"

namespace surety::config {

// Names in the order of the file -> indices. A repeated name keeps its place in the
// order, and means the first.
class Names {
 public:
  Names() = default;
  explicit Names(const Node* map);  // the keys of a map; null: none
  void add(std::string_view name);

  std::optional<std::size_t> find(std::string_view name) const;
  // The index of the item that a reference names; reports an unknown name, with the known ones.
  std::optional<std::size_t> resolve(const Node& reference, std::string_view noun, Problems& problems) const;

 private:
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

// A configuration while it is being read: the Config so far, the names that references resolve to, and the
// marks of items that are checked once all is read.
struct Draft {
  Draft(Problems& p, std::string d) : problems(p), directory(std::move(d)) {}

  Config config;
  Problems& problems;
  std::string directory;  // directory of the file; relative file names start there
  bool lab = false;       // a router of a scenario: its ports need no device, its signals no key and no id
  bool names_id = false;  // `router` has an `id`, right or wrong

  // Subscribers are interfaces, behind those of their own section.
  Names ports, groups, filters, interfaces, queues, services, plans;

  struct PortPlaces {
    Mark name, device, mtu;
    std::vector<Mark> addresses;
    std::optional<Mark> twin{};
    Mark shape{};
  };
  struct GroupPlaces {
    Mark name, shape;
    bool known = false;  // true: its port exists
  };
  struct FilterPlaces {
    Mark name;
    std::vector<Mark> entries;
  };
  struct InterfacePlaces {
    Mark name, tags, protocol, mtu, shape;
    bool known = false;  // true: its port exists, and its tags are valid
    std::vector<Mark> addresses;
    std::optional<Mark> group{}, twin{};
  };
  // The terms that a plan gives the interfaces of its subscribers.
  struct Plan {
    std::optional<std::size_t> service{};
    Interface like;  // shaper, weight, queues and filters
    bool has_overhead = false;
  };
  struct SubscriberRule {
    std::size_t interface, service;
    Mark at;
  };
  struct ServicePlaces {
    Mark name, mark;
    std::vector<std::pair<Mark, Bytes>> buckets;  // depths of the buckets that count bytes
    std::optional<Mark> buffer;
    struct AutoMax {  // `max: auto` of `alpha`
      Mark at;
      Bytes packet;  // nominal packet of the service
    };
    std::optional<AutoMax> auto_max;
  };
  struct AggregatePlaces {
    Mark rate;
  };
  struct SignallingPlaces {
    Mark mode;
    std::optional<Mark> borders;
  };
  std::vector<PortPlaces> port_places;
  std::vector<GroupPlaces> group_places;
  std::vector<FilterPlaces> filter_places;
  std::vector<InterfacePlaces> interface_places;
  std::vector<Plan> plan_terms;
  std::size_t numbered = 0;  // interfaces of section `interfaces`, which are before the subscribers
  std::vector<SubscriberRule> subscriber_rules;
  std::vector<Mark> route_places;
  std::vector<std::vector<Mark>> gateway_places;  // per route, per next hop
  std::vector<Mark> queue_places;
  struct ClassPlaces {
    std::optional<Mark> limit, rate;  // marks of these keys; none: not given
  };
  std::vector<std::vector<ClassPlaces>> class_places;  // per queue set and class
  std::vector<Mark> neighbor_places;
  std::vector<ServicePlaces> service_places;
  std::vector<Mark> rule_places;
  std::vector<AggregatePlaces> aggregate_places;
  SignallingPlaces signalling_places;

  // Oversubscription is an error or a warning, depending on `admission`.
  void oversold(Mark at, std::string message) {
    config.admission == Config::Admission::refuse ? problems.error(at, std::move(message))
                                                  : problems.warning(at, std::move(message));
  }

  // The name relative to the program's working directory; `at`: its mark, since it starts at that file's
  // directory.
  std::string file_name(const std::string& name, Mark at) const;
};

class MapReader;

// The members of templates counted; ports have the numbers that the interfaces leave.
inline constexpr std::size_t kMaxInterfacesOfPort = 4096, kMaxInterfaces = 65'536 - 64;
inline constexpr std::uint64_t kMaxVlan = 4094;               // 4095 is reserved (802.1Q)
inline constexpr std::uint64_t kMinMtu = 68, kMaxMtu = 9216;  // RFC 791; what every driver can do
inline constexpr std::uint64_t kMaxCore = 1023;

void read_version(MapReader& map, Problems& problems);
void read_router(const Node& node, Draft& draft);
void read_workers(const Node& node, Draft& draft);
void read_ports(const Node& node, Draft& draft);  // after queues
void read_device(const Node& node, Device& device, Draft& draft);
void read_port_workers(MapReader& port, Port& out, Draft& draft);  // after workers
void read_twin(const Node& node, std::optional<std::string>& twin, Problems& problems);
void read_shaper(MapReader& map, PortShaperParams& shaper, Problems& problems);
// `trust` and `source_check`, whose default follows from it.
void read_trust(MapReader& map, Port::Trust& trust, Port::SourceCheck& check);
void read_source_check(MapReader& map, Port::Trust trust, Port::SourceCheck& check);
void read_interface_addresses(const Node& node, std::vector<Prefix>& addresses, std::vector<Mark>& places,
                              Problems& problems);
void read_groups(const Node& node, Draft& draft);  // after ports
void read_filters(const Node& node, Draft& draft);
// The names of the filters of a port or interface, which need not be read yet.
void read_filter_names(MapReader& map, std::string_view noun, std::optional<std::size_t>& in,
                       std::optional<std::size_t>& out, Draft& draft);
void read_interfaces(const Node& node, Draft& draft);   // after ports, groups and filters
void read_plans(const Node& node, Draft& draft);        // after filters
void read_subscribers(const Node& node, Draft& draft);  // after interfaces and plans
void read_pcp(const Node& node, Draft& draft);
// `port` or `interface` of an item at one of them; null: neither key is there.
const Node* read_outlet(MapReader& map, std::optional<std::size_t>& port,
                        std::optional<std::size_t>& interface, Draft& draft);
void read_routes(const Node& node, Draft& draft);     // after ports and interfaces
void read_neighbors(const Node& node, Draft& draft);  // after ports and interfaces
void read_queues(const Node& node, Draft& draft);
void read_rio(const Node& node, RioParams& rio, Problems& problems);
// The thresholds of a class with IN and OUT packets that has no `rio`, in parts of its limit of packets.
RioParams derived_rio(std::uint32_t limit);
void read_services(const Node& node, Draft& draft);
// The word after `conditioner` and what belongs to it; false: not known, and reported.
bool read_conditioner(MapReader& map, Service& s, Draft::ServicePlaces& places, Problems& problems);
// Matches of a rule, and of an entry of a filter, which has no port and interface.
void read_rule_match(const Node& node, Match& m, Draft& draft);  // after ports and interfaces
// A prefix or a list of them, masked and sorted, none within another.
void read_prefixes(const Node* node, std::string_view key, std::vector<Prefix>& out, Problems& problems);
// The interface that a reference names, if it has a link of its own.
std::optional<std::size_t> resolve_link(const Node& reference, Draft& draft);
void read_filter_match(const Node& node, Match& m, Problems& problems);
bool matches_all(const Match& m);
// The pairs of a source and a destination of the match, which the tables of the data plane hold one by one.
std::size_t pairs_of(const Match& m);
// Number of interfaces of `i`, which is one of `c`, whose packets the rule can match.
std::size_t matched(const Match& m, const Interface& i, const Config& c);
// True if the rule matches all packets of the interface, which is one of `c`.
bool is_for_all_of(const Match& rule, const Interface& i, const Config& c);
// The number of interfaces by which packets that match the rule can come. A port counts as one: for untagged
// packets, and for tags of none of its interfaces.
std::size_t places_of(const Match& m, const Config& c);
void read_classify(const Node& node, Draft& draft);    // after ports, interfaces and services
void add_rules_of_subscribers(Draft& draft);           // after classify
void read_aggregates(const Node& node, Draft& draft);  // after ports, interfaces and queues
void read_signalling(const Node& node, Draft& draft);
void read_metrics(const Node& node, Draft& draft);
void read_log(const Node& node, Draft& draft);
void read_flow_table(const Node& node, Draft& draft);
void read_dpdk(const Node& node, Draft& draft);
void read_icmp(const Node& node, Draft& draft);
void read_kernel(const Node& node, Draft& draft);

// All sections of `map` (but `version`) in the order their references need.
// The lab uses it for its inline routers.
void read_sections(MapReader& map, Draft& draft);

// Checks that need the whole file. Errors; and, in a file without errors, warnings.
void validate_ports(Draft& draft);
void validate_interfaces(Draft& draft);
void validate_signalling(Draft& draft);
void validate_parts(Draft& draft);   // `rate: 10 %` of a class; in a file without errors
void settle_auto_max(Draft& draft);  // `max: auto` of `alpha`; in a file without errors
// A burst of a three-colour meter is at least the largest packet of a customer (RFC 2697, section 2), or a
// packet that is larger than its bucket would never conform. In a file without errors.
void settle_bursts(Draft& draft);
void validate_aggregates(Draft& draft);
void warn_about_interfaces(Draft& draft);
void warn_about_filters(Draft& draft);
void warn_about_overlaps(Draft& draft);
void warn_about_routes(Draft& draft);
void warn_about_services(Draft& draft);
void warn_about_covered_rules(Draft& draft);
void warn_about_sources(Draft& draft);
void warn_about_contracts(Draft& draft);
void warn_about_aggregates(Draft& draft);
void check_admission(Draft& draft);
void warn_about_shares(Draft& draft);
void warn_about_marks(Draft& draft);
void warn_about_unused(Draft& draft);
void validate(Draft& draft);

}  // namespace surety::config
