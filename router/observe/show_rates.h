// SPDX-License-Identifier: BSD-3-Clause
// Counters of a table that is shown again and again, as what they grew by in a second.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "router/observe/show.h"

namespace surety {

class ShowRates {
 public:
  // The first table stays as it is; in the others lines that were not there `elapsed` seconds ago have "-".
  void apply(ShownTable& table, double elapsed);

 private:
  // By what tells a line from others, the texts on its left: the counters.
  std::map<std::string, std::vector<double>> before_;
  bool any_ = false;
};

}  // namespace surety
