// `surety run FILE`.
#pragma once

#include <string>

namespace surety {

// SIGHUP: the key file of the signalling is read again, nothing else is.
// Exit status: 0 after SIGTERM or SIGINT; 1 when it could not start, with one sentence on standard error.
int run(const std::string& file);

}  // namespace surety
