// SPDX-License-Identifier: BSD-3-Clause
// The tables of `surety show` for people, in human units; "-" stands for what does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "router/observe/show_columns.h"

namespace surety {

// Of one of kTables or kOwnTables; of `signalling`, which has paragraphs, none.
Columns columns_of(std::string_view what);

// Its lines, of the rows of a router: columns with a member that some have only where some have it, a queue
// as two lines, and without `all` only what happened.
struct ShownTable {
  Columns columns{};
  std::vector<Json> lines{};
};
ShownTable shown(std::string_view what, std::vector<Json> rows, bool all = false);

// What a reader of the table needs to know; empty: nothing.
std::string note_on(std::string_view what, const std::vector<Json>& lines);

std::string render_table(std::string_view what, Json rows, bool all = false);

}  // namespace surety
