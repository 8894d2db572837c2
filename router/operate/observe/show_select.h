// SPDX-License-Identifier: BSD-3-Clause
// Selects and sorts the rows of a table.
//
// A key is a member of the rows (`port`, `in.packets`: as --json has them) or the title of a column, in any
// case, with `_` for a blank. KEY=VALUE keeps the rows whose member, or whose cell, is VALUE, KEY!=VALUE the
// others; `*` in VALUE matches anything, and case is ignored. A row without the member does not match VALUE.
// All conditions must hold.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/operate/observe/show_columns.h"

namespace surety {

struct Selection {
  std::vector<std::string> where{};  // KEY=VALUE, KEY!=VALUE
  std::optional<std::string>
      sort{};  // KEY: numbers from the largest, others from A to Z; rows without KEY last
  std::optional<std::size_t> top{};  // number of rows
};

// `last`: without `sort`, `top` keeps the last rows. Throws std::invalid_argument, one sentence, if there is
// no such key.
void select(std::vector<Json>& rows, const Columns& columns, const Selection& selection, bool last = false);

}  // namespace surety
