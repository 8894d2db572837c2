// SPDX-License-Identifier: BSD-3-Clause
// Another configuration for a router that runs.
//
// Taken over while it runs: routes, neighbours, services, classification, aggregates, interfaces, groups,
// filters, `pcp`, how many top flows and contracts are shown, ports (another device parameter makes another
// port: port_places.h), the parameters of queues and classes, the creation rate of flows, the signalling's
// `key_file` and whether it observes or acts, the metrics' `tls` and `password_file`. Changes of the memory
// and threads made at start are refused, each at its place in the file: they take a restart. The same holds
// for the first rules that match `dscp`; for devices of kinds that need privileges which have been dropped;
// and with `router: {new_ports: off}` for all devices that would have to be opened.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/parse.h"

namespace surety::config {

// A difference from `running` that needs a restart.
struct Fixed {
  std::vector<std::string> path;  // keys of the file, and places in its lists, from 0: {"metrics", "listen"}
  std::string message;
};
std::vector<Fixed> fixed(const Config& running, const Config& next);

// Errors of a port's device, at the port's mark in the parsed tree.
std::vector<Diagnostic> port_error(const Tree& tree, std::string_view port, std::string_view message);

}  // namespace surety::config
