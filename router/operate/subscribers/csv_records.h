// SPDX-License-Identifier: BSD-3-Clause
// The records of a CSV text (RFC 4180), by libcsv: lines end with LF or CR LF, a byte order mark and empty
// lines are left out, and so are spaces around fields without quotes.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace surety {

// The reason, one sentence, begins with the line where there is one.
struct BadList : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CsvRecord {
  std::size_t line = 0;  // line on which it begins
  std::vector<std::string> fields;
};

// Throws BadList for a quoted field that does not end, or that text follows.
std::vector<CsvRecord> csv_records(std::string_view text);

// The lines without their ends, LF or CR LF.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace surety
