// SPDX-License-Identifier: BSD-3-Clause
// `surety run FILE`.
#pragma once

#include <string>

namespace surety {

// SIGHUP: the configuration and the key file are read again (config/reload.h); what cannot be taken over
// changes nothing, and is told on standard error and by surety_config_last_reload_successful. Exit status: 0
// after SIGTERM or SIGINT; 1 when it could not start, 2 when a worker stood still for a second or the control
// thread for half a minute (watchdog.h), with one sentence on standard error.
// `take_over`: from a router of the same name, where one runs (hand_over.h).
int run(const std::string& file, bool take_over = false);

}  // namespace surety
