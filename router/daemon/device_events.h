// SPDX-License-Identifier: BSD-3-Clause
// The events of ports' devices that other programs change.
#pragma once

#include <string_view>

#include "config/config.h"
#include "router/operate/observe/events.h"

namespace surety::device_events {

// The port has no device; `why`: a sentence. `may_appear`: the router opens the device when it appears.
Event missing(const config::Port& port, std::string_view why, bool may_appear);
// The port's device was deleted or renamed, or is a PCI device that was removed.
Event gone(const config::Port& port, bool may_appear);
// The MTU of the port's device is now Port::device_mtu, or no longer below the port's.
Event mtu(const config::Port& port);
// The port has followed the MAC address of its device.
Event mac(const config::Port& port, const MacAddress& before, const MacAddress& now);

}  // namespace surety::device_events
