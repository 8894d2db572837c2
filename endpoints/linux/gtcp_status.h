// SPDX-License-Identifier: BSD-3-Clause
// `surety-gtcp status`: what the operator sees of the attached congestion control.
#pragma once

#include <string>
#include <vector>

#include "endpoints/linux/gtcp_reservations.h"

namespace surety::endpoints {

struct GtcpStatus {
  bool attached = false;
  bool allowed = false;  // to users without CAP_NET_ADMIN
  std::vector<Reservation> reservations;
  GtcpTotals totals;
};

std::string status_text(const GtcpStatus& status);
std::string status_json(const GtcpStatus& status);  // one line; rates in bit/s

}  // namespace surety::endpoints
