// SPDX-License-Identifier: BSD-3-Clause
// Another configuration for a router that runs.
//
// Taken over while it runs: routes, neighbours, services, classification, aggregates, interfaces, groups,
// filters, `pcp`, how many top flows and contracts are shown, a port's addresses, `shape`, `burst` and
// `overhead`, the parameters of queues and classes, the creation rate of flows, the signalling's `key_file`
// and whether it observes or acts, the metrics' `tls` and `password_file`. What memory, devices and threads
// were made for at the start is refused, each at its place in the file: it takes a restart. So are the first
// rules that match `dscp`.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "config/parse.h"

namespace surety::config {

// As parse(); besides, an error for each thing that differs from `running` and cannot change.
ParseResult parse_reload(const Config& running, std::string_view text, const std::string& file_name);
// `hash`: the text's fingerprint (hash.h), where it could be read.
ParseResult parse_reload_file(const Config& running, const std::string& path, std::string& hash);

}  // namespace surety::config
