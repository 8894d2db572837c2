// SPDX-License-Identifier: BSD-3-Clause
// `surety run FILE`.
#pragma once

#include <string>

namespace surety {

// SIGHUP: the configuration and the key file are read again (config/reload.h); a configuration that cannot be
// adopted changes nothing, and is reported on standard error and by surety_config_last_reload_successful.
// Exit status: 0 after SIGTERM or SIGINT; 1 when it could not start, 2 when a worker was stalled for a second
// or the control thread for half a minute (watchdog.h), with one sentence on standard error. `take_over`:
// take over from a running router of the same name, if there is one (hand_over.h).
int run(const std::string& file, bool take_over = false);

}  // namespace surety
