// SPDX-License-Identifier: BSD-3-Clause
// The sections of an experiment, read one after the other. For experiment_*.cc.
#pragma once

#include "config/reader.h"
#include "tests/lab/papers/experiment.h"

namespace surety::lab {

// `{senders.long.protocol: tfrc, routers.core.queues.q.assured.rio.out: {min: 5, max: 15, pmax: 0.1}}`,
// appended.
void read_settings(const config::Node& node, std::vector<Setting>& out, config::Problems& problems);
void read_sweep(const config::Node& node, Experiment& e, config::Problems& problems);

// After the variants and the sweep: expressions name them.
void read_rows(const config::Node& node, Experiment& e, config::Problems& problems);
void read_plots(const config::Node& node, Experiment& e, config::Problems& problems);

std::optional<double> number_in(std::string_view text);  // all of it
bool read_number(const config::Node& node, double& out, config::Problems& problems);
std::vector<double> read_numbers(const config::Node& node, config::Problems& problems);

// Names of the variants as expressions take them: none if there is one nameless variant.
std::vector<std::string> variant_names(const Experiment& e);
std::optional<Expression> read_expression(const config::Node& node, const Experiment& e,
                                          config::Problems& problems);
// `at: 20`, the x of a point.
std::optional<std::size_t> read_point(const config::Node& node, const Experiment& e,
                                      config::Problems& problems);

}  // namespace surety::lab
