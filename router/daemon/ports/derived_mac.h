// SPDX-License-Identifier: BSD-3-Clause
// MAC addresses for ports whose device has none of its own, made from names: the same after every start, and
// never the same at two ends of a link.
#pragma once

#include <string_view>

#include "config/config.h"

namespace surety {

// Locally administered, unicast.
MacAddress derived_mac(std::string_view router, std::string_view port);

// Gives a port one that has no `mac:` and a device without an address that lasts: memif, virtio-user, vhost,
// tap (the address of its kernel device is the other end's).
void derive_mac(config::Port& port, std::string_view router);
void derive_macs(config::Config& config);  // all ports, from the router's name

}  // namespace surety
