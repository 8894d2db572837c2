// SPDX-License-Identifier: BSD-3-Clause
// Counters of a table that is shown repeatedly, as growth per second.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "router/operate/observe/show.h"

namespace surety {

class ShowRates {
 public:
  // The first table is unchanged; in the others lines that did not exist `elapsed` seconds ago have "-".
  void apply(ShownTable& table, double elapsed);

 private:
  // Counters of a line, by its left-aligned texts, which identify it.
  std::map<std::string, std::vector<double>> before_;
  bool any_ = false;
};

}  // namespace surety
