// SPDX-License-Identifier: BSD-3-Clause
// ShapedDevices.csv, the list of customers of LibreQoS, as subscribers known by their addresses.
//
// Each circuit, with all of its devices, is a subscriber, and each combination of its four rates a plan of
// the list: downstream a shaper of the maximum, with the minimum as weight among the others; upstream a
// contract with trTCM (RFC 2698), of which the minimum is committed, and packets beyond the maximum are
// dropped. The bursts are 100 ms of each rate. The rest of a plan and the marks follow a plan of the
// operator.
#pragma once

#include <string>
#include <vector>

#include "router/operate/subscribers/subscriber_list.h"

namespace surety {

struct ShapedDevicesTerms {
  std::string prefix;           // start of the names of plans
  Json plan = Json::object();   // a plan as in the configuration: its queues, filters and the like
  Json mark = Json::object();   // `mark` of its service
  Json place = Json::object();  // `port` or `interface` of all
};

bool is_shaped_devices(const std::vector<CsvRecord>& records);
// Throws BadList: also for rates of zero, or a minimum above its maximum, and for circuits without an
// address.
SubscriberList from_shaped_devices(const std::vector<CsvRecord>& records, const ShapedDevicesTerms& terms);

}  // namespace surety
