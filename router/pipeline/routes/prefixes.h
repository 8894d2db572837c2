// SPDX-License-Identifier: BSD-3-Clause
// Order and ends of prefixes, for the tables of the control plane.
#pragma once

#include "config/address.h"

namespace surety {

inline Prefix host_prefix(const IpAddress& a) {
  return {a, a.bits()};
}
inline bool is_host(const Prefix& p) {
  return p.length == p.address.bits();
}

// The last address of a prefix; the first is masked().address.
inline IpAddress last_address(const Prefix& p) {
  const IpAddress mask = p.mask();
  return {p.address.high | ~mask.high, p.address.low | ~mask.low};
}

// True if packets to it can be forwarded. Link-local scope of IPv6 and multicast never reach the FIB, since
// parse() punts them; nor do reserved IPv4 addresses (240.0.0.0/4), which it drops.
inline bool is_forwardable(const Prefix& p) {
  if (!p.address.is_v6()) return p.address.data()[0] < 224;
  return !(p.length >= 8 && is_multicast(p.address)) && !(p.length >= 10 && is_link_local_v6(p.address));
}

}  // namespace surety
