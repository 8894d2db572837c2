// SPDX-License-Identifier: BSD-3-Clause
// Which rows of a table are shown, and in what order.
//
// A key is a member of the rows (`port`, `in.packets`: as --json has them) or the title of a column, in any
// case, with `_` for a blank. KEY=VALUE keeps the rows whose member, or whose cell, is VALUE, KEY!=VALUE the
// others; `*` in VALUE stands for anything, and upper and lower case are one. A row without the member is
// none with VALUE. All conditions must hold.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "router/observe/show_columns.h"

namespace surety {

struct Selection {
  std::vector<std::string> where{};  // KEY=VALUE, KEY!=VALUE
  std::optional<std::string>
      sort{};  // KEY: numbers from the largest, others from A to Z; who has none comes last
  std::optional<std::size_t> top{};  // so many
};

// `last`: without an order, the top are the last ones. Throws std::invalid_argument, one sentence, where
// there is no such key.
void select(std::vector<Json>& rows, const Columns& columns, const Selection& selection, bool last = false);

}  // namespace surety
