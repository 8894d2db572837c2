// SPDX-License-Identifier: BSD-3-Clause
// A TCP socket that listens at an address of the configuration.
#pragma once

#include <string>

#include "router/process/fd.h"

namespace surety {

// `listen` is "host:port", "[v6]:port", or with port 0 for any free one. Throws std::runtime_error, one
// sentence with the reason and the fix.
Fd listen_at(const std::string& listen);
// Throws as listen_at() does, except for a port that is in use or needs a privilege.
void check_address(const std::string& listen);
int port_of(const Fd& listener);
bool is_loopback(const Fd& listener);  // only this machine reaches it

}  // namespace surety
