// SPDX-License-Identifier: BSD-3-Clause
// The events of ports' devices that other programs change.
#pragma once

#include "config/config.h"
#include "router/operate/observe/events.h"

namespace surety::device_events {

// The MTU of the port's device is now Port::device_mtu, or no longer below the port's.
Event mtu(const config::Port& port);
// The port has followed the MAC address of its device.
Event mac(const config::Port& port, const MacAddress& before, const MacAddress& now);

}  // namespace surety::device_events
