// SPDX-License-Identifier: BSD-3-Clause
// The sections of a router's configuration, one function each; each reads its node
// into the draft and reports.
#pragma once

#include "config/document.h"
#include "config/draft.h"

namespace surety::config {

class MapReader;

inline constexpr std::size_t kMaxPorts = 32;
inline constexpr std::uint64_t kMinMtu = 68, kMaxMtu = 9216;  // RFC 791; what every driver can do
inline constexpr std::uint64_t kMaxCore = 1023;

void read_version(MapReader& map, Problems& problems);
void read_router(const Node& node, Draft& draft);
void read_workers(const Node& node, Draft& draft);
void read_ports(const Node& node, Draft& draft);  // after queues
void read_device(const Node& node, Device& device, Draft& draft);
void read_port_workers(MapReader& port, Port& out, Draft& draft);  // after workers
void read_twin(const Node& node, Port& port, Problems& problems);  // after the port's device
void read_interface_addresses(const Node& node, std::vector<Prefix>& addresses, std::vector<Mark>& places,
                              Problems& problems);
void read_routes(const Node& node, Draft& draft);     // after ports
void read_neighbors(const Node& node, Draft& draft);  // after ports
void read_queues(const Node& node, Draft& draft);
void read_rio(const Node& node, RioParams& rio, Problems& problems);
void read_services(const Node& node, Draft& draft);
// The word after `conditioner` and what belongs to it; false: not known, and reported.
bool read_conditioner(MapReader& map, Service& s, Draft::ServicePlaces& places, Problems& problems);
void read_classify(const Node& node, Draft& draft);    // after ports and services
void read_aggregates(const Node& node, Draft& draft);  // after ports and queues
void read_signalling(const Node& node, Draft& draft);
void read_metrics(const Node& node, Draft& draft);
void read_flow_table(const Node& node, Draft& draft);
void read_dpdk(const Node& node, Draft& draft);
void read_kernel(const Node& node, Draft& draft);

// All sections of `map` (but `version`) in the order their references need.
// The lab uses it for its inline routers.
void read_sections(MapReader& map, Draft& draft);

// The text of a file, as far as a Document takes it; none: reported.
std::optional<std::string> read_text(const std::string& path, Problems& problems);

// What only the whole file shows. Errors; and, in a file without errors, warnings.
void validate_ports(Draft& draft);
void validate_signalling(Draft& draft);
void settle_auto_max(Draft& draft);  // of `alpha`; in a file without errors
void validate_aggregates(Draft& draft);
void warn_about_routes(Draft& draft);
void warn_about_services(Draft& draft);
void warn_about_covered_rules(Draft& draft);
void warn_about_committed_rates(Draft& draft);
void warn_about_unused(Draft& draft);
void validate(Draft& draft);

}  // namespace surety::config
