// SPDX-License-Identifier: BSD-3-Clause
// Common functions of TUN and TAP devices: creation, settings, bringing up.
//
// All functions work in the calling thread's network namespace, need CAP_NET_ADMIN, and throw
// std::runtime_error, one sentence, on failure.
#pragma once

#include <net/if.h>

#include <cstdint>
#include <span>
#include <string>

#include "router/process/fd.h"

namespace surety::tun {

// True if Linux accepts it as an interface name: 1 to 15 characters, without `/`, `:`, `%` and white space.
bool valid_name(const std::string& name);

// A non-blocking descriptor of a new device, which is removed when it is closed. `flags`: IFF_TUN or IFF_TAP
// and more. Throws if a device of that name exists.
Fd make(const std::string& name, short flags);

// The next packet or frame that the kernel sends by the device, at the start of `room`; empty: there is none
// now. A frame larger than the room is truncated to it.
std::span<const std::uint8_t> read(const Fd& fd, std::span<std::uint8_t> room);

ifreq request_for(const std::string& name);
// An ioctl on an interface; `what` as in "cannot `what`".
void configure(unsigned long command, ifreq& request, const std::string& what);
void bring_up(const std::string& name);

// net.<family>.conf.<device>.<key>; -1: there is none.
std::string setting_path(const std::string& family, const std::string& device, const std::string& key);
int read_setting(const std::string& path);
// Sets a setting unless it has the value already: in a container /proc/sys is often read-only.
bool ensure_setting(const std::string& path, int value);

}  // namespace surety::tun
