// SPDX-License-Identifier: BSD-3-Clause
// The tables of `surety show` for people, in human units; "-" marks missing values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "router/operate/observe/reading_json.h"
#include "router/operate/observe/show_columns.h"

namespace surety {

// `surety show signalling`: signals sent, signals received, and their effects.

// The rows of table `signalling` (reading_json.h) as paragraphs, one for each kind; results with count 0 only
// with `all`.
std::string render_signalling(const Json& rows, bool all);

// The columns of one of kTables or kOwnTables; none for `signalling`, which is rendered as paragraphs.
Columns columns_of(std::string_view what);

// The lines of a table, from the rows of a router: optional columns appear only if a row has their member, a
// queue has two lines, and without `all` lines without any count are left out.
struct ShownTable {
  Columns columns{};
  std::vector<Json> lines{};
};
ShownTable shown(std::string_view what, std::vector<Json> rows, bool all = false);

// A note for readers of the table; empty: none.
std::string note_on(std::string_view what, const std::vector<Json>& lines);

std::string render_table(std::string_view what, Json rows, bool all = false);

}  // namespace surety
