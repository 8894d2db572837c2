// SPDX-License-Identifier: BSD-3-Clause
// Addresses as configuration and routes have them, and as packets do.
#pragma once

#include "config/config.h"
#include "router/wire/bytes.h"
#include "router/wire/ip.h"

namespace surety {

inline IpAddress to_wire(const config::Address& a) {
  return a.v6 ? IpAddress::v6(a.bytes.data()) : IpAddress::v4(load<std::uint32_t>(a.bytes.data()));
}

inline config::Address from_wire(const IpAddress& a) {
  config::Address out;
  out.v6 = a.is_v6();
  if (out.v6) {
    store(out.bytes.data(), a.high);
    store(out.bytes.data() + 8, a.low);
  } else {
    store(out.bytes.data(), a.v4_as_loaded());
  }
  return out;
}

}  // namespace surety
