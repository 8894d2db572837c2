// SPDX-License-Identifier: BSD-3-Clause
// The sections of an endpoint's configuration,
// one function each; each reads its node into the draft and reports.
#pragma once

#include <string>
#include <vector>

#include "config/sections.h"
#include "endpoints/config/endpoints.h"

namespace surety::config {

class MapReader;

struct EndpointsDraft {
  static constexpr std::size_t kUnknown = ~std::size_t{0};  // the index of a port that does not exist

  EndpointsDraft(Problems& p, std::string directory) : problems(p), base(p, std::move(directory)) {
    base.config.metrics = config.metrics;
  }

  Endpoints config;
  Problems& problems;
  // Sections as in a router's file: the ports (without their gateways), `metrics`, `dpdk`.
  Draft base;

  struct SenderPlaces {
    Mark name, to, packet, flows;
  };
  std::vector<std::vector<Mark>> listen_places;  // per sink
  std::vector<SenderPlaces> sender_places;
};

void read_endpoint_ports(const Node& node, EndpointsDraft& draft);
void read_sinks(const Node& node, EndpointsDraft& draft);    // after ports
void read_senders(const Node& node, EndpointsDraft& draft);  // after ports

// A sender but for the keys that say from where to where it sends (`port` and `to`; the lab has others). The
// map's other keys are reported as the protocol demands.
void read_sender(MapReader& map, Sender& sender, Problems& problems);
// A time like `0 s`, or a range like `0 s - 100 ms`. False: reported.
bool read_time_range(const Node& node, TimeRange& out, Problems& problems);
// `ack` and `in`: parameters of a flow's receiver, from a sink or from the lab's senders.
void read_sink_params(MapReader& map, endpoints::SinkParams& params, Problems& problems);
// The keys of the protocol itself, into sender.params; for read_sender() alone.
void read_protocol_options(MapReader& map, Sender& sender, endpoints::SenderParams common,
                           Problems& problems);

// Checks that need the whole file: errors, and warnings.
void validate_endpoints(EndpointsDraft& draft);

}  // namespace surety::config
